"""Partitions.db of the `bti` format: a trie that tells where each partition is.

    nodes        sstable/trie.py; a partition is under its key's byte-comparable form, up to the first byte that tells
                 it from those before and behind it
    payload      flags 8 and more: u8 lowest byte of the second half of the key's hash; a signed integer of flags - 7
                 bytes, or of flags bytes without a hash: the offset of the partition's entry in Rows.db, or if it is
                 below 0, with all bits inverted, the partition's position in Data.db
    sbytes       first key
    sbytes       last key
    i64          keys_offset     of the first key
    i64          key_count
    i64          root            offset of the trie's root

Source: org.apache.cassandra.io.sstable.format.bti.PartitionIndex, PartitionIndexBuilder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flightsrv.kernels.status import DONE
from flightsrv.kernels.trie_payloads import HAS_HASH, NO_HASH, partition_targets
from flightsrv.kernels.tries import Nodes
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.trie import Trie, node
from flightsrv.sstable.trie_walk import walk_nodes

FOOTER_BYTES = 24


class Target(NamedTuple):
    """Where a partition is: in Data.db, or by its entry in Rows.db."""

    hash: int
    """Lowest byte of the second half of its key's hash, or NO_HASH."""
    value: int
    """The offset of its entry in Rows.db; below 0, all bits inverted, its position in the uncompressed Data.db."""

    @property
    def position(self) -> int | None:
        """In the uncompressed Data.db; None when an entry in Rows.db tells it."""
        return ~self.value if self.value < 0 else None


@dataclass(frozen=True, slots=True)
class Footer:
    """The end of a Partitions.db."""

    keys_offset: int
    key_count: int
    root: int


def footer(cursor: Cursor, file_bytes: int) -> Footer:
    """Read the last fields. cursor: over the file's last FOOTER_BYTES at least; file_bytes: all there are."""
    cursor.seek(file_bytes - FOOTER_BYTES, "keys_offset")
    keys_offset = cursor.i64("keys_offset")
    cursor.require(
        0 < keys_offset <= file_bytes - FOOTER_BYTES - 4,
        "keys_offset",
        f"there are no keys at {keys_offset} of a file of {file_bytes} bytes",
    )
    key_count = cursor.i64("key_count")
    cursor.require(key_count > 0, "key_count", f"{key_count} is not above 0")
    root = cursor.i64("root")
    cursor.require(0 <= root < keys_offset, "root", f"{root} is not before the first key, which is at {keys_offset}")
    cursor.end()
    return Footer(keys_offset, key_count, root)


def keys(cursor: Cursor, found: Footer, file_bytes: int) -> tuple[bytes, bytes]:
    """Read the first and the last key, which must fill what is between the trie and the footer."""
    cursor.seek(found.keys_offset, "keys_offset")
    with cursor.section("", file_bytes - FOOTER_BYTES - found.keys_offset):
        first_key, last_key = cursor.sbytes("first_key"), cursor.sbytes("last_key")
        cursor.end()
    return first_key, last_key


def target(cursor: Cursor, flags: int) -> Target:
    """Read a payload."""
    key_hash = cursor.u8("hash") if flags >= HAS_HASH else NO_HASH
    size = flags - HAS_HASH + 1 if flags >= HAS_HASH else flags
    is_negative = cursor.ahead("target", size)[0] & 0x80
    return Target(key_hash, cursor.sized("inverted position" if is_negative else "rows_offset", size))


def trie(cursor_at: Callable[[int], Cursor], root: int) -> Trie[Target]:
    """The trie of a Partitions.db, to look for keys by their byte-comparable forms. cursor_at: see Trie."""
    return Trie(cursor_at, root, target)


class Targets(NamedTuple):
    """Partitions in their order, for kernels."""

    nodes: Nodes
    """The node of each, with its path, which is the beginning of its key's form."""
    hash: npt.NDArray[np.int64]
    """(n,): a byte, or NO_HASH."""
    target: npt.NDArray[np.int64]
    """(n,): the offset of its entry in Rows.db; below 0, all bits inverted, its position in Data.db."""


def walk(data: npt.NDArray[np.uint8], found: Footer, path: str) -> Iterator[Targets]:
    """All partitions in order, some at a time; each is valid until the next is asked for.

    data: the whole file, and kernels.vint.SLACK bytes more. Raises CorruptSSTableError where the trie is damaged, and
    when it has not as many partitions as the footer says.
    """
    count = 0
    for nodes in walk_nodes(data, path, found.root, 0, found.keys_offset):
        made = nodes.node.size
        key_hash, value = np.empty((2, made), np.int64)
        status, place = partition_targets(data, found.keys_offset, nodes, made, key_hash, value)
        if status != DONE:
            cursor = Cursor(data[: found.keys_offset], path, int(nodes.node[place]))
            target(cursor, node(cursor).payload_flags)
        count += made
        yield Targets(nodes, key_hash, value)
    cursor = Cursor(data, path, found.keys_offset)
    cursor.require(count == found.key_count, "key_count", f"{found.key_count} in the file, {count} in the trie")
