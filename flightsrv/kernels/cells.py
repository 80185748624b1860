"""Cells of one row, and the times they carry.

    cell := flags [timestamp] [local deletion time] [ttl] [path, complex columns only] [value]

Source: org.apache.cassandra.db.rows.Cell.Serializer, db.rows.UnfilteredSerializer, db.SerializationHeader.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of
from flightsrv.kernels.run import (
    F_CELL_FLAGS,
    F_CELL_LENGTH,
    F_COMPLEX,
    F_TTL,
    MIN_DELETION_TIME_S,
    MIN_TIMESTAMP_US,
    MIN_TTL_S,
    UNSIGNED_DELETION_TIME,
)
from flightsrv.kernels.vint import byte_at, uvint_at
from flightsrv.slab import (
    ABSENT,
    HAS_CELLS,
    HAS_DELETIONS,
    HAS_EXPIRING,
    LIVENESS_EXPIRES_S,
    LIVENESS_TTL_S,
    LIVENESS_US,
    NO_DELETION_TIME,
    NO_TIMESTAMP,
    TOMBSTONE_TTL,
)

_IS_DELETED, _IS_EXPIRING, _HAS_EMPTY_VALUE, _USE_ROW_TIMESTAMP, _USE_ROW_TTL, _ALL_FLAGS = 1, 2, 4, 8, 16, 31
MAX_VALUE_BYTES = 256 << 20
"""Cassandra's default max_value_size: a longer value is taken for corruption."""
INVALID_DELETION_TIME = 4294967294
"""What a local deletion time that overflowed becomes (Cassandra: Cell.INVALID_DELETION_TIME)."""


@kernel
def deletion_time_of(delta, header):
    """A local deletion time from its delta: unsigned from oa on, else a sum below 0 is an overflow of 2038."""
    seconds = delta + header.numbers[MIN_DELETION_TIME_S]
    if seconds < 0:
        return seconds & 0xFFFFFFFF if header.numbers[UNSIGNED_DELETION_TIME] else np.int64(INVALID_DELETION_TIME)
    return seconds


@kernel
def expiry_of(delta, ttl_s, header):
    """When a cell or a liveness with a TTL expires; one that would have been written before 1970 is invalid."""
    seconds = deletion_time_of(delta, header)
    if seconds < ttl_s and ttl_s != 0x7FFFFFFF:
        return np.int64(INVALID_DELETION_TIME)
    return seconds


@kernel
def subset_at(data, at, end, header, first, count):
    """Which of `count` columns from `first` on a row has, into header.present. Returns the next index, -1 if corrupt.

    Source: org.apache.cassandra.db.Columns.Serializer.
    """
    encoded, at = uvint_at(data, at)
    if count < 64:
        if encoded >> count != 0:
            return -1
        for i in range(count):
            header.present[first + i] = 1 - ((encoded >> i) & 1)
        return at
    if encoded < 0 or encoded > count:
        return -1
    present = count - encoded
    listed_are_present = present < count // 2
    for i in range(count):
        header.present[first + i] = 0 if listed_are_present else 1
    listed = present if listed_are_present else encoded
    for _ in range(listed):
        if at >= end:
            return -1
        index, at = uvint_at(data, at)
        if index < 0 or index >= count:
            return -1
        header.present[first + index] = 1 if listed_are_present else 0
    return at


@kernel
def skip_complex(data, at, end, row_has_complex_deletion):
    """Step over a complex column. Returns the next index, -1 if corrupt."""
    if row_has_complex_deletion:
        for _ in range(2):
            if at >= end:
                return -1
            _, at = uvint_at(data, at)
    if at >= end:
        return -1
    count, at = uvint_at(data, at)
    if count < 0 or count > end - at:
        return -1
    for _ in range(count):
        if at >= end:
            return -1
        flags = byte_at(data, at)
        at += 1
        if flags > _ALL_FLAGS:
            return -1
        vints = 0 if flags & _USE_ROW_TIMESTAMP else 1
        if flags & (_IS_DELETED | _IS_EXPIRING) and not flags & _USE_ROW_TTL:
            vints += 2 if flags & _IS_EXPIRING else 1
        for _ in range(vints):
            if at >= end:
                return -1
            _, at = uvint_at(data, at)
        for _ in range(1 if flags & _HAS_EMPTY_VALUE else 2):  # path, value
            if at >= end:
                return -1
            size, at = uvint_at(data, at)
            if size < 0 or size > end - at:
                return -1
            at += size
    return at


@kernel
def cells_at(data, at, end, header, first, count, subset, complex_deletion, row, slab):
    """All cells of one row into row `row` of a slab (its liveness is there already).

    data: uint8, end + SLACK <= its length. first, count: the row's columns in the header; subset: whether
    header.present tells which the row has. Returns (next index, facts) or (-1, field of FIELDS that is damaged); next
    may be past end.
    """
    base = address_of(data)
    values = slab.size.shape[0] - slab.cell_us.shape[0]
    row_us = slab.rows[row, LIVENESS_US]
    min_us = header.numbers[MIN_TIMESTAMP_US]
    facts = 0
    live = False
    for column in range(first, first + count):
        cell = np.int64(header.column_cell[column])
        if subset and header.present[column] == 0:
            if cell >= 0:
                slab.size[values + cell, row] = ABSENT
            continue
        if header.column_complex[column]:
            at = skip_complex(data, at, end, complex_deletion)
            if at < 0:
                return -1, F_COMPLEX
            continue
        if at >= end:
            return -1, F_CELL_FLAGS
        flags = byte_at(data, at)
        at += 1
        if flags > _ALL_FLAGS:
            return -1, F_CELL_FLAGS
        us = row_us
        if not flags & _USE_ROW_TIMESTAMP:
            us, at = uvint_at(data, at)
            us += min_us
        ttl_s = np.int64(0)
        expires_s = np.int64(NO_DELETION_TIME)
        if flags & (_IS_DELETED | _IS_EXPIRING):
            if flags & _USE_ROW_TTL:
                ttl_s = slab.rows[row, LIVENESS_TTL_S]
                expires_s = slab.rows[row, LIVENESS_EXPIRES_S]
            else:
                if at >= end:
                    return -1, F_CELL_FLAGS
                delta, at = uvint_at(data, at)
                if flags & _IS_EXPIRING:
                    ttl_s, at = uvint_at(data, at)
                    ttl_s += header.numbers[MIN_TTL_S]
                    if ttl_s < 0:
                        return -1, F_TTL
                    expires_s = expiry_of(delta, ttl_s, header)
                else:
                    expires_s = deletion_time_of(delta, header)
            if flags & _IS_DELETED:
                ttl_s = np.int64(TOMBSTONE_TTL)
                facts |= HAS_DELETIONS
            else:
                facts |= HAS_EXPIRING
        size = np.int64(0)
        if not flags & _HAS_EMPTY_VALUE:
            size = np.int64(header.column_size[column])
            if size < 0:
                size, at = uvint_at(data, at)
        if size < 0 or size > end - at:
            return -1, F_CELL_LENGTH
        if cell >= 0:
            if us <= header.dropped_us[column] and header.dropped_us[column] != NO_TIMESTAMP:
                slab.size[values + cell, row] = ABSENT
            else:
                slab.at[values + cell, row] = base + at
                slab.size[values + cell, row] = size
                slab.cell_us[cell, row] = us
                slab.cell_expires_s[cell, row] = expires_s
                slab.cell_ttl_s[cell, row] = ttl_s
                live = True
        at += size
    slab.rows[row, HAS_CELLS] = 1 if live else 0
    return at, facts
