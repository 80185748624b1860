"""The loops that turn rows into Data.db and Index.db.

Everything is written at addresses (see flightsrv.kernels.native); the caller has made room beforehand. All times are
positive, so a vint never has to carry a negative number, and a local deletion time is its timestamp in seconds.

Kernels of the corpus that call each other share a file: Numba's cache does not notice an edited callee, or constant, in
another.

Sources: org.apache.cassandra.db.rows.UnfilteredSerializer, db.rows.Cell, db.DeletionTime, utils.vint.VIntCoding,
io.sstable.format.big.BigFormatPartitionWriter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpus.unfiltereds import (
    ABSENT,
    DELETED,
    END_START,
    END_START_AFTER,
    EXCL_START,
    EXPIRING,
    INCL_START,
    NOT_DELETED,
    ROW,
)
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy, load_le64, load_u8, store_8

INDEX_BLOCK_BYTES = 65536
"""column_index_size: a partition of at least two such blocks gets a promoted index."""


# Fields of a column. FIRST is 0 for a simple one; else the address of int64 (n + 1,), where each row's elements start.
# From VALUES on stands where values (of rows or elements) are, from PATHS on where the paths of elements are, each as
# three numbers: address of the bytes, big-endian and back to back; bytes of each, or 0 where they differ; address of
# int64 starts, where they do.
FIRST, VALUES, _, _, PATHS, _, _ = range(7)
COLUMN_FIELDS = 7


class Row(NamedTuple):
    """One element of Unfiltereds, in numbers: arrays in a tuple would be counted as used at every call."""

    kind: np.int64
    clustering: int
    written_us: int
    liveness: np.int64
    ttl_s: int
    deleted_us: int
    opened_us: int
    cells: int
    """Address of the states of its cells."""


class Columns(NamedTuple):
    """What the regular columns hold: see the fields of a column above."""

    size: int
    at: int
    """Address of int64 (size, COLUMN_FIELDS)."""


# --- rows ---------------------------------------------------------------------------------------------------------


@kernel
def put_be(at, value, size):
    """Store the low `size` bytes, big-endian; returns the address behind them."""
    for i in range(size):
        store_8(at + i, value >> (8 * (size - 1 - i)))
    return at + size


@kernel
def put_vint(at, value):
    """Store an unsigned vint, 0 ≤ value; returns the address behind it."""
    if value < 128:
        store_8(at, value)
        return at + 1
    extra = 1
    while extra < 8 and value >> (7 * extra + 7) != 0:
        extra += 1
    if extra == 8:
        store_8(at, 0xFF)
    else:
        store_8(at, ((0xFF00 >> extra) & 0xFF) | (value >> (8 * extra)))
    return put_be(at + 1, value, extra)


@kernel
def put_partition_deletion(at, deleted_us, unsigned_deletion_times):
    """Store a deletion as partitions and index entries hold it."""
    if unsigned_deletion_times:
        if deleted_us == NOT_DELETED:
            store_8(at, 0x80)
            return at + 1
        return put_be(put_be(at, deleted_us, 8), deleted_us // 1_000_000, 4)
    second = 0x7FFFFFFF if deleted_us == NOT_DELETED else deleted_us // 1_000_000
    return put_be(put_be(at, second, 4), deleted_us, 8)


@kernel
def put_deletion(at, deleted_us, bases):
    """Store a deletion as rows and markers hold it."""
    at = put_vint(at, deleted_us - bases.timestamp_us)
    return put_vint(at, deleted_us // 1_000_000 - bases.local_deletion_time_s)


@kernel
def put_sized(at, value, size):
    """Store bytes behind their size."""
    at = put_vint(at, size)
    copy(at, value, size)
    return at + size


@kernel
def put_cell_head(at, state, row, is_empty, bases):
    """Store flags and times of a cell that is there."""
    flags = 0x04 if is_empty else 0
    if state == DELETED:
        flags |= 0x01
    elif state == EXPIRING:
        flags |= 0x02
    if row.liveness != ABSENT:
        flags |= 0x08
    row_ttl = state == EXPIRING and row.liveness == EXPIRING
    if row_ttl:
        flags |= 0x10
    store_8(at, flags)
    at += 1
    if row.liveness == ABSENT:
        at = put_vint(at, row.written_us - bases.timestamp_us)
    second = row.written_us // 1_000_000
    if state == DELETED:
        return put_vint(at, second - bases.local_deletion_time_s)
    if state == EXPIRING and not row_ttl:
        at = put_vint(at, second + row.ttl_s - bases.local_deletion_time_s)
        at = put_vint(at, row.ttl_s - bases.ttl_s)
    return at


@kernel
def place_of(values, i):
    """Where value `i` is: (address, size). values: address of three numbers, see VALUES."""
    data, width = load_le64(values), load_le64(values + 8)
    if width != 0:
        return data + width * i, width
    starts = load_le64(values + 16) + 8 * i
    start = load_le64(starts)
    return data + start, load_le64(starts + 8) - start


@kernel
def put_cell(at, i, state, row, column, bases):
    """Store the cell of a simple column. A value has a size of its own where its column's width is 0."""
    value, size = place_of(column + 8 * VALUES, i)
    at = put_cell_head(at, state, row, state == DELETED or size == 0, bases)
    if state == DELETED or size == 0:
        return at
    if load_le64(column + 8 * (VALUES + 1)) == 0:
        return put_sized(at, value, size)
    copy(at, value, size)
    return at + size


@kernel
def put_elements(at, i, state, row, column, bases):
    """Store a complex column as an INSERT does: what is 1 µs older is deleted, then come its elements. DELETED is but a
    deletion.
    """
    first = load_le64(column + 8 * FIRST) + 8 * i
    start, stop = load_le64(first), load_le64(first + 8)
    if state == DELETED:
        stop = start
    at = put_deletion(at, row.written_us if state == DELETED else row.written_us - 1, bases)
    at = put_vint(at, stop - start)
    for element in range(start, stop):
        path, path_size = place_of(column + 8 * PATHS, element)
        value, size = place_of(column + 8 * VALUES, element)
        at = put_cell_head(at, state, row, size == 0, bases)
        at = put_sized(at, path, path_size)
        if size != 0:
            at = put_sized(at, value, size)
    return at


@kernel
def put_subset(at, row, columns):
    """Store which columns are there, unless all are. Returns (address behind it, whether all are).

    Source: org.apache.cassandra.db.Columns.Serializer.
    """
    absent, bitmap = 0, 0
    for c in range(columns.size):
        if load_u8(row.cells + c) == ABSENT:
            absent += 1
            bitmap |= 1 << (c & 63)
    if absent == 0:
        return at, True
    if columns.size < 64:
        return put_vint(at, bitmap), False
    at = put_vint(at, absent)
    lists_absent = columns.size - absent >= columns.size // 2
    for c in range(columns.size):
        if (load_u8(row.cells + c) == ABSENT) == lists_absent:
            at = put_vint(at, c)
    return at, False


@kernel
def put_row_body(at, i, row, columns, bases):
    """Store what follows a row's size and previous size. Returns (address behind it, flags for what is there)."""
    flags = 0
    if row.liveness != ABSENT:
        flags |= 0x04
        at = put_vint(at, row.written_us - bases.timestamp_us)
    if row.liveness == EXPIRING:
        flags |= 0x08
        at = put_vint(at, row.ttl_s - bases.ttl_s)
        at = put_vint(at, row.written_us // 1_000_000 + row.ttl_s - bases.local_deletion_time_s)
    if row.deleted_us != NOT_DELETED:
        flags |= 0x10
        at = put_deletion(at, row.deleted_us, bases)
    at, complete = put_subset(at, row, columns)
    if complete:
        flags |= 0x20
    for c in range(columns.size):
        state = load_u8(row.cells + c)
        column = columns.at + 8 * COLUMN_FIELDS * c
        if state != ABSENT and load_le64(column + 8 * FIRST) == 0:
            at = put_cell(at, i, state, row, column, bases)
        elif state != ABSENT:
            flags |= 0x40
            at = put_elements(at, i, state, row, column, bases)
    return at, flags


@kernel
def put_row(at, i, previous, row, columns, bases, scratch):
    """Store row `i`, whose predecessor starts `previous` bytes before it."""
    body = put_vint(scratch, previous)
    body, flags = put_row_body(body, i, row, columns, bases)
    store_8(at, flags)
    at += 1
    if bases.clustered:
        store_8(at, 0)
        at = put_be(at + 1, row.clustering, 8)
    at = put_vint(at, body - scratch)
    copy(at, scratch, body - scratch)
    return at + (body - scratch)


@kernel
def put_marker(at, previous, marker, bases, scratch):
    """Store a range tombstone marker on the one clustering column."""
    body = put_deletion(put_vint(scratch, previous), marker.deleted_us, bases)
    if marker.kind == END_START or marker.kind == END_START_AFTER:
        body = put_deletion(body, marker.opened_us, bases)
    at = put_be(at, 0x02_00_0001_00 | marker.kind << 24, 5)
    at = put_be(at, marker.clustering, 8)
    at = put_vint(at, body - scratch)
    copy(at, scratch, body - scratch)
    return at + (body - scratch)


@kernel
def open_deletion(marker):
    """The range deletion that a marker leaves open, or NOT_DELETED."""
    if marker.kind == INCL_START or marker.kind == EXCL_START:
        return marker.deleted_us
    if marker.kind == END_START or marker.kind == END_START_AFTER:
        return marker.opened_us
    return NOT_DELETED


@kernel
def put_block(blocks, b, partition, first, last, offset, width, open_us):
    """Note a block of a promoted index."""
    blocks.partition[b] = partition
    blocks.first[b] = first
    blocks.last[b] = last
    blocks.offset[b] = offset
    blocks.width[b] = width
    blocks.open_us[b] = open_us


@kernel
def serialise(partitions, rows, values, bases, scratch, out, start, places, headers, blocks):
    """Partitions as Data.db holds them, into out[start:]; returns how many index blocks there are.

    values: int64 (columns, COLUMN_FIELDS); scratch, out: uint8 with room, as rows.py reckons it. Made here: places,
    int64 (n + 1,), where each partition starts in out; headers, int64 (n,), bytes before its first unfiltered; blocks.
    """
    base = address_of(out)
    at = base + start
    room = address_of(scratch)
    columns = Columns(values.shape[0], address_of(values))
    block_count = 0
    for p in range(partitions.first.size - 1):
        partition = at
        places[p] = at - base
        size = partitions.key_starts[p + 1] - partitions.key_starts[p]
        at = put_be(at, size, 2)
        copy(at, address_of(partitions.keys) + partitions.key_starts[p], size)
        at = put_partition_deletion(at + size, partitions.deleted_us[p], bases.unsigned_deletion_times)
        headers[p] = at - partition
        first_block = block_count
        block, block_first = at, partitions.first[p]
        last, open_us = partition, NOT_DELETED
        stop = partitions.first[p + 1]
        for i in range(partitions.first[p], stop):
            unfiltered = at
            row = Row(
                np.int64(rows.kind[i]),
                rows.clustering[i],
                rows.written_us[i],
                np.int64(rows.liveness[i]),
                rows.ttl_s[i],
                rows.deleted_us[i],
                rows.opened_us[i],
                address_of(rows.cells) + columns.size * i,
            )
            if row.kind == ROW:
                at = put_row(at, i, at - last, row, columns, bases, room)
            else:
                at = put_marker(at, at - last, row, bases, room)
                open_us = open_deletion(row)
            last = unfiltered
            if at - block >= INDEX_BLOCK_BYTES:
                put_block(blocks, block_count, p, block_first, i, block - partition, at - block, open_us)
                block_count += 1
                block, block_first = at, i + 1
        store_8(at, 1)
        at += 1
        if block_count > first_block and block_first < stop:
            put_block(blocks, block_count, p, block_first, stop - 1, block - partition, at - block, open_us)
            block_count += 1
        if block_count == first_block + 1:
            block_count = first_block
    places[partitions.first.size - 1] = at - base
    return block_count


# --- Index.db -----------------------------------------------------------------------------------------------------


@kernel
def index_entries(partitions, positions, out, starts):
    """Index.db entries without promoted index. positions: int64 (n,) in Data.db; starts: int64 (n + 1,) made here."""
    at = address_of(out)
    for p in range(positions.size):
        starts[p] = at - address_of(out)
        size = partitions.key_starts[p + 1] - partitions.key_starts[p]
        at = put_be(at, size, 2)
        copy(at, address_of(partitions.keys) + partitions.key_starts[p], size)
        at = put_vint(put_vint(at + size, positions[p]), 0)
    starts[positions.size] = at - address_of(out)
