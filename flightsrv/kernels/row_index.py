"""Row indexes of Index.db: the stretches (index blocks) that they cut wide partitions into.

    promoted index := uvint header length, deletion, uvint block count, blocks, i32 of each: where it starts
    block          := first prefix, last prefix, uvint start, svint width - 65536, u8 has open deletion, [deletion]

Source: org.apache.cassandra.io.sstable.format.big.RowIndexEntry, io.sstable.IndexInfo.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of
from flightsrv.kernels.partitions import GAP, NOTHING
from flightsrv.kernels.prefixes import deletion_at, prefix_end
from flightsrv.kernels.run import UNSIGNED_DELETION_TIME
from flightsrv.kernels.status import CORRUPT, DONE
from flightsrv.kernels.vint import be32_at, byte_at, uvint_at
from flightsrv.slab import NO_DELETION_TIME, NO_TIMESTAMP

_WIDTH_BASE = 65536
_LEAST_BLOCK_BYTES = 9


@kernel
def _row_index_head(data, at, stop, is_unsigned):
    """(The index behind the block count or below 0; header length; deletion µs; s; block count)."""
    header_length, at = uvint_at(data, at)
    at, us, s = deletion_at(data, at, stop, is_unsigned)
    if at < 0 or at >= stop:
        return -1, header_length, us, s, np.int64(0)
    count, at = uvint_at(data, at)
    if header_length < 0 or count <= 0 or count > (stop - at) // _LEAST_BLOCK_BYTES:
        return -1, header_length, us, s, np.int64(0)
    return at, header_length, us, s, count


@kernel
def count_boundaries(data, entries, header):
    """How many boundaries all row indexes of the entries have, those that make no sense left out.

    data: uint8, entries: Entries of it.
    """
    made = 0
    for i in range(entries.offset.size):
        if entries.row_index_size[i] > 0:
            at = entries.row_index_at[i]
            stop = at + entries.row_index_size[i]
            at, _, _, _, count = _row_index_head(data, at, stop, header.numbers[UNSIGNED_DELETION_TIME])
            made += count + 1 if at >= 0 else 0
    return made


@kernel
def _block(data, at, table, header, boundaries, i):
    """A block from boundary i to boundary i + 1. Returns (the index behind it, or -1; its start; its width)."""
    base = address_of(data)
    first = at
    last = prefix_end(data, first, table, header.clustering_size)
    if last < 0:
        return -1, 0, 0
    at = prefix_end(data, last, table, header.clustering_size)
    if at < 0 or at >= table:
        return -1, 0, 0
    boundaries.first_kind[i], boundaries.last_kind[i + 1] = byte_at(data, first), byte_at(data, last)
    boundaries.first_at[i], boundaries.first_size[i] = base + first + 1, last - first - 1
    boundaries.last_at[i + 1], boundaries.last_size[i + 1] = base + last + 1, at - last - 1
    start, at = uvint_at(data, at)
    if at >= table:
        return -1, 0, 0
    zigzag, at = uvint_at(data, at)
    width = ((zigzag >> 1) ^ -(zigzag & 1)) + _WIDTH_BASE
    if at >= table or start < 0 or width <= 0:
        return -1, 0, 0
    has_open = byte_at(data, at)
    at += 1
    us, s = np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if has_open == 1:
        at, us, s = deletion_at(data, at, table, header.numbers[UNSIGNED_DELETION_TIME])
    boundaries.open_us[i + 1], boundaries.open_s[i + 1] = us, s
    return (at if has_open <= 1 and at <= table else -1), start, width


@kernel
def _row_index(data, entries, entry, header, boundaries, made):
    """The boundaries of one entry's row index, behind `made` others. Returns how many there are, -1 if damaged."""
    at = entries.row_index_at[entry]
    stop = at + entries.row_index_size[entry]
    at, header_length, us, s, count = _row_index_head(data, at, stop, header.numbers[UNSIGNED_DELETION_TIME])
    if at < 0:
        return -1
    entries.header_length[entry] = header_length
    entries.deletion_us[entry] = us
    entries.deletion_s[entry] = s
    position = entries.position[entry]
    table = stop - 4 * count
    blocks = at
    expected = header_length
    boundaries.last_kind[made] = NOTHING
    boundaries.open_us[made], boundaries.open_s[made] = NO_TIMESTAMP, NO_DELETION_TIME
    for i in range(made, made + count + 1):
        boundaries.entry_offset[i] = entries.offset[entry]
        boundaries.partition[i] = position
    for i in range(count):
        if be32_at(data, table + 4 * i) != at - blocks:
            return -1
        at, start, width = _block(data, at, table, header, boundaries, made + i)
        if at < 0:
            return -1
        boundaries.position[made + i] = position + start
        boundaries.wrong[made + i] = 0 if start == expected else GAP
        expected = start + width
    boundaries.position[made + count] = position + expected
    boundaries.first_kind[made + count] = NOTHING
    boundaries.wrong[made + count] = 0
    return count + 1 if at == table else -1


@kernel
def row_index_boundaries(data, entries, first, header, boundaries, made):
    """Take apart the row indexes of entries from `first` on into `boundaries`, behind `made` that are there.

    data: uint8 (n,), entries: Entries of it; boundaries: room for all that count_boundaries says. Their GAP is set
    where a block does not start where the one before it ends, or the first not at the header length. Returns (status,
    entry, boundaries made): CORRUPT with the entry whose row index makes no sense.
    """
    for entry in range(first, entries.offset.size):
        if entries.row_index_size[entry] > 0:
            count = _row_index(data, entries, entry, header, boundaries, made)
            if count < 0:
                return CORRUPT, entry, made
            made += count
    return DONE, entries.offset.size, made
