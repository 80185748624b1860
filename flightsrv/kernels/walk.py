"""k runs of slabs, partition by partition and row by row: which of them are at the place that comes next.

What must outlive a slab, the key and the static values of the partition at hand, is copied to `kept`.

Source: org.apache.cassandra.db.rows.UnfilteredRowIterators, db.RangeTombstoneList, utils.MergeIterator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy
from flightsrv.kernels.order import compare_clusterings, compare_partitions
from flightsrv.kernels.reconcile import supersedes
from flightsrv.slab import (
    DELETION_S,
    DELETION_US,
    EXCL_END_BOUND,
    EXCL_END_INCL_START_BOUNDARY,
    FIRST_ROW,
    INCL_END_BOUND,
    INCL_END_EXCL_START_BOUNDARY,
    KEY_AT,
    KEY_SIZE,
    KIND,
    LIVENESS_EXPIRES_S,
    LIVENESS_US,
    NO_TIMESTAMP,
    PARTITION_DELETION_S,
    PARTITION_DELETION_US,
    STATIC_CLUSTERING,
)

# Columns of MergeState.cursor: where each run is. The first four are set by the caller for each new slab.
PARTITION_COUNT, ROW_COUNT, CONTINUES, FINISHED, PARTITION, OPEN_US, OPEN_S, CURSOR_FIELDS = range(8)
# MergeState.numbers: the partition that merge is in, and what it made.
IN_PARTITION, ACTIVE_US, ACTIVE_S, STATIC_LIVE, ROWS_IN_PARTITION, KEPT_BYTES, MEMBER_COUNT, SPARE_USED = range(8)
MERGE_NUMBERS = 8

ALL_FINISHED = -2
"""Instead of the run that lacks a slab: no run has any more."""


class MergeState(NamedTuple):
    """What a merge carries from call to call."""

    cursor: np.ndarray[Any, Any]
    """int64 (runs, CURSOR_FIELDS)."""
    row: np.ndarray[Any, Any]
    """int64 (runs,): each run's next row."""
    row_stop: np.ndarray[Any, Any]
    """int64 (runs,): the row behind the last one that a member's slab has of the partition at hand."""
    numbers: np.ndarray[Any, Any]
    """int64 (MERGE_NUMBERS,)."""
    members: np.ndarray[Any, Any]
    """int64 (runs,): the MEMBER_COUNT runs that have the partition at hand."""
    versions: np.ndarray[Any, Any]
    """int64 (runs,): scratch, the runs that have the row at hand."""
    active: np.ndarray[Any, Any]
    """int64 (2,): scratch, the deletion at the row at hand."""
    head_at: np.ndarray[Any, Any]
    """int64 (1 + statics,): places of the partition's key and static values."""
    head_size: np.ndarray[Any, Any]
    """int32 (1 + statics,)."""
    elements: np.ndarray[Any, Any]
    """int64 (runs, CURSOR_ELEMENT_FIELDS): scratch, each version's element at hand, of a complex column or counter."""
    equals: np.ndarray[Any, Any]
    """int64 (runs,): scratch, the versions whose elements at hand are of one path."""
    record: np.ndarray[Any, Any]
    """int64 (RECORD_FIELDS,): scratch, what a record of kernels/history.py says of its row."""
    spare: np.ndarray[Any, Any]
    """uint8: memory for values made here, SPARE_USED of it taken."""


class MergeRules(NamedTuple):
    """What does not change during a merge."""

    comparators: np.ndarray[Any, Any]
    """int64 (clustering,): the types of the clustering columns."""
    reverse: np.ndarray[Any, Any]
    """int8 (clustering,)."""
    key_comparator: int
    """How partition keys with equal tokens compare: see kernels/order.py."""
    orders: Orders
    """Of all comparators."""
    cell_kind: np.ndarray[Any, Any]
    """int8 (cells,): SIMPLE, COUNTER, or which complex column it is."""
    path_comparators: np.ndarray[Any, Any]
    """int64 (cells,): how the paths of a complex column compare."""
    field_count: np.ndarray[Any, Any]
    """int32 (cells,): fields of a non-frozen UDT, 0 for all other types."""
    dropped_us: np.ndarray[Any, Any]
    """int64 (cells,): elements of a complex column up to this timestamp are of a dropped one; NO_TIMESTAMP if none."""
    run_numbers: np.ndarray[Any, Any]
    """int64 (runs, RUN_NUMBERS): each run's RunHeader.numbers."""
    statics: int
    """How many of the cell columns, the first ones, are static."""
    now_s: int
    strict_liveness: int
    """1 for a materialized view: a row is seen by its liveness alone."""
    wanted: np.ndarray[Any, Any]
    """int8 (cells,): of which cell columns kernels/history.py tells the times; empty when it is not asked."""
    record_kinds: np.ndarray[Any, Any]
    """uint8 (kinds, width): their names, zeros behind."""


@kernel
def row_stop_of(slabs, state, run):
    """The row behind the last one that the run's slab has of the partition at hand."""
    partition = state.cursor[run, PARTITION]
    if partition >= state.cursor[run, PARTITION_COUNT]:
        return state.row[run]
    if partition + 1 == state.cursor[run, PARTITION_COUNT]:
        return state.cursor[run, ROW_COUNT]
    return slabs.partitions[run, partition + 1, FIRST_ROW]


@kernel
def enter_partition(slabs, state, rules):
    """Enter the first partition of all runs. Returns the run that lacks a slab, -1 if none, or ALL_FINISHED.

    IN_PARTITION is for the caller to set, once the partition's head is dealt with.
    """
    cursor = state.cursor
    members = state.members
    count = 0
    for run in range(cursor.shape[0]):
        if cursor[run, PARTITION] >= cursor[run, PARTITION_COUNT]:
            if not cursor[run, FINISHED]:
                return run
            continue
        order = -1
        if count:
            first = members[0]
            order = compare_partitions(slabs, rules, run, cursor[run, PARTITION], first, cursor[first, PARTITION])
        if order < 0:
            count = 0
        if order <= 0:
            members[count] = run
            count += 1
    if count == 0:
        return ALL_FINISHED
    numbers = state.numbers
    numbers[MEMBER_COUNT] = count
    numbers[ACTIVE_US] = NO_TIMESTAMP
    numbers[ACTIVE_S] = 0
    for i in range(count):
        run = members[i]
        partition = cursor[run, PARTITION]
        cursor[run, OPEN_US] = NO_TIMESTAMP
        state.row[run] = slabs.partitions[run, partition, FIRST_ROW]
        state.row_stop[run] = row_stop_of(slabs, state, run)
        deletion_us = slabs.partitions[run, partition, PARTITION_DELETION_US]
        deletion_s = slabs.partitions[run, partition, PARTITION_DELETION_S]
        if supersedes(deletion_us, deletion_s, numbers[ACTIVE_US], numbers[ACTIVE_S]):
            numbers[ACTIVE_US] = deletion_us
            numbers[ACTIVE_S] = deletion_s
    first = members[0]
    state.head_at[0] = slabs.partitions[first, cursor[first, PARTITION], KEY_AT]
    state.head_size[0] = slabs.partitions[first, cursor[first, PARTITION], KEY_SIZE]
    numbers[ROWS_IN_PARTITION] = 0
    numbers[KEPT_BYTES] = 0
    numbers[STATIC_LIVE] = 0
    return -1


@kernel
def _lacks_rows(state, run):
    """0: the run has another row here; 1: its partition is over; 2: it goes on in a slab not yet there."""
    if state.row[run] < state.row_stop[run]:
        return 0
    cursor = state.cursor
    if cursor[run, PARTITION] + 1 < cursor[run, PARTITION_COUNT]:
        return 1
    return 2 if cursor[run, CONTINUES] else 1


@kernel
def find_statics(slabs, state):
    """The members that have a static row, which is their next one, into versions. Returns their count."""
    count = 0
    for i in range(state.numbers[MEMBER_COUNT]):
        run = state.members[i]
        if state.row_stop[run] > state.row[run]:
            if slabs.rows[run, state.row[run], KIND] == STATIC_CLUSTERING:
                state.versions[count] = run
                count += 1
    return count


@kernel
def find_versions(slabs, state, rules):
    """The members whose next row or marker is the first of all, into versions. Returns (their count, a run that lacks a
    slab or -1)."""
    count = 0
    for i in range(state.numbers[MEMBER_COUNT]):
        run = state.members[i]
        lacks = _lacks_rows(state, run)
        if lacks == 2:
            return 0, run
        if lacks == 1:
            continue
        if count == 0:
            order = -1
        else:
            best = state.versions[0]
            order = compare_clusterings(slabs, rules, run, state.row[run], best, state.row[best])
        if order < 0:
            count = 0
        if order <= 0:
            state.versions[count] = run
            count += 1
    return count, -1


@kernel
def step_over(state, count):
    """Leave the rows or markers of the versions at hand behind."""
    for i in range(count):
        state.row[state.versions[i]] += 1


@kernel
def find_deletion(state):
    """The strongest deletion at the place at hand, of the partition or of an open range, into state.active."""
    state.active[0] = state.numbers[ACTIVE_US]
    state.active[1] = state.numbers[ACTIVE_S]
    cursor = state.cursor
    for i in range(state.numbers[MEMBER_COUNT]):
        run = state.members[i]
        if supersedes(cursor[run, OPEN_US], cursor[run, OPEN_S], state.active[0], state.active[1]):
            state.active[0] = cursor[run, OPEN_US]
            state.active[1] = cursor[run, OPEN_S]


@kernel
def apply_markers(slabs, state, count):
    """Open and close range deletions of the runs at hand, whose next item is a marker at one position."""
    for i in range(count):
        run = state.versions[i]
        row = state.row[run]
        kind = slabs.rows[run, row, KIND]
        if kind == EXCL_END_BOUND or kind == INCL_END_BOUND:
            state.cursor[run, OPEN_US] = NO_TIMESTAMP
        elif kind == EXCL_END_INCL_START_BOUNDARY or kind == INCL_END_EXCL_START_BOUNDARY:
            state.cursor[run, OPEN_US] = slabs.rows[run, row, LIVENESS_US]
            state.cursor[run, OPEN_S] = slabs.rows[run, row, LIVENESS_EXPIRES_S]
        else:
            state.cursor[run, OPEN_US] = slabs.rows[run, row, DELETION_US]
            state.cursor[run, OPEN_S] = slabs.rows[run, row, DELETION_S]


@kernel
def leave_partition(state):
    """Leave the partition at hand behind."""
    for i in range(state.numbers[MEMBER_COUNT]):
        state.cursor[state.members[i], PARTITION] += 1
    state.numbers[IN_PARTITION] = 0


@kernel
def resume(slabs, state):
    """Go on after a stop: one of the runs may have a new slab, and the memory for made values is free again."""
    state.numbers[SPARE_USED] = 0
    if state.numbers[IN_PARTITION]:
        for i in range(state.numbers[MEMBER_COUNT]):
            state.row_stop[state.members[i]] = row_stop_of(slabs, state, state.members[i])


@kernel
def keep_head(state, kept):
    """Copy the partition's key and static values to kept (uint8). Returns whether they fit; KEPT_BYTES says what it
    takes.
    """
    if state.numbers[KEPT_BYTES]:
        return True
    total = np.int64(0)
    for i in range(state.head_size.size):
        total += max(state.head_size[i], 0)
    if total > kept.size:
        state.numbers[KEPT_BYTES] = 0
        return False
    at = address_of(kept)
    for i in range(state.head_size.size):
        size = np.int64(state.head_size[i])
        if size > 0:
            copy(at, state.head_at[i], size)
            state.head_at[i] = at
            at += size
    state.numbers[KEPT_BYTES] = max(total, 1)
    return True
