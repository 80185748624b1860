"""Rows and range tombstone markers of Data.db.

    row        := flags [extended] clustering size prev [timestamp] [ttl expiry] [deletion] [subset] cells
    marker     := 0x02 kind count values size prev deletion [deletion]

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, db.ClusteringPrefix, db.ClusteringBoundOrBoundary.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.cells import MAX_TTL_S, MAX_VALUE_BYTES, cells_at, deletion_time_of, expiry_of, subset_at
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of
from flightsrv.kernels.run import (
    F_BOUND_SIZE,
    F_CLUSTERING_LENGTH,
    F_EXTENDED,
    F_KIND,
    F_SIZE,
    F_STATIC,
    F_SUBSET,
    F_TTL,
    FACTS,
    FIELD,
    MIN_TIMESTAMP_US,
    MIN_TTL_S,
    SKIPPING,
    STATIC_COLUMNS,
)
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT
from flightsrv.kernels.vint import be16_at, byte_at, uvint_at
from flightsrv.slab import (
    ABSENT,
    CLUSTERING,
    DELETION_S,
    DELETION_US,
    EXCL_END_INCL_START_BOUNDARY,
    EXCL_START_BOUND,
    HAS_CELLS,
    HAS_DELETIONS,
    HAS_EMPTY_ROWS,
    HAS_EXPIRING,
    HAS_SHADOWABLE,
    HAS_STATICS,
    INCL_END_EXCL_START_BOUNDARY,
    KIND,
    LIVENESS_EXPIRES_S,
    LIVENESS_TTL_S,
    LIVENESS_US,
    NO_DELETION_TIME,
    NO_TIMESTAMP,
    NOT_IN_BOUND,
    SHADOWABLE,
    STATIC_CLUSTERING,
)

END_OF_PARTITION, IS_MARKER, _HAS_TIMESTAMP, _HAS_TTL, _HAS_DELETION = 1, 2, 4, 8, 16
_HAS_ALL_COLUMNS, _HAS_COMPLEX_DELETION, _EXTENSION = 32, 64, 128
_IS_STATIC, _HAS_SHADOWABLE_DELETION = 1, 2

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
            if ttl_s < 0 or ttl_s > MAX_TTL_S or at >= end:
                return -1, F_TTL
            delta, at = uvint_at(data, at)
            expires_s = expiry_of(delta, ttl_s, header.numbers)
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
            slab.rows[row, DELETION_S] = deletion_time_of(delta, header.numbers)
            slab.rows[row, SHADOWABLE] = 1 if extended & _HAS_SHADOWABLE_DELETION else 0
        facts |= HAS_DELETIONS | HAS_SHADOWABLE if extended & _HAS_SHADOWABLE_DELETION else HAS_DELETIONS
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
def read_marker(data, at, stop, header, state, row, slab):
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
        slab.rows[row, DELETION_S if field == DELETION_US else LIVENESS_EXPIRES_S] = deletion_time_of(
            delta, header.numbers
        )
    if at != end:
        return CORRUPT, at
    state[FACTS] |= HAS_DELETIONS
    return DONE, at


@kernel
def read_row(data, at, stop, flags, header, state, row, slab):
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
def read_static_row(data, at, stop, header, state, row, slab):
    """The static row at the head of a partition. Returns (status, next index)."""
    if at + 3 > stop:
        return NEED_INPUT, at
    flags = byte_at(data, at)
    state[FIELD] = F_STATIC
    if flags & (END_OF_PARTITION | IS_MARKER) or not flags & _EXTENSION or byte_at(data, at + 1) != _IS_STATIC:
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
    at, facts = _row_body(
        data, at, end, flags, np.int64(0), header, np.int64(0), header.numbers[STATIC_COLUMNS], row, slab
    )
    if at < 0:
        state[FIELD] = facts
        return CORRUPT, end
    slab.rows[row, KIND] = STATIC_CLUSTERING
    state[FACTS] |= facts | HAS_STATICS
    return DONE, at
