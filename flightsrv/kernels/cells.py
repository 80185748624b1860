"""Cells of one row, and the times they carry.

    cell    := flags [timestamp] [local deletion time] [ttl] [value]
    column  := cell                                  simple
             | [deletion] count element*             complex: a non-frozen collection or UDT
    element := flags [timestamp] [local deletion time] [ttl] path [value]

Of a complex column a slab holds where its elements lie, as they are: merge reads them again (kernels/complex.py).

Source: org.apache.cassandra.db.rows.Cell.Serializer, db.rows.UnfilteredSerializer, db.SerializationHeader.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, load_be16, load_u8
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
from flightsrv.kernels.vint import uvint_at, uvint_from
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
MAX_TTL_S = 0x7FFFFFFF
INVALID_DELETION_TIME = 4294967294
"""What a local deletion time that overflowed becomes (Cassandra: Cell.INVALID_DELETION_TIME)."""

# What is known of an element of a complex column.
PATH_AT, PATH_SIZE, VALUE_AT, VALUE_SIZE, ELEMENT_US, ELEMENT_TTL_S, ELEMENT_EXPIRES_S = range(7)
ELEMENT_FIELDS = 7


@kernel
def deletion_time_of(delta, numbers):
    """A local deletion time from its delta: unsigned from oa on, else a sum below 0 is an overflow of 2038.

    numbers: RunHeader.numbers.
    """
    seconds = delta + numbers[MIN_DELETION_TIME_S]
    if seconds < 0:
        return seconds & 0xFFFFFFFF if numbers[UNSIGNED_DELETION_TIME] else np.int64(INVALID_DELETION_TIME)
    return seconds


@kernel
def expiry_of(delta, ttl_s, numbers):
    """When a cell or a liveness with a TTL expires; one that would have been written before 1970 is invalid."""
    seconds = deletion_time_of(delta, numbers)
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
def _times_from(place, flags, us, ttl_s, expires_s, numbers):
    """A cell's times behind its flags; `us`, `ttl_s` and `expires_s` are those of the row's liveness.

    Three vints at most are read. Returns (address behind them, timestamp, TTL, local deletion time); the TTL is
    TOMBSTONE_TTL for a deleted cell, and below that if it is damaged.
    """
    if not flags & _USE_ROW_TIMESTAMP:
        us, place = uvint_from(place)
        us += numbers[MIN_TIMESTAMP_US]
    if not flags & _USE_ROW_TTL:
        ttl_s = np.int64(0)
        expires_s = np.int64(NO_DELETION_TIME)
        if flags & (_IS_DELETED | _IS_EXPIRING):
            delta, place = uvint_from(place)
            if flags & _IS_EXPIRING:
                ttl_s, place = uvint_from(place)
                ttl_s += numbers[MIN_TTL_S]
                if ttl_s < 0 or ttl_s > MAX_TTL_S:
                    return place, us, np.int64(TOMBSTONE_TTL - 1), expires_s
            expires_s = expiry_of(delta, ttl_s, numbers)
    if ttl_s == 0 and expires_s != NO_DELETION_TIME:
        ttl_s = np.int64(TOMBSTONE_TTL)
    return place, us, ttl_s, expires_s


@kernel
def element_from(place, end, us, ttl_s, expires_s, numbers, element):
    """Read one element of a complex column between two addresses into element (int64, ELEMENT_FIELDS).

    us, ttl_s, expires_s: the row's liveness. Returns the address behind it, or -1 if it is damaged.
    """
    if place >= end:
        return np.int64(-1)
    flags = np.int64(load_u8(place))
    if flags > _ALL_FLAGS:
        return np.int64(-1)
    place, us, ttl_s, expires_s = _times_from(place + 1, flags, us, ttl_s, expires_s, numbers)
    if place >= end or ttl_s < TOMBSTONE_TTL:
        return np.int64(-1)
    size, place = uvint_from(place)
    if size < 0 or size > end - place:
        return np.int64(-1)
    element[PATH_AT] = place
    element[PATH_SIZE] = size
    place += size
    size = np.int64(0)
    if not flags & _HAS_EMPTY_VALUE:
        if place >= end:
            return np.int64(-1)
        size, place = uvint_from(place)
        if size < 0 or size > end - place:
            return np.int64(-1)
    element[VALUE_AT] = place
    element[VALUE_SIZE] = size
    element[ELEMENT_US] = us
    element[ELEMENT_TTL_S] = ttl_s
    element[ELEMENT_EXPIRES_S] = expires_s
    return place + size


@kernel
def _complex_from(place, end, has_deletion, header, column, row, slab):
    """A complex column between two addresses into a row: where its elements lie (at, size), how many (cell_ttl_s), and
    the deletion of all that was before (cell_us, cell_expires_s). Returns the address behind it, or -1 if damaged.
    """
    deletion_us = np.int64(NO_TIMESTAMP)
    deletion_s = np.int64(NO_DELETION_TIME)
    if place >= end:
        return np.int64(-1)
    if has_deletion:
        deletion_us, place = uvint_from(place)
        deletion_us += header.numbers[MIN_TIMESTAMP_US]
        delta, place = uvint_from(place)
        deletion_s = deletion_time_of(delta, header.numbers)
        if place >= end:
            return np.int64(-1)
    count, place = uvint_from(place)
    if count < 0 or count > end - place:
        return np.int64(-1)
    us = slab.rows[row, LIVENESS_US]
    ttl_s = slab.rows[row, LIVENESS_TTL_S]
    expires_s = slab.rows[row, LIVENESS_EXPIRES_S]
    fields = np.int64(header.column_fields[column])
    start = place
    for _ in range(count):
        place = element_from(place, end, us, ttl_s, expires_s, header.numbers, header.element)
        if place < 0:
            return place
        if fields and (header.element[PATH_SIZE] != 2 or load_be16(header.element[PATH_AT]) >= fields):
            return np.int64(-1)
    cell = np.int64(header.column_cell[column])
    if cell >= 0:
        value = slab.size.shape[0] - slab.cell_us.shape[0] + cell
        slab.at[value, row] = start
        slab.size[value, row] = place - start
        slab.cell_us[cell, row] = deletion_us
        slab.cell_expires_s[cell, row] = deletion_s
        slab.cell_ttl_s[cell, row] = count
        slab.rows[row, HAS_CELLS] = 1
    return place


@kernel
def _simple_from(place, end, header, column, row, slab):
    """A simple column between two addresses into a row. Returns (address behind it, facts), or (-1, what of FIELDS is
    damaged).
    """
    if place >= end:
        return np.int64(-1), F_CELL_FLAGS
    flags = np.int64(load_u8(place))
    if flags > _ALL_FLAGS:
        return np.int64(-1), F_CELL_FLAGS
    us = slab.rows[row, LIVENESS_US]
    ttl_s = np.int64(0)
    expires_s = np.int64(NO_DELETION_TIME)
    facts = 0
    if flags & (_IS_DELETED | _IS_EXPIRING | _USE_ROW_TTL):
        ttl_s = slab.rows[row, LIVENESS_TTL_S]
        expires_s = slab.rows[row, LIVENESS_EXPIRES_S]
        place, us, ttl_s, expires_s = _times_from(place + 1, flags, us, ttl_s, expires_s, header.numbers)
        if ttl_s < TOMBSTONE_TTL:
            return np.int64(-1), F_TTL
        facts = HAS_DELETIONS if ttl_s == TOMBSTONE_TTL else HAS_EXPIRING
    else:
        place += 1
        if not flags & _USE_ROW_TIMESTAMP:
            us, place = uvint_from(place)
            us += header.numbers[MIN_TIMESTAMP_US]
    size = np.int64(0)
    if not flags & _HAS_EMPTY_VALUE:
        size = np.int64(header.column_size[column])
        if size < 0:
            if place >= end:
                return np.int64(-1), F_CELL_LENGTH
            size, place = uvint_from(place)
    if size < 0 or size > end - place:
        return np.int64(-1), F_CELL_LENGTH
    cell = np.int64(header.column_cell[column])
    if cell >= 0:
        value = slab.size.shape[0] - slab.cell_us.shape[0] + cell
        if us <= header.dropped_us[column] and header.dropped_us[column] != NO_TIMESTAMP:
            slab.size[value, row] = ABSENT
        else:
            slab.at[value, row] = place
            slab.size[value, row] = size
            slab.cell_us[cell, row] = us
            slab.cell_expires_s[cell, row] = expires_s
            slab.cell_ttl_s[cell, row] = ttl_s
            slab.rows[row, HAS_CELLS] = 1
    return place + size, facts


@kernel
def cells_at(data, at, end, header, first, count, subset, complex_deletion, row, slab):
    """All cells of one row into row `row` of a slab (its liveness is there already).

    data: uint8, end + SLACK <= its length. first, count: the row's columns in the header; subset: whether
    header.present tells which the row has. Returns (next index, facts) or (-1, field of FIELDS that is damaged); next
    may be past end.
    """
    base = address_of(data)
    place = base + at
    values = slab.size.shape[0] - slab.cell_us.shape[0]
    slab.rows[row, HAS_CELLS] = 0
    facts = 0
    for column in range(first, first + count):
        if subset and header.present[column] == 0:
            cell = np.int64(header.column_cell[column])
            if cell >= 0:
                slab.size[values + cell, row] = ABSENT
            continue
        if header.column_complex[column]:
            place = _complex_from(place, base + end, complex_deletion, header, column, row, slab)
            more = F_COMPLEX if place < 0 else 0
        else:
            place, more = _simple_from(place, base + end, header, column, row, slab)
        if place < 0:
            return place, more
        facts |= more
    return place - base, facts
