"""Row indexes of Rows.db: the stretches (index blocks) that they cut wide partitions into.

    entry := u16 key size, key, uvint position, svint root, uvint block count, deletion; its trie is before it

Source: org.apache.cassandra.io.sstable.format.bti.TrieIndexEntry, RowIndexReader.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of
from flightsrv.kernels.partitions import NOTHING, TO_FIND
from flightsrv.kernels.prefixes import deletion_at
from flightsrv.kernels.status import CORRUPT, DONE, OUTPUT_FULL
from flightsrv.kernels.trie_payloads import block_at
from flightsrv.kernels.tries import DEPTH, STEPS, walk
from flightsrv.kernels.vint import be16_at, uvint_at


class RowTries(NamedTuple):
    """The tries of entries that have one: int64 (n,) each."""

    floor: np.ndarray[Any, Any]
    """No node of it lies before."""
    root: np.ndarray[Any, Any]
    block_count: np.ndarray[Any, Any]


@kernel
def _head(data, at, stop, entries, i, tries):
    """Read the entry at data[at] into place i. Returns the index behind it, -1 if it makes no sense."""
    if at + 2 > stop:
        return np.int64(-1)
    size = be16_at(data, at)
    key = at + 2
    if size >= stop - key:
        return np.int64(-1)
    position, after = uvint_at(data, key + size)
    if after >= stop:
        return np.int64(-1)
    zigzag, after = uvint_at(data, after)
    if after >= stop:
        return np.int64(-1)
    count, after = uvint_at(data, after)
    if after >= stop:
        return np.int64(-1)
    root = key + size + ((zigzag >> 1) ^ -(zigzag & 1))
    if position < 0 or root < 0 or root >= at or count <= 0 or count > at:
        return np.int64(-1)
    after, us, s = deletion_at(data, after, stop, np.int64(1))
    entries.key_at[i], entries.key_size[i] = address_of(data) + key, size
    entries.position[i] = position
    entries.deletion_us[i], entries.deletion_s[i] = us, s
    entries.row_index_size[i] = after - at
    tries.root[i], tries.block_count[i] = root, count
    return np.int64(after)


@kernel
def row_entries(data, stop, first, entries, tries):
    """Read the entries of Rows.db at entries.row_index_at, from `first` on, where that is not below 0.

    data: uint8 (n,), stop + SLACK <= n. Returns (status, entry): CORRUPT with one that makes no sense.
    """
    for i in range(first, entries.offset.size):
        at = entries.row_index_at[i]
        if at >= 0 and (at >= stop or _head(data, at, stop, entries, i, tries) < 0):
            return CORRUPT, np.int64(i)
    return DONE, np.int64(entries.offset.size)


@kernel
def _boundaries(data, entries, i, nodes, first, stop, boundaries):
    """The boundaries of entry i, from nodes first..stop. Returns whether they make sense."""
    at, position = entries.row_index_at[i], entries.position[i]
    for k in range(first, stop):
        after, start, us, s = block_at(data, nodes.payload[k], nodes.flags[k], at)
        if after < 0:
            return False
        if k == first:
            entries.header_length[i] = start
        boundaries.entry_offset[k] = at
        boundaries.partition[k] = position
        boundaries.position[k] = position + start
        boundaries.first_kind[k] = TO_FIND if k + 1 < stop else NOTHING
        boundaries.last_kind[k] = TO_FIND if k > first else NOTHING
        boundaries.open_us[k], boundaries.open_s[k] = us, s
        boundaries.separator_at[k] = address_of(nodes.paths) + nodes.path_start[k]
        boundaries.separator_size[k] = nodes.path_size[k]
        boundaries.wrong[k] = 0
    return True


@kernel
def row_trie_boundaries(data, first, entries, tries, branch, nodes, boundaries, made, used):
    """Take apart the tries of entries from `first` on, where row_index_size is not 0, behind `made` boundaries.

    data: uint8 (n,), of which row_entries made the entries and tries. nodes: as many as boundaries, which have room for
    block_count + 1 of each entry, and one more; `used` bytes of its paths are taken. Returns (status, entry, made,
    used): OUTPUT_FULL when there is no room for the entry's paths; CORRUPT with the entry, whose trie is damaged, has
    another number of blocks, or a block whose payload makes no sense.
    """
    limit = np.int64(branch.node.size)
    for i in range(first, entries.offset.size):
        if entries.row_index_size[i] > 0:
            root, at = tries.root[i], entries.row_index_at[i]
            if root < tries.floor[i]:
                return CORRUPT, np.int64(i), made, used
            branch.numbers[DEPTH], branch.numbers[STEPS] = 0, 0
            status, _, stop, after = walk(data, root, tries.floor[i], at, np.int64(0), limit, branch, nodes, made, used)
            found = stop - made
            if status == OUTPUT_FULL and found <= tries.block_count[i] + 1:
                return OUTPUT_FULL, np.int64(i), made, used
            if status != DONE or found != tries.block_count[i] + 1:
                return CORRUPT, np.int64(i), made, used
            if not _boundaries(data, entries, i, nodes, made, stop, boundaries):
                return CORRUPT, np.int64(i), made, used
            made, used = stop, after
    return DONE, np.int64(entries.offset.size), made, used
