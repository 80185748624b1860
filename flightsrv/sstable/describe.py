"""Annotated dumps: every field of a component with its place, its bytes, its name and its value.

The lines are traces of the parsers that serve reads, so a dump shows what a read sees. When a component is damaged, its
dump ends with the last field that could be read, and then the error is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath

from flightsrv.errors import SSTableError, UnsupportedSSTableError, Where
from flightsrv.sstable import (
    bloom,
    compression_info,
    crc,
    data_walk,
    digest,
    index,
    statistics,
    summary,
    toc,
    trie_fields,
)
from flightsrv.sstable.cursor import Cursor, Line
from flightsrv.sstable.descriptor import parse_name
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.version import Version, version_of


def describe(
    path: str, data: bytes, header: SerializationHeader | None = None, partitions: bytes | None = None
) -> Iterator[Line]:
    """The fields of a component that is not Data.db, by its file name.

    header: from the SSTable's Statistics.db; without it promoted indexes in Index.db are not taken apart. partitions:
    the SSTable's Partitions.db, which tells where in Rows.db its entries are. Raises UnsupportedSSTableError for other
    files and unknown versions, and for a Rows.db without a Partitions.db; and what the component's parser raises.
    """
    name = parse_name(PurePath(path).name)
    if name is None:
        raise UnsupportedSSTableError("it does not have the name of an SSTable's file", Where(path))
    version = version_of(name.format, name.letters, path)
    trace: list[Line] = []
    cursor = Cursor(data, path, trace=trace)
    match name.component:
        case "Index.db":
            types = header.clustering_types if header else None
            return _lines(trace, index.entries(cursor, version, types))
        case "Summary.db":
            return _lines(trace, _summary_with_entries(cursor, trace))
        case "Partitions.db":
            return _lines(trace, trie_fields.partition_index(cursor, data, path))
        case "Rows.db":
            return _lines(trace, trie_fields.row_index(cursor, data, path, version, _entries(path, data, partitions)))
        case component if component in _PARSERS:
            return _lines(trace, map(_PARSERS[component], [cursor], [version]))
    raise UnsupportedSSTableError(f"{name.component} is not a component that can be described", Where(path))


def _entries(path: str, data: bytes, partitions: bytes | None) -> Iterator[int]:
    """Where the entries of a Rows.db are."""
    if not data:
        return iter(())
    if partitions is None:
        raise UnsupportedSSTableError("without its Partitions.db nobody can tell where its entries are", Where(path))
    return trie_fields.row_index_offsets(partitions, path.removesuffix("Rows.db") + "Partitions.db")


def describe_data(data: bytes, header: SerializationHeader, version: Version, path: str) -> Iterator[Line]:
    """The fields of an uncompressed Data.db; the lines' `offset` is a position in it.

    Raises CorruptSSTableError, after the lines of all that can be read, where the data are not what the header says.
    """
    trace: list[Line] = []
    cursor = Cursor(data, path, uncompressed=True, trace=trace)
    return _lines(trace, data_walk.walk(cursor, version, header))


_PARSERS: dict[str, Callable[[Cursor, Version], object]] = {
    "CompressionInfo.db": compression_info.parse,
    "CRC.db": lambda cursor, _: crc.parse(cursor),
    "Digest.crc32": lambda cursor, _: digest.parse(cursor),
    "Filter.db": bloom.parse,
    "Statistics.db": statistics.parse,
    "TOC.txt": lambda cursor, _: toc.parse(cursor),
}


def _lines(trace: list[Line], steps: Iterable[object]) -> Iterator[Line]:
    """What is traced, step by step."""
    try:
        for _ in steps:
            yield from _taken(trace)
    except SSTableError:
        yield from _taken(trace)
        raise
    yield from _taken(trace)


def _taken(trace: list[Line]) -> list[Line]:
    """The lines so far, in the order of the file: checksums are read ahead of what they are over."""
    lines = sorted(trace, key=lambda line: line.offset)
    trace.clear()
    return lines


def _summary_with_entries(cursor: Cursor, trace: list[Line]) -> Iterator[None]:
    """Summary.db in one step; its entries, which are parsed all at once, line by line."""
    parsed = summary.parse(cursor)
    start = trace.pop([line.field for line in trace].index("entries")).offset
    for i, (first, stop) in enumerate(pairwise(parsed.bounds.tolist())):
        position = stop - summary.POSITION_SIZE
        trace.append(Line(start + first, position - first, f"entry {i}.key", parsed.key(i)))
        trace.append(Line(start + position, stop - position, f"entry {i}.index offset", int(parsed.index_offsets[i])))
    yield
