"""Tries of BTI's index files, walked in order. sstable/trie.py has the layout of their nodes.

A child lies before its parent, so a walk that follows no pointer but backwards ends; and since no two nodes share
bytes, it is over when it has done as many steps as there are bytes, whatever the file says.

Source: org.apache.cassandra.io.tries.TrieNode, Walker, ValueIterator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.status import CORRUPT, DONE, OUTPUT_FULL
from flightsrv.kernels.vint import be16_at, byte_at

PAYLOAD_ONLY, SINGLE_NOPAYLOAD_4, SINGLE_8, SINGLE_NOPAYLOAD_12, SINGLE_16, SPARSE_8 = range(6)
DENSE_12 = 10
DISTANCE_BITS = (0, 4, 8, 12, 16, 8, 12, 16, 24, 40, 12, 16, 24, 32, 40, 64)
"""Of a pointer, by the node's type."""

_DAMAGED = -1

# What a walk carries from call to call in Branch.numbers. STEPS: what it has looked at, in bytes that it took at least.
DEPTH, STEPS, BRANCH_NUMBERS = range(3)
_ARRIVED = -1


class Branch(NamedTuple):
    """Where a walk is: the nodes from the root down, (depth,) each."""

    node: np.ndarray[Any, Any]
    """int64: where each starts in the data."""
    slot: np.ndarray[Any, Any]
    """int64: the pointer to follow next; _ARRIVED when the node was not looked at yet."""
    transition: np.ndarray[Any, Any]
    """uint8: the byte that leads to each; the root's means nothing."""
    numbers: np.ndarray[Any, Any]
    """int64 (BRANCH_NUMBERS,); all 0 before a walk begins."""


class Nodes(NamedTuple):
    """What a walk found, in its order: int64 (n,) each, but for `paths`."""

    node: np.ndarray[Any, Any]
    """Where it starts in the data."""
    flags: np.ndarray[Any, Any]
    """Of its payload; 0 if it has none."""
    payload: np.ndarray[Any, Any]
    """Where its payload starts."""
    path_start: np.ndarray[Any, Any]
    """Where in `paths` the bytes are that lead to it, or the last ones of them."""
    path_size: np.ndarray[Any, Any]
    paths: np.ndarray[Any, Any]
    """uint8 (m,)."""


@kernel
def _shape(data, at, stop):
    """Of the node at data[at], at < stop: how many pointers it has, or _DAMAGED if it does not end before `stop`; where
    its transitions are (of a dense one: the first one); where its pointers are; its payload's flags; where it ends."""
    kind = byte_at(data, at) >> 4
    flags = byte_at(data, at) & 15
    bits = np.int64(DISTANCE_BITS[kind])
    slots = np.int64(1)
    if kind == PAYLOAD_ONLY:
        slots, transitions, pointers = np.int64(0), at + 1, at + 1
    elif kind == SINGLE_NOPAYLOAD_4 or kind == SINGLE_NOPAYLOAD_12:  # the distance is in the first bytes
        flags = np.int64(0)
        transitions, pointers = at + (bits + 4) // 8, at
        bits += 12
    elif kind < SPARSE_8:
        transitions, pointers = at + 1, at + 2
    elif kind < DENSE_12:
        slots = byte_at(data, at + 1)
        transitions, pointers = at + 2, at + 2 + slots
    else:
        slots = byte_at(data, at + 2) + 1
        transitions, pointers = at + 1, at + 3
        if byte_at(data, transitions) + slots > 256:
            slots = np.int64(_DAMAGED)
    end = pointers + (slots * bits + 7) // 8
    if end > stop or (slots == 0 and (kind != PAYLOAD_ONLY or flags == 0)):
        slots = np.int64(_DAMAGED)
    return slots, transitions, pointers, flags, end


@kernel
def _distance(data, kind, pointers, slot):
    """How far before its node the child of a pointer starts; in a dense one 0 if there is none."""
    bits = np.int64(DISTANCE_BITS[kind])
    if bits == 12:
        word = be16_at(data, pointers + (12 * slot >> 3))
        return word & 0xFFF if slot & 1 or kind == SINGLE_NOPAYLOAD_12 else word >> 4
    if bits == 4:
        return byte_at(data, pointers) & 15
    size = bits >> 3
    distance = np.int64(0)
    for i in range(size):
        distance = (distance << 8) | byte_at(data, pointers + size * slot + i)
    return distance


@kernel
def _is_ordered(data, node, slots, transitions, pointers):
    """Whether a sparse node's transitions ascend, and a dense one's first and last pointer lead somewhere."""
    kind = byte_at(data, node) >> 4
    if kind >= DENSE_12:
        first, last = _distance(data, kind, pointers, np.int64(0)), _distance(data, kind, pointers, slots - 1)
        return first != 0 and last != 0
    for i in range(1, slots):
        if byte_at(data, transitions + i - 1) >= byte_at(data, transitions + i):
            return False
    return True


@kernel
def _show(nodes, made, used, node, flags, payload, branch, depth, path_limit):
    """Add a node. Returns the bytes of paths used, or _DAMAGED when they are full."""
    size = min(depth - 1, path_limit)
    if size > nodes.paths.size - used:
        return np.int64(_DAMAGED)
    nodes.node[made], nodes.flags[made], nodes.payload[made] = node, flags, payload
    nodes.path_start[made], nodes.path_size[made] = used, size
    for i in range(size):
        nodes.paths[used + i] = branch.transition[depth - size + i]
    return used + size


@kernel
def _next_child(data, node, floor, slots, pointers, slot):
    """The first pointer from `slot` on that leads somewhere. Returns (the slot behind it; its distance: 0 if there is
    none, _DAMAGED if it does not lead to a place between `floor` and the node)."""
    kind = byte_at(data, node) >> 4
    while slot < slots:
        distance = _distance(data, kind, pointers, slot)
        slot += 1
        if distance < 0 or distance > node - floor or (distance == 0 and kind < DENSE_12):
            return slot, np.int64(_DAMAGED)
        if distance > 0:
            return slot, distance
    return slot, np.int64(0)


@kernel
def walk(data, root, floor, stop, every_node, path_limit, branch, nodes, made, used):
    """Go through the trie whose root starts at data[root]; none of it lies before data[floor] or from data[stop] on.

    data: uint8 (n,), floor <= root < stop, stop + SLACK <= n. every_node: 0 for those with a payload only. path_limit:
    how many of the last bytes of a path are wanted. made, used: how much of `nodes` and of its paths is taken already.
    Nodes come before their children, and these by their transitions. Returns (status, stopped_at, made, used):
    OUTPUT_FULL; CORRUPT with the node that does not fit in its place, whose pointers do not lead to before it, or that
    is below more nodes than `branch` has room for.
    """
    depth, steps = branch.numbers[DEPTH], branch.numbers[STEPS]
    status = np.int64(DONE)
    node = np.int64(root)
    if steps == 0:
        branch.node[0], branch.slot[0] = root, _ARRIVED
        depth = np.int64(1)
    while depth > 0 and status == DONE:
        node = branch.node[depth - 1]
        slots, transitions, pointers, flags, end = _shape(data, node, stop)
        if branch.slot[depth - 1] == _ARRIVED:
            if slots < 0 or steps + slots >= stop - floor or not _is_ordered(data, node, slots, transitions, pointers):
                status = np.int64(CORRUPT)
                continue
            if every_node or flags != 0:
                after = np.int64(_DAMAGED)
                if made < nodes.node.size:
                    after = _show(nodes, made, used, node, flags, end, branch, depth, path_limit)
                if after < 0:
                    status = np.int64(OUTPUT_FULL)
                    continue
                made += 1
                used = after
            steps += 1 + slots
            branch.slot[depth - 1] = 0
        slot, distance = _next_child(data, node, floor, slots, pointers, branch.slot[depth - 1])
        if distance == 0:
            depth -= 1
        elif distance < 0 or depth == branch.node.size:
            status = np.int64(CORRUPT)
        else:
            branch.slot[depth - 1] = slot
            branch.node[depth], branch.slot[depth] = node - distance, _ARRIVED
            is_dense = byte_at(data, node) >> 4 >= DENSE_12
            first = byte_at(data, transitions)
            branch.transition[depth] = first + slot - 1 if is_dense else byte_at(data, transitions + slot - 1)
            depth += 1
    branch.numbers[DEPTH], branch.numbers[STEPS] = depth, steps
    return status, node, made, used
