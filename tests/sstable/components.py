"""The component files of the fixtures, and the parser of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from flightsrv.sstable import bloom, compression_info, crc, digest, index, statistics, summary, toc, trie_fields
from flightsrv.sstable.cursor import Cursor, Line
from flightsrv.sstable.describe import describe
from flightsrv.sstable.descriptor import Descriptor, parse_name
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.version import Version, version_of
from tests.reference.chunks import uncompressed
from tests.reference.fixtures import COLLECTION, COPIED

NOT_TO_BE_READ = ("corrupt", "other-versions")
"""Folders whose files are damaged, or are of versions that are refused."""


@dataclass(frozen=True)
class SSTable:
    """The files of one SSTable."""

    data_file: Path

    @cached_property
    def descriptor(self) -> Descriptor:
        name = parse_name(self.data_file.name)
        assert name is not None
        version = version_of(name.format, name.letters, str(self.data_file))
        return Descriptor(str(self.data_file.parent), version, name.id)

    @property
    def version(self) -> Version:
        return self.descriptor.version

    def file(self, component: str) -> Path:
        return Path(self.descriptor.path(component))

    def cursor(self, component: str, trace: list[Line] | None = None) -> Cursor:
        return Cursor(self.file(component).read_bytes(), str(self.file(component)), trace=trace)

    def parse(self, component: str) -> Any:
        """What the component's parser makes of the file."""
        return PARSERS[component](self.cursor(component), self)

    @cached_property
    def header(self) -> SerializationHeader:
        return statistics.parse(self.cursor("Statistics.db"), self.version).header

    def data(self) -> bytes:
        """Uncompressed bytes of Data.db, by the reference's decompression."""
        info = self.file("CompressionInfo.db")
        stored = info.read_bytes() if info.exists() else None
        return uncompressed(self.data_file.read_bytes(), stored, self.version.letters)


def _content(cursor: Cursor) -> bytes:
    return bytes(cursor.ahead("content", cursor.left))


def _row_index_offsets(sstable: SSTable) -> Iterator[int]:
    """Where in Rows.db its entries are."""
    return trie_fields.row_index_offsets(sstable.file("Partitions.db").read_bytes(), "Partitions.db")


PARSERS: dict[str, Callable[[Cursor, SSTable], Any]] = {
    "CompressionInfo.db": lambda cursor, sstable: compression_info.parse(cursor, sstable.version),
    "CRC.db": lambda cursor, _: crc.parse(cursor),
    "Digest.crc32": lambda cursor, _: digest.parse(cursor),
    "Filter.db": lambda cursor, sstable: bloom.parse(cursor, sstable.version),
    "Partitions.db": lambda cursor, _: list(trie_fields.partition_index(cursor, _content(cursor), "Partitions.db")),
    "Rows.db": lambda cursor, sstable: list(
        trie_fields.row_index(cursor, _content(cursor), "Rows.db", sstable.version, _row_index_offsets(sstable))
    ),
    "Index.db": lambda cursor, sstable: list(index.entries(cursor, sstable.version, sstable.header.clustering_types)),
    "Statistics.db": lambda cursor, sstable: statistics.parse(cursor, sstable.version),
    "Summary.db": lambda cursor, _: summary.parse(cursor),
    "TOC.txt": lambda cursor, _: toc.parse(cursor),
}


def described(sstable: SSTable, component: str) -> Iterator[Line]:
    """The fields of a component that is not Data.db."""
    file, index = sstable.file(component), sstable.file("Partitions.db")
    partitions = index.read_bytes() if index.exists() else None
    return describe(str(file), file.read_bytes(), sstable.header, partitions)


def copied(path: str) -> SSTable:
    """An SSTable of tests/data/sstables, by its Data.db."""
    return SSTable(COPIED / path)


def _folders(root: Path) -> list[Path]:
    """The folders of SSTables that can be read."""
    folders = {data_file.parent for data_file in root.rglob("*-Data.db")}
    return sorted(folder for folder in folders if folder.relative_to(root).parts[0] not in NOT_TO_BE_READ)


def _complete(folder: Path) -> list[SSTable]:
    """The SSTables of a folder; those that a node had not finished lack Statistics.db."""
    sstables = [SSTable(data_file) for data_file in sorted(folder.glob("*-Data.db"))]
    return [sstable for sstable in sstables if sstable.file("Statistics.db").exists()]


COPIED_SSTABLES = [sstable for folder in _folders(COPIED) for sstable in _complete(folder)]


def every_sstable() -> list[Any]:
    """pytest parameters, one a folder of SSTables: those copied, then, with the mark `shared`, all there are."""
    here = [pytest.param(_complete(folder), id=folder.relative_to(COPIED).as_posix()) for folder in _folders(COPIED)]
    if not COLLECTION.exists():
        skip = pytest.mark.skip(reason=f"the whole collection is not at {COLLECTION}")
        return [*here, pytest.param(None, id="whole-collection", marks=[pytest.mark.shared, skip])]
    return here + [
        pytest.param(_complete(folder), id=f"all/{folder.relative_to(COLLECTION)}", marks=pytest.mark.shared)
        for folder in _folders(COLLECTION)
    ]
