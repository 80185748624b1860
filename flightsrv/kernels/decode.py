"""Data.db's bytes to a slab: partitions, rows and markers.

    partition  := key (u16 length) deletion [static row] unfiltered* 0x01
    row        := flags [extended] clustering size prev [timestamp] [ttl expiry] [deletion] [subset] cells
    marker     := 0x02 kind count values size prev deletion [deletion]

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, db.ClusteringPrefix, db.ClusteringBoundOrBoundary,
db.DeletionTime, io.sstable.format.SortedTablePartitionWriter.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of
from flightsrv.kernels.order import ANY_ORDER, compare_keys
from flightsrv.kernels.run import (
    F_FLAGS,
    F_ORDER,
    F_PARTITION_DELETION,
    FACTS,
    FIELD,
    IN_PARTITION,
    KEY_COMPARATOR,
    OPEN_DELETION_S,
    OPEN_DELETION_US,
    OPEN_KEY_AT,
    OPEN_KEY_SIZE,
    OPEN_TOKEN,
    OPEN_TOKEN_LOW,
    PARTITION_COUNT,
    ROW_COUNT,
    SKIPPING,
    STATIC_COLUMNS,
    TOKEN_AFTER,
    TOKEN_AFTER_LOW,
    TOKEN_UPTO,
    TOKEN_UPTO_LOW,
    TOKENS,
    UNSIGNED_DELETION_TIME,
)
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.tokens import token_halves
from flightsrv.kernels.unfiltered import END_OF_PARTITION, IS_MARKER, read_marker, read_row, read_static_row
from flightsrv.kernels.vint import be16_at, be32_at, be64_at, byte_at
from flightsrv.slab import (
    FIRST_ROW,
    HAS_DELETIONS,
    KEY_AT,
    KEY_SIZE,
    NO_DELETION_TIME,
    NO_TIMESTAMP,
    PARTITION_DELETION_S,
    PARTITION_DELETION_US,
    TOKEN,
    TOKEN_LOW,
)

_LEAST_HALF = -(2**63)


@kernel
def _is_next(token, low, key_at, key_size, header, state):
    """Whether a partition, whose token is not above that of the one before it, comes after it nevertheless."""
    if token != state[OPEN_TOKEN]:
        return False
    if low != state[OPEN_TOKEN_LOW]:
        return low > state[OPEN_TOKEN_LOW]
    comparator = header.numbers[KEY_COMPARATOR]
    if comparator == ANY_ORDER:
        return True
    return compare_keys(comparator, state[OPEN_KEY_AT], state[OPEN_KEY_SIZE], key_at, key_size, header.orders) < 0


@kernel
def _partition(data, at, stop, header, state, row, slab):
    """A partition's key, deletion and static row (into row `row`) into the state. Returns (status, next index)."""
    if at + 3 > stop:
        return NEED_INPUT, at
    size = be16_at(data, at)
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
    numbers = header.numbers
    token, low = token_halves(numbers[TOKENS], address_of(data) + key, size)
    has_another_before = state[OPEN_KEY_AT] != 0
    if (
        has_another_before
        and token <= state[OPEN_TOKEN]
        and not _is_next(token, low, address_of(data) + key, size, header, state)
    ):
        state[FIELD] = F_ORDER
        return CORRUPT, key
    if token > numbers[TOKEN_UPTO] or (token == numbers[TOKEN_UPTO] and low > numbers[TOKEN_UPTO_LOW]):
        return DONE, -1
    is_before = token < numbers[TOKEN_AFTER] or (token == numbers[TOKEN_AFTER] and low <= numbers[TOKEN_AFTER_LOW])
    if size == 0:  # a view may have this key; its token is the ring's start, and it is in what begins there
        is_before = numbers[TOKEN_AFTER] > _LEAST_HALF
    state[SKIPPING] = 1 if is_before else 0
    if header.numbers[STATIC_COLUMNS]:
        status, at = read_static_row(data, at, stop, header, state, row, slab)
        if status != DONE:
            return status, at
    state[OPEN_KEY_AT] = address_of(data) + key
    state[OPEN_KEY_SIZE] = size
    state[OPEN_TOKEN] = token
    state[OPEN_TOKEN_LOW] = low
    state[OPEN_DELETION_US] = deletion_us
    state[OPEN_DELETION_S] = deletion_s
    return DONE, at


@kernel
def _record_partition(state, partition, row, slab):
    """The partition of the state, whose first row here is `row`, into the slab."""
    slab.partitions[partition, KEY_AT] = state[OPEN_KEY_AT]
    slab.partitions[partition, KEY_SIZE] = state[OPEN_KEY_SIZE]
    slab.partitions[partition, TOKEN] = state[OPEN_TOKEN]
    slab.partitions[partition, TOKEN_LOW] = state[OPEN_TOKEN_LOW]
    slab.partitions[partition, PARTITION_DELETION_US] = state[OPEN_DELETION_US]
    slab.partitions[partition, PARTITION_DELETION_S] = state[OPEN_DELETION_S]
    slab.partitions[partition, FIRST_ROW] = row
    if state[OPEN_DELETION_US] != NO_TIMESTAMP:
        state[FACTS] |= HAS_DELETIONS


@kernel
def decode(data, start, stop, header, state, slab):
    """Fill a slab from data[start:stop].

    data: uint8 (n,), stop + SLACK <= n. header: RunHeader. state: int64 (STATE_FIELDS,): zero before the first call
    but OPEN_TOKEN and OPEN_TOKEN_LOW, the least numbers; between calls the key at OPEN_KEY_AT must stay what it is.
    slab: Slabs.of(run). Returns (status, stopped_at): NEED_INPUT at the start of the first partition, row or marker
    that is not whole; OUTPUT_FULL; DONE when a partition is past TOKEN_UPTO; CORRUPT, near the place, with
    state[FIELD]. ROW_COUNT, PARTITION_COUNT, FACTS and IN_PARTITION of the state tell what was made.
    """
    capacity = slab.rows.shape[0]
    at = start
    rows = np.int64(0)
    partitions = np.int64(0)
    state[FACTS] = 0
    status = DONE
    if state[IN_PARTITION] and not state[SKIPPING]:
        _record_partition(state, partitions, rows, slab)
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
        if flags & END_OF_PARTITION:
            if flags != END_OF_PARTITION:
                state[FIELD] = F_FLAGS
                status = CORRUPT
                break
            state[IN_PARTITION] = 0
            at += 1
            continue
        if flags & IS_MARKER:
            state[FIELD] = F_FLAGS
            status, after = (
                (CORRUPT, at) if flags != IS_MARKER else read_marker(data, at + 1, stop, header, state, rows, slab)
            )
        else:
            status, after = read_row(data, at + 1, stop, flags, header, state, rows, slab)
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
