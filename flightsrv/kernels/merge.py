"""k runs of slabs to the rows that a reader sees, in (token, key, clustering) order.

The kernel stops whenever a run's slab is used up, with nothing half done, and is called again when there is a new one.
What must outlive a slab, the key and the static values of the partition it is in, it copies to `kept`. Values that no
slab has, of collections, UDTs and counters, it makes in `spare`; they last until the next call.

Source: org.apache.cassandra.db.rows.UnfilteredRowIterators, db.RangeTombstoneList, db.partitions.PurgeFunction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.complex import COUNTER, NO_ROOM, SIMPLE, merge_complex
from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.counters import merge_counter
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy, store_be64
from flightsrv.kernels.order import compare_clusterings, compare_partitions
from flightsrv.kernels.reconcile import cell_is_live, liveness_is_live, reconcile_cell, row_liveness, supersedes
from flightsrv.kernels.status import DONE, NEED_INPUT, NEED_ROOM, OUTPUT_FULL
from flightsrv.slab import (
    ABSENT,
    CLUSTERING,
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

_ALL_FINISHED, _NO_ROOM = -2, -3


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
    spare: np.ndarray[Any, Any]
    """uint8: memory for values made here, SPARE_USED of it taken."""


class MergeRules(NamedTuple):
    """What does not change during a merge."""

    comparators: np.ndarray[Any, Any]
    """int64 (clustering,): the types of the clustering columns."""
    reverse: np.ndarray[Any, Any]
    """int8 (clustering,)."""
    orders: Orders
    """Of the comparators."""
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


@kernel
def _begin_partition(slabs, state, rules):
    """Enter the first partition of all runs. Returns the run that lacks a slab, -1 if none, or what else hinders."""
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
            order = compare_partitions(slabs, run, cursor[run, PARTITION], first, cursor[first, PARTITION])
        if order < 0:
            count = 0
        if order <= 0:
            members[count] = run
            count += 1
    if count == 0:
        return _ALL_FINISHED
    numbers = state.numbers
    numbers[MEMBER_COUNT] = count
    numbers[ACTIVE_US] = NO_TIMESTAMP
    numbers[ACTIVE_S] = 0
    for i in range(count):
        run = members[i]
        partition = cursor[run, PARTITION]
        cursor[run, OPEN_US] = NO_TIMESTAMP
        state.row[run] = slabs.partitions[run, partition, FIRST_ROW]
        state.row_stop[run] = _row_stop(slabs, state, run)
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
    if rules.statics and not _merge_statics(slabs, state, rules):
        return _NO_ROOM
    numbers[IN_PARTITION] = 1
    return -1


@kernel
def _value_of(slabs, state, rules, count, cell, active_us):
    """What a reader sees of a cell column of which `count` versions are at hand: (address, size); ABSENT or NO_ROOM."""
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    if rules.cell_kind[cell] == SIMPLE:
        run = reconcile_cell(slabs, state.versions, count, state.row, cell, active_us)
        if run >= 0 and cell_is_live(slabs, run, cell, state.row[run], rules.now_s):
            return slabs.at[run, value, state.row[run]], np.int64(slabs.size[run, value, state.row[run]])
        return np.int64(0), np.int64(ABSENT)
    place = address_of(state.spare) + state.numbers[SPARE_USED]
    end = address_of(state.spare) + state.spare.size
    if rules.cell_kind[cell] != COUNTER:
        size = merge_complex(slabs, state, rules, count, cell, active_us, place, end)
    elif end - place < 8:
        size = np.int64(NO_ROOM)
    else:
        seen, total, wrong = merge_counter(slabs, state, count, cell, active_us)
        if wrong >= 0:  # a size that no counter has, which encode refuses by the column's name
            return slabs.at[wrong, value, state.row[wrong]], np.int64(1)
        store_be64(place, total)
        size = np.int64(8) if seen else np.int64(ABSENT)
    state.numbers[SPARE_USED] += max(size, 0)
    return place, size


@kernel
def _merge_statics(slabs, state, rules):
    """Reconcile the members' static rows into the partition's head, step over them. Returns whether there was room."""
    count = 0
    for i in range(state.numbers[MEMBER_COUNT]):
        run = state.members[i]
        if state.row_stop[run] > state.row[run]:
            if slabs.rows[run, state.row[run], KIND] == STATIC_CLUSTERING:
                state.versions[count] = run
                count += 1
    spare_used = state.numbers[SPARE_USED]
    for cell in range(rules.statics):
        at, size = _value_of(slabs, state, rules, count, cell, state.numbers[ACTIVE_US])
        if size == NO_ROOM:
            state.numbers[SPARE_USED] = spare_used
            return False
        state.head_at[1 + cell] = at
        state.head_size[1 + cell] = size
        if size != ABSENT:
            state.numbers[STATIC_LIVE] = 1
    for i in range(count):
        state.row[state.versions[i]] += 1
    return True


@kernel
def _row_stop(slabs, state, run):
    """The row behind the last one that the run's slab has of the partition at hand."""
    partition = state.cursor[run, PARTITION]
    if partition >= state.cursor[run, PARTITION_COUNT]:
        return state.row[run]
    if partition + 1 == state.cursor[run, PARTITION_COUNT]:
        return state.cursor[run, ROW_COUNT]
    return slabs.partitions[run, partition + 1, FIRST_ROW]


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
def _emit_head(state, rules, clustering, out_at, out_size, made):
    out_at[0, made] = state.head_at[0]
    out_size[0, made] = state.head_size[0]
    for cell in range(rules.statics):
        out_at[1 + clustering + cell, made] = state.head_at[1 + cell]
        out_size[1 + clustering + cell, made] = state.head_size[1 + cell]


@kernel
def _emit_row(slabs, state, rules, count, out_at, out_size, made):
    """Reconcile the `count` versions at hand into row `made` of the output. Returns 1 if the row is seen, 0 if not,
    _NO_ROOM.
    """
    state.active[0] = state.numbers[ACTIVE_US]
    state.active[1] = state.numbers[ACTIVE_S]
    cursor = state.cursor
    for i in range(state.numbers[MEMBER_COUNT]):
        run = state.members[i]
        if supersedes(cursor[run, OPEN_US], cursor[run, OPEN_S], state.active[0], state.active[1]):
            state.active[0] = cursor[run, OPEN_US]
            state.active[1] = cursor[run, OPEN_S]
    us, ttl_s, expires_s = row_liveness(slabs, state.versions, count, state.row, state.active)
    seen = liveness_is_live(us, ttl_s, expires_s, rules.now_s)
    if rules.strict_liveness and not seen:
        return 0
    first = state.versions[0]
    row = state.row[first]
    first_cell = slabs.size.shape[1] - slabs.cell_us.shape[1]
    spare_used = state.numbers[SPARE_USED]
    for cell in range(rules.statics, slabs.cell_us.shape[1]):
        at, size = _value_of(slabs, state, rules, count, cell, state.active[0])
        if size == NO_ROOM:
            state.numbers[SPARE_USED] = spare_used
            return _NO_ROOM
        out_at[first_cell + cell, made] = at
        out_size[first_cell + cell, made] = size
        if size != ABSENT:
            seen = True
    if not seen:
        return 0
    clustering = first_cell - 1
    _emit_head(state, rules, clustering, out_at, out_size, made)
    for i in range(1, 1 + clustering):
        out_at[i, made] = slabs.at[first, i, row]
        out_size[i, made] = slabs.size[first, i, row]
    return 1


@kernel
def _apply_markers(slabs, state, count):
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
def _find_versions(slabs, state, rules):
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
def _end_partition(state, rules, clustering, out_at, out_size, made):
    """Leave the partition; one with static values and no row gives a row of its own. Returns rows made."""
    extra = 0
    if state.numbers[STATIC_LIVE] and state.numbers[ROWS_IN_PARTITION] == 0:
        _emit_head(state, rules, clustering, out_at, out_size, made)
        for i in range(1, 1 + clustering):
            out_size[i, made] = ABSENT
        for i in range(1 + clustering + rules.statics, out_size.shape[0]):
            out_size[i, made] = ABSENT
        extra = 1
    for i in range(state.numbers[MEMBER_COUNT]):
        state.cursor[state.members[i], PARTITION] += 1
    state.numbers[IN_PARTITION] = 0
    return extra


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


@kernel
def merge(slabs, state, rules, out_at, out_size):
    """Merge until a run lacks a slab, the output is full or all is done.

    slabs: Slabs of all runs. out_at: int64 (values, capacity), out_size: int32 likewise. Returns (status, rows made,
    run): NEED_INPUT: give run its next slab; OUTPUT_FULL; NEED_ROOM: state.spare is too small for one row; DONE. In all
    cases but the last the head is to be kept first, if IN_PARTITION.
    """
    made = np.int64(0)
    state.numbers[SPARE_USED] = 0
    capacity = out_at.shape[1]
    clustering = rules.comparators.size
    if state.numbers[IN_PARTITION]:
        for i in range(state.numbers[MEMBER_COUNT]):  # one of them has a new slab
            state.row_stop[state.members[i]] = _row_stop(slabs, state, state.members[i])
    while True:
        if made >= capacity:
            return OUTPUT_FULL, made, -1
        if not state.numbers[IN_PARTITION]:
            run = _begin_partition(slabs, state, rules)
            if run == _ALL_FINISHED:
                return DONE, made, -1
            if run == _NO_ROOM:
                return (OUTPUT_FULL if state.numbers[SPARE_USED] else NEED_ROOM), made, -1
            if run >= 0:
                return NEED_INPUT, made, run
        count, run = _find_versions(slabs, state, rules)
        if run >= 0:
            return NEED_INPUT, made, run
        if count == 0:
            made += _end_partition(state, rules, clustering, out_at, out_size, made)
            continue
        if slabs.rows[state.versions[0], state.row[state.versions[0]], KIND] == CLUSTERING:
            seen = _emit_row(slabs, state, rules, count, out_at, out_size, made)
            if seen == _NO_ROOM:
                return (OUTPUT_FULL if state.numbers[SPARE_USED] else NEED_ROOM), made, -1
            made += seen
            state.numbers[ROWS_IN_PARTITION] += seen
        else:
            _apply_markers(slabs, state, count)
        for i in range(count):
            state.row[state.versions[i]] += 1
