"""Index.db of the `big` format: where each partition starts, and for wide ones where blocks of its rows do.

    entry    sbytes key, uvint position, uvint size of the promoted index (0: there is none), promoted index
    promoted index
             uvint header length: from the partition's start to its first row or marker
             deletion time of the partition
             uvint block count, then blocks, then i32 offset of each block from the first one
    block    prefix of its first row or marker, prefix of its last one
             uvint start: from the partition's start to the block's
             svint width - 65536: bytes of the block
             bool, and if true the deletion time of the range that is open at the block's end

Positions are in the uncompressed Data.db.

Source: org.apache.cassandra.io.sstable.format.big.RowIndexEntry, io.sstable.IndexInfo (3.0 to 5.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.kernels.index_entries import index_entries
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT
from flightsrv.sstable import clustering, deletion_time
from flightsrv.sstable.clustering import Prefix
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.deletion_time import DeletionTime
from flightsrv.sstable.version import Version

_WIDTH_BASE = 65_536
_ENTRIES_A_CALL = 65_536


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a partition's rows and markers."""

    first: Prefix
    last: Prefix
    start: int
    """Bytes from the partition's start."""
    width: int
    """Bytes of the block; the partition's end marker may be within the last one."""
    open_deletion: DeletionTime | None
    """Of the range that is open at the block's end."""


@dataclass(frozen=True, slots=True)
class PromotedIndex:
    """The row index of one partition."""

    header_length: int
    """Bytes from the partition's start to its first row or marker."""
    deletion: DeletionTime | None
    """The partition's."""
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One partition."""

    key: bytes
    position: int
    """Where it starts in the uncompressed Data.db."""
    promoted: PromotedIndex | None


def entries(cursor: Cursor, version: Version, clustering_types: Sequence[str] | None) -> Iterator[Entry]:
    """Read entries to the end.

    clustering_types: marshal strings, from the serialization header; without them promoted indexes are stepped over.
    Raises CorruptSSTableError when positions do not ascend or a promoted index is not as large as it says.
    """
    sizes = None if clustering_types is None else clustering.fixed_sizes(cursor, "clustering types", clustering_types)
    previous = -1
    while cursor.left:
        key = cursor.sbytes("key")
        cursor.require(bool(key) or previous < 0, "key", "it is empty, and not the first")
        position = cursor.uvint("position")
        cursor.require(previous < position < 2**63, "position", f"{position} comes after {previous}")
        size = cursor.uvint("promoted size")
        promoted = None
        if size and sizes is None:
            cursor.raw("promoted", size)
        elif size and sizes is not None:
            promoted = _promoted_index(cursor, version, sizes, size)
        yield Entry(key, position, promoted)
        previous = position


def _promoted_index(cursor: Cursor, version: Version, sizes: Sequence[int], size: int) -> PromotedIndex:
    with cursor.section("promoted", size):
        header_length = cursor.uvint("header_length")
        with cursor.section("deletion"):
            deletion = deletion_time.parse(cursor, version)
        count = cursor.count("block count", "uvint", at_least=9)
        first_offset = cursor.offset
        blocks, offsets = [], []
        for i in count:
            offsets.append(cursor.offset - first_offset)
            with cursor.section(f"block {i}"):
                blocks.append(_block(cursor, version, sizes))
        stored = cursor.array("block offsets", ">i4", len(count))
        cursor.require(stored.tolist() == offsets, "block offsets", f"they are {stored.tolist()}, not {offsets}")
        cursor.end()
    return PromotedIndex(header_length, deletion, tuple(blocks))


def _block(cursor: Cursor, version: Version, sizes: Sequence[int]) -> Block:
    with cursor.section("first"):
        first = clustering.prefix(cursor, sizes)
    with cursor.section("last"):
        last = clustering.prefix(cursor, sizes)
    start = cursor.uvint("start")
    width = cursor.svint("width - 65536") + _WIDTH_BASE
    cursor.require(width > 0, "width - 65536", f"the width is {width}")
    open_deletion = None
    if cursor.bool("has_open_deletion"):
        with cursor.section("open_deletion"):
            open_deletion = deletion_time.parse(cursor, version)
    return Block(first, last, start, width, open_deletion)


@dataclass(frozen=True, slots=True, eq=False)
class IndexEntries:
    """Entries of Index.db as columns, int64 (n,) each."""

    key_start: npt.NDArray[np.int64]
    """Index of each key's first byte in the data that was walked."""
    key_size: npt.NDArray[np.int64]
    data_position: npt.NDArray[np.int64]
    """Where each partition starts in the uncompressed Data.db."""
    promoted_size: npt.NDArray[np.int64]
    """Bytes of each promoted index; 0 where there is none."""


def walk(data: npt.NDArray[np.uint8], size: int, path: str) -> IndexEntries:
    """Find all entries of a whole Index.db, without looking into promoted indexes.

    data: uint8, the file's `size` bytes and at least kernels.vint.SLACK more. Raises CorruptSSTableError when positions
    do not ascend or the last entry is cut off.
    """
    parts = []
    at, previous, status = 0, -1, DONE
    while True:
        columns = np.empty((4, min(_ENTRIES_A_CALL, 1 + size // 5)), np.int64)
        status, at, made = index_entries(data, at, size, previous, columns[0], columns[1], columns[2], columns[3])
        parts.append(columns[:, :made])
        if made:
            previous = int(columns[2, made - 1])
        if status == CORRUPT:
            raise CorruptSSTableError(f"not an entry, or not one that comes after position {previous}", Where(path, at))
        if status == NEED_INPUT:
            raise CorruptSSTableError(f"the entry does not end within the file's {size} bytes", Where(path, at))
        if status == DONE:
            return IndexEntries(*np.concatenate(parts, axis=1))
