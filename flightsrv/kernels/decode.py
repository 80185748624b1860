"""Data.db's bytes to a slab: partitions, rows and markers.

    partition  := key (u16 length) deletion [static row] unfiltered* 0x01
    row        := flags [extended] clustering size prev [timestamp] [ttl expiry] [deletion] [subset] cells
    marker     := 0x02 kind count values size prev deletion [deletion]

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, db.ClusteringPrefix, db.ClusteringBoundOrBoundary,
db.DeletionTime, io.sstable.format.SortedTablePartitionWriter.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.cells import (
    F_BOUND_SIZE,
    F_CLUSTERING_LENGTH,
    F_EXTENDED,
    F_FLAGS,
    F_KEY_LENGTH,
    F_KIND,
    F_ORDER,
    F_PARTITION_DELETION,
    F_SIZE,
    F_STATIC,
    F_SUBSET,
    F_TTL,
    HAS_TOKENS,
    MAX_VALUE_BYTES,
    MIN_TIMESTAMP_US,
    MIN_TTL_S,
    STATIC_COLUMNS,
    TOKEN_AFTER,
    TOKEN_UPTO,
    UNSIGNED_DELETION_TIME,
    cells_at,
    deletion_time_of,
    expiry_of,
    subset_at,
)
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.murmur3 import token_of
from flightsrv.kernels.native import address_of
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.vint import be16_at, be32_at, be64_at, byte_at, uvint_at
from flightsrv.slab import (
    ABSENT,
    CLUSTERING,
    DELETION_S,
    DELETION_US,
    EXCL_END_INCL_START_BOUNDARY,
    EXCL_START_BOUND,
    FIRST_ROW,
    HAS_CELLS,
    HAS_DELETIONS,
    HAS_EMPTY_ROWS,
    HAS_EXPIRING,
    HAS_STATICS,
    INCL_END_EXCL_START_BOUNDARY,
    KEY_AT,
    KEY_SIZE,
    KIND,
    LIVENESS_EXPIRES_S,
    LIVENESS_TTL_S,
    LIVENESS_US,
    NO_DELETION_TIME,
    NO_TIMESTAMP,
    NOT_IN_BOUND,
    PARTITION_DELETION_S,
    PARTITION_DELETION_US,
    SHADOWABLE,
    STATIC_CLUSTERING,
    TOKEN,
)

_END_OF_PARTITION, _IS_MARKER, _HAS_TIMESTAMP, _HAS_TTL, _HAS_DELETION = 1, 2, 4, 8, 16
_HAS_ALL_COLUMNS, _HAS_COMPLEX_DELETION, _EXTENSION = 32, 64, 128
_IS_STATIC, _HAS_SHADOWABLE_DELETION = 1, 2

# State that a run carries from call to call.
IN_PARTITION, OPEN_KEY_AT, OPEN_KEY_SIZE, OPEN_TOKEN, OPEN_DELETION_US, OPEN_DELETION_S, SKIPPING = range(7)
FIELD, FACTS, ROW_COUNT, PARTITION_COUNT, STATE_FIELDS = range(7, 12)
_NEED_INPUT, _CORRUPT = -1, -2


@kernel
def _clustering_at(data, at, stop, header, count, row, slab):
    """`count` clustering values into a row. Returns the next index, _NEED_INPUT or _CORRUPT."""
    base = address_of(data)
    bits = np.int64(0)
    for i in range(count):
        if i & 31 == 0:
            if at >= stop:
                return _NEED_INPUT
            bits, at = uvint_at(data, at)
        kind = bits >> (2 * (i & 31)) & 3
        size = np.int64(0)
        if kind == 0:
            size = np.int64(header.clustering_size[i])
            if size < 0:
                if at >= stop:
                    return _NEED_INPUT
                size, at = uvint_at(data, at)
                if size < 0 or size > MAX_VALUE_BYTES:
                    return _CORRUPT
        if size > stop - at:
            return _NEED_INPUT
        slab.at[1 + i, row] = base + at
        slab.size[1 + i, row] = size if kind < 2 else ABSENT
        at += size
    for i in range(count, header.clustering_size.size):
        slab.size[1 + i, row] = NOT_IN_BOUND
    return at


@kernel
def _row_body(data, at, end, flags, extended, header, first, count, row, slab):
    """From the liveness to the last cell. Returns (next index, facts) or (-1, damaged field)."""
    min_us = header.numbers[MIN_TIMESTAMP_US]
    us = np.int64(NO_TIMESTAMP)
    ttl_s = np.int64(0)
    expires_s = np.int64(NO_DELETION_TIME)
    facts = 0
    if flags & _HAS_TIMESTAMP:
        us, at = uvint_at(data, at)
        us += min_us
        if flags & _HAS_TTL:
            if at >= end:
                return -1, F_TTL
            ttl_s, at = uvint_at(data, at)
            ttl_s += header.numbers[MIN_TTL_S]
            if ttl_s < 0 or at >= end:
                return -1, F_TTL
            delta, at = uvint_at(data, at)
            expires_s = expiry_of(delta, ttl_s, header)
            facts |= HAS_EXPIRING
    slab.rows[row, LIVENESS_US] = us
    slab.rows[row, LIVENESS_TTL_S] = ttl_s
    slab.rows[row, LIVENESS_EXPIRES_S] = expires_s
    slab.rows[row, DELETION_US] = NO_TIMESTAMP
    slab.rows[row, DELETION_S] = NO_DELETION_TIME
    slab.rows[row, SHADOWABLE] = 0
    if flags & _HAS_DELETION:
        if at >= end:
            return -1, F_SIZE
        deleted_us, at = uvint_at(data, at)
        deleted_us += min_us
        delta, at = uvint_at(data, at)
        if not extended & _HAS_SHADOWABLE_DELETION or us <= deleted_us:  # else the row's own liveness has ended it
            slab.rows[row, DELETION_US] = deleted_us
            slab.rows[row, DELETION_S] = deletion_time_of(delta, header)
            slab.rows[row, SHADOWABLE] = 1 if extended & _HAS_SHADOWABLE_DELETION else 0
        facts |= HAS_DELETIONS
    subset = not flags & _HAS_ALL_COLUMNS
    if subset:
        if at > end:
            return -1, F_SIZE
        at = subset_at(data, at, end, header, first, count)
        if at < 0:
            return -1, F_SUBSET
    at, more = cells_at(data, at, end, header, first, count, subset, flags & _HAS_COMPLEX_DELETION, row, slab)
    if at < 0:
        return at, more
    if at != end:
        return -1, F_SIZE
    return at, facts | more


@kernel
def _marker(data, at, stop, header, state, row, slab):
    """A range tombstone marker into a row, from its kind on. Returns (status, next index)."""
    state[FIELD] = F_KIND
    if at + 3 > stop:
        return NEED_INPUT, at
    kind = byte_at(data, at)
    if kind > EXCL_START_BOUND or kind == STATIC_CLUSTERING or kind == CLUSTERING:
        return CORRUPT, at
    count = be16_at(data, at + 1)
    if count > header.clustering_size.size:
        state[FIELD] = F_BOUND_SIZE
        return CORRUPT, at
    at = _clustering_at(data, at + 3, stop, header, count, row, slab)
    if at < 0:
        state[FIELD] = F_CLUSTERING_LENGTH
        return (NEED_INPUT if at == _NEED_INPUT else CORRUPT), stop
    if at >= stop:
        return NEED_INPUT, at
    size, at = uvint_at(data, at)
    state[FIELD] = F_SIZE
    if size < 0 or size > 64:
        return CORRUPT, at
    end = at + size
    if end > stop:
        return NEED_INPUT, at
    _, at = uvint_at(data, at)
    slab.rows[row, KIND] = kind
    for field in (DELETION_US, LIVENESS_US):  # what ends or starts alone; what starts at a boundary
        if field == LIVENESS_US and kind != EXCL_END_INCL_START_BOUNDARY and kind != INCL_END_EXCL_START_BOUNDARY:
            break
        if at >= end:
            return CORRUPT, at
        us, at = uvint_at(data, at)
        delta, at = uvint_at(data, at)
        slab.rows[row, field] = us + header.numbers[MIN_TIMESTAMP_US]
        slab.rows[row, DELETION_S if field == DELETION_US else LIVENESS_EXPIRES_S] = deletion_time_of(delta, header)
    if at != end:
        return CORRUPT, at
    state[FACTS] |= HAS_DELETIONS
    return DONE, at


@kernel
def _row(data, at, stop, flags, header, state, row, slab):
    """A row behind its flags byte. Returns (status, next index)."""
    extended = np.int64(0)
    if flags & _EXTENSION:
        if at >= stop:
            return NEED_INPUT, at
        extended = byte_at(data, at)
        at += 1
        if extended & ~_HAS_SHADOWABLE_DELETION:
            state[FIELD] = F_EXTENDED
            return CORRUPT, at
    clusterings = header.clustering_size.size
    if clusterings:
        at = _clustering_at(data, at, stop, header, clusterings, row, slab)
        if at < 0:
            state[FIELD] = F_CLUSTERING_LENGTH
            return (NEED_INPUT if at == _NEED_INPUT else CORRUPT), stop
    if at >= stop:
        return NEED_INPUT, at
    size, at = uvint_at(data, at)
    if size < 0:
        state[FIELD] = F_SIZE
        return CORRUPT, at
    if size > stop - at:
        return NEED_INPUT, at
    end = at + size
    if state[SKIPPING]:
        return DONE, end
    _, at = uvint_at(data, at)
    first = header.numbers[STATIC_COLUMNS]
    count = header.column_size.size - first
    at, facts = _row_body(data, at, end, flags, extended, header, first, count, row, slab)
    if at < 0:
        state[FIELD] = facts
        return CORRUPT, end
    slab.rows[row, KIND] = CLUSTERING
    if slab.rows[row, LIVENESS_US] == NO_TIMESTAMP and not slab.rows[row, HAS_CELLS]:
        facts |= HAS_EMPTY_ROWS
    state[FACTS] |= facts
    return DONE, at


@kernel
def _static_row(data, at, stop, header, state, row, slab):
    """The static row at the head of a partition. Returns (status, next index)."""
    if at + 3 > stop:
        return NEED_INPUT, at
    flags = byte_at(data, at)
    state[FIELD] = F_STATIC
    if flags & (_END_OF_PARTITION | _IS_MARKER) or not flags & _EXTENSION or byte_at(data, at + 1) != _IS_STATIC:
        return CORRUPT, at
    size, at = uvint_at(data, at + 2)
    if size < 0:
        return CORRUPT, at
    if size > stop - at:
        return NEED_INPUT, at
    end = at + size
    if state[SKIPPING]:
        return DONE, end
    _, at = uvint_at(data, at)
    at, facts = _row_body(data, at, end, flags, 0, header, 0, header.numbers[STATIC_COLUMNS], row, slab)
    if at < 0:
        state[FIELD] = facts
        return CORRUPT, end
    slab.rows[row, KIND] = STATIC_CLUSTERING
    state[FACTS] |= facts | HAS_STATICS
    return DONE, at


@kernel
def _partition(data, at, stop, header, state, row, slab):
    """A partition's key, deletion and static row (into row `row`) into the state. Returns (status, next index)."""
    if at + 3 > stop:
        return NEED_INPUT, at
    size = be16_at(data, at)
    if size == 0:
        state[FIELD] = F_KEY_LENGTH
        return CORRUPT, at
    key = at + 2
    at = key + size
    if at + 12 > stop and not (at < stop and header.numbers[UNSIGNED_DELETION_TIME] and byte_at(data, at) & 0x80):
        return NEED_INPUT, at
    deletion_us = np.int64(NO_TIMESTAMP)
    deletion_s = np.int64(NO_DELETION_TIME)
    if header.numbers[UNSIGNED_DELETION_TIME]:
        if byte_at(data, at) & 0x80:
            if byte_at(data, at) != 0x80:
                state[FIELD] = F_PARTITION_DELETION
                return CORRUPT, at
            at += 1
        else:
            deletion_us = be64_at(data, at)
            deletion_s = be32_at(data, at + 8)
            at += 12
    else:
        deletion_s = be32_at(data, at)
        deletion_us = be64_at(data, at + 4)
        at += 12
        if deletion_s >= 1 << 31:  # negative where times are signed: an overflow
            deletion_s = np.int64(4294967294)
    token = np.int64(0)
    skipping = 0
    if header.numbers[HAS_TOKENS]:
        token = np.int64(token_of(address_of(data) + key, size))
        if token < state[OPEN_TOKEN]:
            state[FIELD] = F_ORDER
            return CORRUPT, key
        skipping = 1 if token <= header.numbers[TOKEN_AFTER] else 0
        if token > header.numbers[TOKEN_UPTO]:
            return DONE, -1
    state[SKIPPING] = skipping
    if header.numbers[STATIC_COLUMNS]:
        status, at = _static_row(data, at, stop, header, state, row, slab)
        if status != DONE:
            return status, at
    state[OPEN_KEY_AT] = address_of(data) + key
    state[OPEN_KEY_SIZE] = size
    state[OPEN_TOKEN] = token
    state[OPEN_DELETION_US] = deletion_us
    state[OPEN_DELETION_S] = deletion_s
    return DONE, at


@kernel
def _record_partition(state, partition, row, slab):
    """The partition of the state, whose first row here is `row`, into the slab."""
    slab.partitions[partition, KEY_AT] = state[OPEN_KEY_AT]
    slab.partitions[partition, KEY_SIZE] = state[OPEN_KEY_SIZE]
    slab.partitions[partition, TOKEN] = state[OPEN_TOKEN]
    slab.partitions[partition, PARTITION_DELETION_US] = state[OPEN_DELETION_US]
    slab.partitions[partition, PARTITION_DELETION_S] = state[OPEN_DELETION_S]
    slab.partitions[partition, FIRST_ROW] = row
    if state[OPEN_DELETION_US] != NO_TIMESTAMP:
        state[FACTS] |= HAS_DELETIONS


@kernel
def decode(data, start, stop, header, state, slab):
    """Fill a slab from data[start:stop].

    data: uint8 (n,), stop + SLACK <= n. header: RunHeader. state: int64 (STATE_FIELDS,): zero before the first call
    but OPEN_TOKEN, the least token. slab: Slabs.of(run). Returns (status, stopped_at): NEED_INPUT at the start of the
    first partition, row or marker that is not whole; OUTPUT_FULL; DONE when a partition is past TOKEN_UPTO; CORRUPT,
    near the place, with state[FIELD]. ROW_COUNT, PARTITION_COUNT, FACTS and IN_PARTITION of the state tell what was
    made.
    """
    capacity = slab.rows.shape[0]
    at = start
    rows = 0
    partitions = 0
    state[FACTS] = 0
    status = DONE
    if state[IN_PARTITION] and not state[SKIPPING]:
        _record_partition(state, 0, 0, slab)
        partitions = 1
    while True:
        if rows >= capacity or partitions >= capacity:
            status = OUTPUT_FULL
            break
        if not state[IN_PARTITION]:
            status, after = _partition(data, at, stop, header, state, rows, slab)
            if status != DONE or after < 0:
                break
            if not state[SKIPPING]:
                _record_partition(state, partitions, rows, slab)
                partitions += 1
                rows += 1 if header.numbers[STATIC_COLUMNS] else 0
            state[IN_PARTITION] = 1
            at = after
            continue
        if at >= stop:
            status = NEED_INPUT
            break
        flags = byte_at(data, at)
        if flags & _END_OF_PARTITION:
            if flags != _END_OF_PARTITION:
                state[FIELD] = F_FLAGS
                status = CORRUPT
                break
            state[IN_PARTITION] = 0
            at += 1
            continue
        if flags & _IS_MARKER:
            state[FIELD] = F_FLAGS
            status, after = (
                (CORRUPT, at) if flags != _IS_MARKER else _marker(data, at + 1, stop, header, state, rows, slab)
            )
        else:
            status, after = _row(data, at + 1, stop, flags, header, state, rows, slab)
        if status != DONE:
            break
        if not state[SKIPPING]:
            slab.at[0, rows] = state[OPEN_KEY_AT]
            slab.size[0, rows] = state[OPEN_KEY_SIZE]
            rows += 1
        at = after
    state[ROW_COUNT] = rows
    state[PARTITION_COUNT] = partitions
    return status, at
