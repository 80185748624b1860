"""k runs of slabs to the rows that a reader sees, in (token, key, clustering) order.

The kernel stops whenever a run's slab is used up, with nothing half done, and is called again when there is a new one.
Values that no slab has, of collections, UDTs and counters, it makes in `spare`; they last until the next call.

Source: org.apache.cassandra.db.rows.UnfilteredRowIterators, Row.Merger, db.partitions.PurgeFunction.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.complex import COUNTER, NO_ROOM, SIMPLE, merge_complex
from flightsrv.kernels.counters import merge_counter
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, store_be64
from flightsrv.kernels.reconcile import cell_is_live, liveness_is_live, reconcile_cell, row_liveness
from flightsrv.kernels.status import DONE, NEED_INPUT, NEED_ROOM, OUTPUT_FULL
from flightsrv.kernels.walk import (
    ACTIVE_US,
    ALL_FINISHED,
    IN_PARTITION,
    ROWS_IN_PARTITION,
    SPARE_USED,
    STATIC_LIVE,
    apply_markers,
    enter_partition,
    find_deletion,
    find_statics,
    find_versions,
    leave_partition,
    resume,
    step_over,
)
from flightsrv.slab import ABSENT, CLUSTERING, KIND

_NO_ROOM = -1
"""Instead of 1 or 0 for a row that is seen or not."""


@kernel
def value_of(slabs, state, rules, count, cell, active_us):
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
    """Reconcile the members' static rows into the partition's head, step over them. Returns whether there was room.

    There are static rows too where all static columns were dropped.
    """
    count = find_statics(slabs, state)
    spare_used = state.numbers[SPARE_USED]
    for cell in range(rules.statics):
        at, size = value_of(slabs, state, rules, count, cell, state.numbers[ACTIVE_US])
        if size == NO_ROOM:
            state.numbers[SPARE_USED] = spare_used
            return False
        state.head_at[1 + cell] = at
        state.head_size[1 + cell] = size
        if size != ABSENT:
            state.numbers[STATIC_LIVE] = 1
    step_over(state, count)
    return True


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
    find_deletion(state)
    us, ttl_s, expires_s = row_liveness(slabs, state.versions, count, state.row, state.active)
    seen = liveness_is_live(us, ttl_s, expires_s, rules.now_s)
    if rules.strict_liveness and not seen:
        return 0
    first = state.versions[0]
    row = state.row[first]
    first_cell = slabs.size.shape[1] - slabs.cell_us.shape[1]
    spare_used = state.numbers[SPARE_USED]
    for cell in range(rules.statics, slabs.cell_us.shape[1]):
        at, size = value_of(slabs, state, rules, count, cell, state.active[0])
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
    leave_partition(state)
    return extra


@kernel
def merge(slabs, state, rules, out_at, out_size):
    """Merge until a run lacks a slab, the output is full or all is done.

    slabs: Slabs of all runs. out_at: int64 (values, capacity), out_size: int32 likewise. Returns (status, rows made,
    run): NEED_INPUT: give run its next slab; OUTPUT_FULL; NEED_ROOM: state.spare is too small for one row; DONE. In all
    cases but the last the head is to be kept first, if IN_PARTITION.
    """
    made = np.int64(0)
    capacity = out_at.shape[1]
    clustering = rules.comparators.size
    resume(slabs, state)
    while True:
        if made >= capacity:
            return OUTPUT_FULL, made, -1
        if not state.numbers[IN_PARTITION]:
            run = enter_partition(slabs, state, rules)
            if run == ALL_FINISHED:
                return DONE, made, -1
            if run >= 0:
                return NEED_INPUT, made, run
            if not _merge_statics(slabs, state, rules):
                return (OUTPUT_FULL if state.numbers[SPARE_USED] else NEED_ROOM), made, -1
            state.numbers[IN_PARTITION] = 1
        count, run = find_versions(slabs, state, rules)
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
            apply_markers(slabs, state, count)
        step_over(state, count)
