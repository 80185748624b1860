"""Rows.db of the `bti` format: where blocks of rows start in wide partitions; empty when there are none.

For each such partition, in order:

    nodes        sstable/trie.py; a block is under a string that is above the forms of all clusterings of the block
                 before, but not above that of its own first; the first block under the empty string. One more, above
                 all rows, is for the partition's end
    payload      a signed integer of flags & 7 bytes: from the partition's start to the block's, or to the end marker;
                 flags & 8: the deletion time of the range that is open there
    sbytes       key; what Partitions.db points at
    uvint        position of the partition in Data.db
    svint        offset of the trie's root, from behind the key on
    uvint        block count
    deletion time of the partition

Source: org.apache.cassandra.io.sstable.format.bti.TrieIndexEntry, RowIndexReader, RowIndexWriter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flightsrv.kernels.trie_payloads import HAS_OPEN_DELETION
from flightsrv.sstable import deletion_time
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.deletion_time import DeletionTime
from flightsrv.sstable.trie import Trie
from flightsrv.sstable.version import Version

MAX_ENTRY_BYTES = 2 + 65_535 + 9 + 9 + 9 + 12


@dataclass(frozen=True, slots=True)
class RowIndexEntry:
    """One partition (Cassandra: TrieIndexEntry)."""

    key: bytes
    position: int
    """Where it starts in the uncompressed Data.db."""
    root: int
    """The offset of its trie's root."""
    block_count: int
    deletion: DeletionTime | None
    """The partition's."""


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block of rows starts, or the partition ends (Cassandra: RowIndexReader.IndexInfo)."""

    start: int
    """Bytes from the partition's start."""
    open_deletion: DeletionTime | None
    """Of the range that is open there."""


def entry(cursor: Cursor, version: Version) -> RowIndexEntry:
    """Read an entry. Raises CorruptSSTableError when its trie is not before it."""
    offset = cursor.offset
    key = cursor.sbytes("key")
    behind_key = cursor.offset
    position = cursor.uvint("position")
    cursor.require(position < 2**63, "position", f"{position} is no position")
    root = behind_key + cursor.svint("root")
    cursor.require(0 <= root < offset, "root", f"{root} is not an offset before the entry")
    block_count = cursor.uvint("block count")
    cursor.require(0 < block_count <= offset, "block count", f"{block_count} blocks do not fit in {offset} bytes")
    with cursor.section("deletion"):
        deletion = deletion_time.parse(cursor, version)
    return RowIndexEntry(key, position, root, block_count, deletion)


def block_reader(version: Version) -> Callable[[Cursor, int], Block]:
    """What reads a payload by its flags."""

    def block(cursor: Cursor, flags: int) -> Block:
        start = cursor.sized("start", flags & HAS_OPEN_DELETION - 1)
        cursor.require(start >= 0 and flags != HAS_OPEN_DELETION, "start", f"{start} is before the partition")
        open_deletion = None
        if flags & HAS_OPEN_DELETION:
            with cursor.section("open_deletion"):
                open_deletion = deletion_time.parse(cursor, version)
        return Block(start, open_deletion)

    return block


def trie(cursor_at: Callable[[int], Cursor], root: int, version: Version) -> Trie[Block]:
    """The blocks of one partition, to look for clusterings by their byte-comparable forms. cursor_at: see Trie."""
    return Trie(cursor_at, root, block_reader(version))
