"""Tries, as Partitions.db and Rows.db hold them: nodes, and how one looks for what is stored under a string of bytes.

    node         u8 type << 4 | flags, transitions and distances as below, a payload if the flags are not 0
     0           PAYLOAD_ONLY: nothing more
     1           SINGLE_NOPAYLOAD_4: the flags are the distance; u8 transition
     2, 4        SINGLE_8, _16: u8 transition, distance
     3           SINGLE_NOPAYLOAD_12: the flags and a u8 are the distance; u8 transition
     5 to 9      SPARSE_8, _12, _16, _24, _40: u8 count, transitions, distances
    10 to 15     DENSE_12, _16, _24, _32, _40, LONG_DENSE: u8 first transition, u8 count - 1, distances; 0: no child

A transition is a byte of the string that leads to the child; they ascend. A distance says how far before its node a
child starts; those of 12 bits are packed. No node, with its payload, reaches over a multiple of 4096 bytes.

Source: org.apache.cassandra.io.tries.TrieNode, Walker.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import compress, pairwise
from typing import Generic, NamedTuple, TypeVar

from flightsrv.kernels.tries import DISTANCE_BITS
from flightsrv.sstable.cursor import Cursor

MAX_PATH_BYTES = 1 << 18
"""The longest string in a trie: keys and clusterings have 64 KiB at most, and their forms twice that and some."""

T = TypeVar("T")


class NodeType(IntEnum):
    """The high half of a node's first byte."""

    PAYLOAD_ONLY = 0
    SINGLE_NOPAYLOAD_4 = 1
    SINGLE_8 = 2
    SINGLE_NOPAYLOAD_12 = 3
    SINGLE_16 = 4
    SPARSE_8 = 5
    SPARSE_12 = 6
    SPARSE_16 = 7
    SPARSE_24 = 8
    SPARSE_40 = 9
    DENSE_12 = 10
    DENSE_16 = 11
    DENSE_24 = 12
    DENSE_32 = 13
    DENSE_40 = 14
    LONG_DENSE = 15


@dataclass(frozen=True, slots=True)
class Node:
    """One node, without its payload."""

    offset: int
    transitions: bytes
    """Ascending."""
    distances: tuple[int, ...]
    """How far before this node the child of each transition starts."""
    payload_flags: int
    """0: it has no payload."""

    def child(self, i: int) -> int:
        """The offset of the child of a transition."""
        return self.offset - self.distances[i]


def node(cursor: Cursor) -> Node:
    """Read a node; the cursor is then at its payload.

    Raises CorruptSSTableError when it has neither children nor a payload, transitions do not ascend, or a distance does
    not lead to a place before it.
    """
    offset = cursor.offset
    kind, flags = cursor.halves("type, flags", NodeType)
    if kind == NodeType.PAYLOAD_ONLY:
        cursor.require(flags > 0, "type, flags", "the node has neither children nor a payload")
        return Node(offset, b"", (), flags)
    if kind < NodeType.SPARSE_8:
        transitions, distances, flags = _single(cursor, kind, flags)
    elif kind < NodeType.DENSE_12:
        transitions, distances = _sparse(cursor, kind)
    else:
        transitions, distances = _dense(cursor, kind)
    least, most = min(distances), max(distances)
    cursor.require(
        least > 0 and most <= offset, "distances", f"{least} or {most} bytes before offset {offset} there is no child"
    )
    return Node(offset, transitions, distances, flags)


def _single(cursor: Cursor, kind: NodeType, low: int) -> tuple[bytes, tuple[int, ...], int]:
    """Transitions, distances and flags of a node with one child. low: the low half of its first byte."""
    if kind == NodeType.SINGLE_NOPAYLOAD_4:
        return cursor.raw("transition", 1), (low,), 0
    if kind == NodeType.SINGLE_NOPAYLOAD_12:
        distance = low << 8 | cursor.u8("distance, low bits")
        return cursor.raw("transition", 1), (distance,), 0
    return cursor.raw("transition", 1), cursor.packed("distance", DISTANCE_BITS[kind], 1), low


def _sparse(cursor: Cursor, kind: NodeType) -> tuple[bytes, tuple[int, ...]]:
    count = cursor.u8("count")
    cursor.require(count > 0, "count", "the node has no children")
    transitions = cursor.raw("transitions", count)
    ascend = all(a < b for a, b in pairwise(transitions))
    cursor.require(ascend, "transitions", f"0x{transitions.hex()} do not ascend")
    return transitions, cursor.packed("distances", DISTANCE_BITS[kind], count)


def _dense(cursor: Cursor, kind: NodeType) -> tuple[bytes, tuple[int, ...]]:
    first = cursor.u8("first transition")
    count = cursor.u8("count - 1") + 1
    cursor.require(first + count <= 256, "count - 1", f"{count} transitions from {first} on go beyond 255")
    distances = cursor.packed("distances", DISTANCE_BITS[kind], count)
    cursor.require(distances[0] > 0 and distances[-1] > 0, "distances", "the first or the last leads nowhere")
    span = range(first, first + count)
    return bytes(compress(span, distances)), tuple(filter(None, distances))


@dataclass(frozen=True, slots=True)
class Trie(Generic[T]):
    """A trie in a file, read node by node as far as is needed. Its methods raise CorruptSSTableError."""

    cursor_at: Callable[[int], Cursor]
    """A cursor at an offset in the file, over no fewer bytes behind it than a node may have."""
    root: int
    """The offset of the node that has the empty string."""
    payload: Callable[[Cursor, int], T]
    """Reads a payload by its flags."""

    def find(self, form: bytes) -> T | None:
        """What is stored under a string, or under a beginning of it that no other string in the trie begins with.

        Where strings are stored up to what tells them apart, as in Partitions.db, it may be that of another string.
        """
        offset = self.root
        for depth in range(len(form) + 1):
            found, payload = self._read(offset)
            child = found.transitions.find(form[depth : depth + 1]) if depth < len(form) else -1
            if child < 0:
                return None if found.transitions and depth < len(form) else payload
            offset = found.child(child)
        return None

    def descending(self, form: bytes) -> Iterator[tuple[bytes, T]]:
        """Strings that are not above `form`, and what is stored under them, from the greatest down.

        A string that is stored up to what tells it apart counts as not above if it is so as far as it is stored.
        """
        way: list[_Way[T]] = []
        transition, offset = b"", self.root
        for depth in range(len(form) + 1):
            found, payload = self._read(offset)
            below = bisect_left(found.transitions, form[depth]) if depth < len(form) else 0
            way.append(_Way(found, transition, payload, below))
            transition = form[depth : depth + 1]
            if not transition or found.transitions[below : below + 1] != transition:
                break
            offset = found.child(below)
        yield from self._down(way)

    def last(self) -> T:
        """What is stored under the greatest string."""
        found, payload = self._read(self.root)
        return next(self._down([_Way(found, b"", payload, len(found.transitions))]))[1]

    def _down(self, way: list[_Way[T]]) -> Iterator[tuple[bytes, T]]:
        """All that is not above the nodes on a way, from the greatest down."""
        while way:
            here = way.pop()
            if here.below:
                way.append(here._replace(below=here.below - 1))
                found, payload = self._read(here.node.child(here.below - 1), depth=len(way))
                transition = here.node.transitions[here.below - 1 : here.below]
                way.append(_Way(found, transition, payload, len(found.transitions)))
            elif here.payload is not None:
                yield b"".join(each.transition for each in (*way, here)), here.payload

    def _read(self, offset: int, depth: int = 0) -> tuple[Node, T | None]:
        cursor = self.cursor_at(offset)
        found = node(cursor)
        cursor.require(depth < MAX_PATH_BYTES, "node", f"it is below {depth} others")
        return found, self.payload(cursor, found.payload_flags) if found.payload_flags else None


class _Way(NamedTuple, Generic[T]):
    """A node on the way down."""

    node: Node
    transition: bytes
    """What leads to it; nothing to the root."""
    payload: T | None
    below: int
    """How many of its children, the first ones, are still to be looked at."""
