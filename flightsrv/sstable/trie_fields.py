"""Partitions.db and Rows.db field by field: for eyes, not for speed.

Nodes come in the order of the file, children before their parents; each is named by the bytes that lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array
from flightsrv.sstable import partitions, rows
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.trie import node
from flightsrv.sstable.trie_walk import walk_nodes
from flightsrv.sstable.version import Version

_PATH_BYTES_SHOWN = 16


def partition_index(cursor: Cursor, content: bytes, path: str) -> Iterator[None]:
    """Read a Partitions.db to its end; stop after each node. content: the whole file, which the cursor is over.

    Raises CorruptSSTableError as the parsers do.
    """
    size = len(content)
    try:
        footer = partitions.footer(Cursor(content, path), size)
    except CorruptSSTableError:
        partitions.footer(cursor, size)
        raise
    yield from _nodes(cursor, _padded(content), path, footer.root, footer.keys_offset, partitions.target)
    partitions.keys(cursor, footer, size)
    partitions.footer(cursor, size)
    yield


def row_index(cursor: Cursor, content: bytes, path: str, version: Version, offsets: Iterator[int]) -> Iterator[None]:
    """Read a Rows.db to its end; stop after each node. offsets: of its entries, as Partitions.db has them."""
    data = _padded(content)
    for number, offset in enumerate(offsets):
        entry = rows.entry(_at(Cursor(content, path), offset), version)
        with cursor.section(f"partition {number}"):
            yield from _nodes(cursor, data, path, entry.root, offset, rows.block_reader(version))
            rows.entry(cursor, version)
        yield
    cursor.end()


def row_index_offsets(content: bytes, path: str) -> Iterator[int]:
    """Where in Rows.db its entries are, by the content of Partitions.db."""
    footer = partitions.footer(Cursor(content, path), len(content))
    for targets in partitions.walk(_padded(content), footer, path):
        yield from targets.target[targets.target >= 0].tolist()


def _nodes(
    cursor: Cursor, data: Array, path: str, root: int, stop: int, payload: Callable[[Cursor, int], object]
) -> Iterator[None]:
    """Read the nodes of a trie from the cursor's offset up to `stop`, and what is between them."""
    offsets, names, damage = _named(data, path, root, cursor.offset, stop)
    for offset, name in zip(offsets, names, strict=True):
        _skip(cursor, offset)
        with cursor.section(name):
            flags = node(cursor).payload_flags
            if flags:
                payload(cursor, flags)
        yield
    if damage is not None:
        raise damage
    _skip(cursor, stop)


def _named(
    data: Array, path: str, root: int, floor: int, stop: int
) -> tuple[list[int], list[str], CorruptSSTableError | None]:
    """Offsets of a trie's nodes, ascending, and their names; and what is wrong if these are not all of them."""
    found: list[tuple[int, str]] = []
    damage = None
    try:
        for nodes in walk_nodes(data, path, root, floor, stop, every_node=True, path_limit=_PATH_BYTES_SHOWN + 1):
            places = zip(nodes.node.tolist(), nodes.path_start.tolist(), nodes.path_size.tolist(), strict=True)
            found += [(offset, _name(nodes.paths[start : start + size].tobytes())) for offset, start, size in places]
    except CorruptSSTableError as error:
        damage = error
    found.sort()
    return [offset for offset, _ in found], [name for _, name in found], damage


def _name(path: bytes) -> str:
    if not path:
        return "root"
    more = "…" if len(path) > _PATH_BYTES_SHOWN else ""
    return f"node {more}{path[-_PATH_BYTES_SHOWN:].hex()}"


def _skip(cursor: Cursor, offset: int) -> None:
    """Read what is before an offset."""
    if cursor.offset != offset:
        cursor.raw("padding", offset - cursor.offset)


def _at(cursor: Cursor, offset: int) -> Cursor:
    cursor.seek(offset, "target")
    return cursor


def _padded(content: bytes) -> Array:
    return np.concatenate((np.frombuffer(content, np.uint8), np.zeros(SLACK, np.uint8)))
