"""The loops that turn rows into Data.db and Index.db, and compress.

Everything is written at addresses (see flightsrv.kernels.native); the caller has made room beforehand. All times are
positive, so a vint never has to carry a negative number, and a local deletion time is its timestamp in seconds.

Kernels of the corpus that call each other share a file: Numba's cache does not notice an edited callee in another.

Sources: org.apache.cassandra.db.rows.UnfilteredSerializer, db.rows.Cell, db.DeletionTime, utils.vint.VIntCoding,
io.sstable.format.big.BigFormatPartitionWriter, io.compress.CompressedSequentialWriter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy, load_le64, load_u8, store_8

ABSENT, LIVE, DELETED, EXPIRING = 0, 1, 2, 3
"""State of a cell, and (without DELETED) of a row's liveness."""
NOT_DELETED = -(2**63)
"""deleted_us of what is not deleted: Cassandra's own value."""
EXCL_END, INCL_START, END_START, ROW, END_START_AFTER, INCL_END, EXCL_START = 0, 1, 2, 4, 5, 6, 7
"""ClusteringPrefix.Kind as it is stored; kind of an unfiltered."""
INDEX_BLOCK_BYTES = 65536
"""column_index_size: a partition of at least two such blocks gets a promoted index."""
CHUNK_BYTES = 16384
STORED_CHUNK_BYTES = CHUNK_BYTES + CHUNK_BYTES // 255 + 16 + 8
"""The most that an LZ4 chunk with its length and its checksum can take."""

_lz4_compress: Any = types.ExternalFunction(
    "LZ4_compress_default", types.int32(types.int64, types.int64, types.int32, types.int32)
)
_crc32: Any = types.ExternalFunction("crc32_gzip_refl", types.uint32(types.uint32, types.int64, types.uint64))


class Partitions(NamedTuple):
    """Partitions in token order; arrays of one element a partition, or one more."""

    keys: np.ndarray
    """uint8: the keys back to back."""
    key_starts: np.ndarray
    """int64 (n + 1,)"""
    first: np.ndarray
    """int64 (n + 1,): where its unfiltereds start."""
    deleted_us: np.ndarray
    """int64 (n,): timestamp of the partition deletion, or NOT_DELETED."""


class Unfiltereds(NamedTuple):
    """Rows and range tombstone markers in the order of the table; arrays of one element each."""

    kind: np.ndarray
    """uint8: ROW, or the kind of a bound or boundary."""
    clustering: np.ndarray
    """int64: the clustering column's value, 8 bytes; not used where a table has none."""
    written_us: np.ndarray
    """int64: timestamp of liveness and of all cells."""
    liveness: np.ndarray
    """uint8: ABSENT, LIVE or EXPIRING."""
    ttl_s: np.ndarray
    """int64: time to live of whatever is EXPIRING."""
    deleted_us: np.ndarray
    """int64: row deletion, or the deletion of a bound (of a boundary: the one that ends); or NOT_DELETED."""
    opened_us: np.ndarray
    """int64: the deletion that a boundary starts."""
    cells: np.ndarray
    """uint8 (n, columns): state of each cell."""


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
    """Values of the regular columns, as stored (big-endian); addresses of int64 arrays of one element a column."""

    size: int
    data: int
    """Addresses of the values, back to back."""
    width: int
    """Bytes of a value, or 0 where they differ."""
    starts: int
    """Addresses of int64 (n + 1,) starts of the values, where width is 0."""


class Bases(NamedTuple):
    """What the serialization header subtracts, and how partition deletions look."""

    timestamp_us: int
    local_deletion_time_s: int
    ttl_s: int
    clustered: bool
    unsigned_deletion_times: bool
    """oa: a partition deletion is one byte when there is none."""


class Blocks(NamedTuple):
    """Blocks of promoted indexes, in order; arrays of one element a block."""

    partition: np.ndarray
    first: np.ndarray
    last: np.ndarray
    """int64: the first and last unfiltered in it."""
    offset: np.ndarray
    width: np.ndarray
    open_us: np.ndarray
    """int64: range deletion open at the block's end, or NOT_DELETED."""


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
def put_cell(at, state, row, value, size, width, bases):
    """Store a cell that is there. value, size: place of its value, which has a size of its own where width is 0."""
    flags = 0x01 | 0x04 if state == DELETED else 0x02 if state == EXPIRING else 0
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
    if width == 0:
        at = put_vint(at, size)
    copy(at, value, size)
    return at + size


@kernel
def put_row_body(at, i, row, columns, bases):
    """Store what follows a row's size and previous size; returns (address behind it, whether all columns are there)."""
    if row.liveness != ABSENT:
        at = put_vint(at, row.written_us - bases.timestamp_us)
    if row.liveness == EXPIRING:
        at = put_vint(at, row.ttl_s - bases.ttl_s)
        at = put_vint(at, row.written_us // 1_000_000 + row.ttl_s - bases.local_deletion_time_s)
    if row.deleted_us != NOT_DELETED:
        at = put_deletion(at, row.deleted_us, bases)
    missing = 0
    for c in range(columns.size):
        if load_u8(row.cells + c) == ABSENT:
            missing |= 1 << c
    if missing != 0:
        at = put_vint(at, missing)
    for c in range(columns.size):
        state = load_u8(row.cells + c)
        if state != ABSENT:
            data, width = load_le64(columns.data + 8 * c), load_le64(columns.width + 8 * c)
            place, size = width * i, width
            if width == 0:
                starts = load_le64(columns.starts + 8 * c) + 8 * i
                place = load_le64(starts)
                size = load_le64(starts + 8) - place
            at = put_cell(at, state, row, data + place, size, width, bases)
    return at, missing == 0


@kernel
def put_row(at, i, previous, row, columns, bases, scratch):
    """Store row `i`, whose predecessor starts `previous` bytes before it."""
    body = put_vint(scratch, previous)
    body, complete = put_row_body(body, i, row, columns, bases)
    flags = 0x20 if complete else 0
    if row.liveness != ABSENT:
        flags |= 0x0C if row.liveness == EXPIRING else 0x04
    if row.deleted_us != NOT_DELETED:
        flags |= 0x10
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

    values: int64 (3, columns), see Columns; scratch, out: uint8 with room, as rows.py reckons it. Made here: places,
    int64 (n + 1,), where each partition starts in out; headers, int64 (n,), bytes before its first unfiltered; blocks.
    """
    base = address_of(out)
    at = base + start
    room = address_of(scratch)
    count = values.shape[1]
    columns = Columns(count, address_of(values), address_of(values) + 8 * count, address_of(values) + 16 * count)
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


# --- files --------------------------------------------------------------------------------------------------------


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


@kernel
def compress(data, size, out, stops):
    """Cut data[:size] into chunks, each stored as length, LZ4 block, CRC32. stops: int64 (chunks,) made here."""
    at = address_of(out)
    for chunk in range(stops.size):
        source = address_of(data) + chunk * CHUNK_BYTES
        length = min(CHUNK_BYTES, size - chunk * CHUNK_BYTES)
        for i in range(4):
            store_8(at + i, length >> (8 * i))
        stored = 4 + np.int64(_lz4_compress(source, at + 4, np.int32(length), np.int32(STORED_CHUNK_BYTES - 8)))
        crc = np.int64(_crc32(np.uint32(0), at, np.uint64(stored)))
        at = put_be(at + stored, crc, 4)
        stops[chunk] = at - address_of(out)
