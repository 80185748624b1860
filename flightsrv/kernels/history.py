"""k runs of slabs to all that they hold: rows and deletions reconciled, but nothing left out for being dead.

A partition gives a record for its deletion, one for its static row, and one for each row and each bound of a range
deletion, in their order. A record has the values of a row, as far as they are seen now, and behind them two more that
are made here, in the form of frozen UDTs:

    row     kind text, inclusive boolean, writetime bigint, ttl int, expires bigint, deleted bigint, deleted_at bigint
    cells   for each column that is wanted, null if it has nothing there
              simple    writetime bigint, ttl int, expires bigint, deleted_at bigint
              complex   deleted bigint, deleted_at bigint, list of (path, then as for a simple one)

writetime and deleted are microseconds, expires and deleted_at (the local deletion time) seconds.

Source: org.apache.cassandra.db.rows.Row.Merger, RangeTombstoneMarker.Merger.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.cells import (
    ELEMENT_EXPIRES_S,
    ELEMENT_TTL_S,
    ELEMENT_US,
    PATH_AT,
    PATH_SIZE,
)
from flightsrv.kernels.complex import (
    COUNTER,
    NO_ROOM,
    SIMPLE,
    begin_elements,
    find_equals,
    next_element,
    winning_element,
)
from flightsrv.kernels.frozen import NULL_BYTES, write_bigint, write_boolean, write_int, write_nulls, write_sized
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.merge import value_of
from flightsrv.kernels.native import address_of, store_be32
from flightsrv.kernels.order import side_of
from flightsrv.kernels.reconcile import reconcile_cell, row_liveness, supersedes
from flightsrv.kernels.status import DONE, NEED_INPUT, NEED_ROOM, OUTPUT_FULL
from flightsrv.kernels.walk import (
    ACTIVE_S,
    ACTIVE_US,
    ALL_FINISHED,
    IN_PARTITION,
    SPARE_USED,
    apply_markers,
    enter_partition,
    find_deletion,
    find_statics,
    find_versions,
    leave_partition,
    resume,
    step_over,
)
from flightsrv.slab import ABSENT, CLUSTERING, KIND, NO_TIMESTAMP, TOMBSTONE_TTL

PARTITION_RECORD, STATIC_RECORD, ROW_RECORD, RANGE_START_RECORD, RANGE_END_RECORD = range(5)
RECORD_KINDS = ("partition", "static", "row", "range_start", "range_end")

# Columns of MergeState.record: what the row part of a record says.
RECORD_KIND, INCLUSIVE, WRITE_US, TTL_S, EXPIRES_S, DELETED_US, DELETED_S, RECORD_FIELDS = range(8)
_UNSAID = -1
"""Of INCLUSIVE: it is no bound."""

_ROW_BYTES = 128
"""More than the row part of a record takes."""
_TIMES_BYTES = 64
"""More than the times of a cell take."""


@kernel
def _say(state, kind, inclusive, us, ttl_s, expires_s):
    """Begin a record that deletes nothing."""
    record = state.record
    record[RECORD_KIND] = kind
    record[INCLUSIVE] = inclusive
    record[WRITE_US] = us
    record[TTL_S] = ttl_s
    record[EXPIRES_S] = expires_s
    record[DELETED_US] = NO_TIMESTAMP
    record[DELETED_S] = 0


@kernel
def _say_deleted(state, us, seconds):
    """The record at hand deletes."""
    state.record[DELETED_US] = us
    state.record[DELETED_S] = seconds


@kernel
def _write_row(place, state, rules):
    """The row part of the record at hand."""
    record = state.record
    name = address_of(rules.record_kinds) + record[RECORD_KIND] * rules.record_kinds.shape[1]
    size = np.int64(0)
    while rules.record_kinds[record[RECORD_KIND], size]:
        size += 1
    is_written = record[WRITE_US] != NO_TIMESTAMP
    is_deleted = record[DELETED_US] != NO_TIMESTAMP
    place = write_sized(place, name, size)
    place = write_boolean(place, record[INCLUSIVE], record[INCLUSIVE] != _UNSAID)
    place = write_bigint(place, record[WRITE_US], is_written)
    place = write_int(place, record[TTL_S], is_written and record[TTL_S] > 0)
    place = write_bigint(place, record[EXPIRES_S], is_written and record[TTL_S] > 0)
    place = write_bigint(place, record[DELETED_US], is_deleted)
    return write_bigint(place, record[DELETED_S], is_deleted)


@kernel
def _write_times(place, us, ttl_s, expires_s):
    """writetime, ttl, expires, deleted_at of a cell."""
    place = write_bigint(place, us, True)
    place = write_int(place, ttl_s, ttl_s > 0)
    place = write_bigint(place, expires_s, ttl_s > 0)
    return write_bigint(place, expires_s, ttl_s == TOMBSTONE_TTL)


@kernel
def _newest_counter(slabs, state, count, cell, active_us):
    """The run whose version of a counter has the times of all: a tombstone if there is one, else the newest."""
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    best = np.int64(-1)
    for i in range(count):
        run = state.versions[i]
        row = state.row[run]
        us = slabs.cell_us[run, cell, row]
        if slabs.size[run, value, row] == ABSENT or us <= active_us:
            continue
        is_dead = slabs.cell_ttl_s[run, cell, row] == TOMBSTONE_TTL
        best_is_dead = best >= 0 and slabs.cell_ttl_s[best, cell, state.row[best]] == TOMBSTONE_TTL
        if best < 0 or (us > slabs.cell_us[best, cell, state.row[best]] if is_dead == best_is_dead else is_dead):
            best = run
    return best


@kernel
def _write_simple(place, slabs, state, rules, count, cell, active_us):
    """The times of a simple column."""
    if rules.cell_kind[cell] == COUNTER:
        run = _newest_counter(slabs, state, count, cell, active_us)
    else:
        run = reconcile_cell(slabs, state.versions, count, state.row, cell, active_us)
    if run < 0:
        return write_nulls(place, np.int64(0), np.int64(1))
    row = state.row[run]
    ttl_s = np.int64(slabs.cell_ttl_s[run, cell, row])
    behind = _write_times(
        place + NULL_BYTES, slabs.cell_us[run, cell, row], ttl_s, slabs.cell_expires_s[run, cell, row]
    )
    store_be32(place, behind - place - NULL_BYTES)
    return behind


@kernel
def _complex_deletion(slabs, state, rules, count, cell):
    """The strongest deletion of a complex column: (timestamp, local deletion time), or what the active one says."""
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    us = state.active[0]
    seconds = state.active[1]
    for i in range(count):
        run = state.versions[i]
        row = state.row[run]
        own_us = slabs.cell_us[run, cell, row]
        if slabs.size[run, value, row] == ABSENT or own_us <= rules.dropped_us[cell]:
            continue
        if supersedes(own_us, slabs.cell_expires_s[run, cell, row], us, seconds):
            us = own_us
            seconds = slabs.cell_expires_s[run, cell, row]
    return us, seconds


@kernel
def _write_element(place, element):
    """The path and the times of an element."""
    behind = write_sized(place + NULL_BYTES, element[PATH_AT], element[PATH_SIZE])
    behind = _write_times(behind, element[ELEMENT_US], element[ELEMENT_TTL_S], element[ELEMENT_EXPIRES_S])
    store_be32(place, behind - place - NULL_BYTES)
    return behind


@kernel
def _write_complex(place, end, slabs, state, rules, count, cell, active_us):
    """The deletion of a complex column and the times of its elements. Returns -1 when there is no room."""
    deleted_us, deleted_s = _complex_deletion(slabs, state, rules, count, cell)
    is_deleted = deleted_us != state.active[0] or deleted_s != state.active[1]
    start = place
    place = write_bigint(place + NULL_BYTES, deleted_us, is_deleted)
    elements = write_bigint(place, deleted_s, is_deleted)
    place = elements + 2 * NULL_BYTES
    made = np.int64(0)
    covered_us = begin_elements(slabs, state, rules, count, cell, active_us)
    while True:
        equals = find_equals(state, rules, count, cell)
        if equals == 0:
            break
        run = winning_element(state, equals, covered_us)
        if run >= 0:
            if end - place < 2 * _TIMES_BYTES + state.elements[run, PATH_SIZE]:
                return np.int64(-1)
            place = _write_element(place, state.elements[run])
            made += 1
        for i in range(equals):
            next_element(slabs, state, rules, state.equals[i])
    if made == 0 and not is_deleted:
        return write_nulls(start, np.int64(0), np.int64(1))
    store_be32(elements, place - elements - NULL_BYTES)
    store_be32(elements + NULL_BYTES, made)
    store_be32(start, place - start - NULL_BYTES)
    return place


@kernel
def _emit_values(slabs, state, rules, count, first, last, run, out_at, out_size, made):
    """Key, clustering (of the item that `run` is at, null if it is below 0) and the values of the cell columns first
    to last. Returns whether there was room."""
    first_cell = slabs.size.shape[1] - slabs.cell_us.shape[1]
    out_at[0, made] = state.head_at[0]
    out_size[0, made] = state.head_size[0]
    for i in range(1, first_cell):
        out_size[i, made] = ABSENT
        if run >= 0:
            out_at[i, made] = slabs.at[run, i, state.row[run]]
            out_size[i, made] = slabs.size[run, i, state.row[run]]
    for cell in range(slabs.cell_us.shape[1]):
        out_size[first_cell + cell, made] = ABSENT
        if first <= cell < last:
            at, size = value_of(slabs, state, rules, count, cell, state.active[0])
            if size == NO_ROOM:
                return False
            out_at[first_cell + cell, made] = at
            out_size[first_cell + cell, made] = size
    return True


@kernel
def _emit_record(slabs, state, rules, count, first, last, run, out_at, out_size, made):
    """Write the record at hand, with the cell columns first to last of the `count` versions at hand, under
    state.active. Returns 1, 0 if it would say nothing, or NO_ROOM.
    """
    used = state.numbers[SPARE_USED]
    room = _emit_values(slabs, state, rules, count, first, last, run, out_at, out_size, made)
    end = address_of(state.spare) + state.spare.size
    start = address_of(state.spare) + state.numbers[SPARE_USED]
    place = start
    says_more = state.record[WRITE_US] != NO_TIMESTAMP or state.record[DELETED_US] != NO_TIMESTAMP
    for cell in range(slabs.cell_us.shape[1]):
        if not room or end - place < _TIMES_BYTES:
            room = False
            break
        if cell < first or cell >= last:
            behind = write_nulls(place, np.int64(0), np.int64(1))
        elif rules.cell_kind[cell] == SIMPLE or rules.cell_kind[cell] == COUNTER:
            behind = _write_simple(place, slabs, state, rules, count, cell, state.active[0])
        else:
            behind = _write_complex(place, end, slabs, state, rules, count, cell, state.active[0])
        if behind < 0:
            room = False
            break
        says_more = says_more or behind - place > NULL_BYTES
        if rules.wanted[cell]:
            place = behind
    if not room or end - place < _ROW_BYTES:
        state.numbers[SPARE_USED] = used
        return np.int64(NO_ROOM)
    behind = _write_row(place, state, rules)
    values = slabs.size.shape[1]
    out_at[values, made] = place
    out_size[values, made] = behind - place
    out_at[values + 1, made] = start
    out_size[values + 1, made] = place - start
    state.numbers[SPARE_USED] = behind - address_of(state.spare)
    return np.int64(1 if says_more else 0)


@kernel
def _emit_head(slabs, state, rules, out_at, out_size, made):
    """The partition's deletion and its static row. Returns how many records these gave, or NO_ROOM."""
    numbers = state.numbers
    state.active[0] = numbers[ACTIVE_US]
    state.active[1] = numbers[ACTIVE_S]
    used = numbers[SPARE_USED]
    new = np.int64(0)
    zero = np.int64(0)
    if numbers[ACTIVE_US] != NO_TIMESTAMP:
        _say(state, np.int64(PARTITION_RECORD), np.int64(_UNSAID), np.int64(NO_TIMESTAMP), zero, zero)
        _say_deleted(state, numbers[ACTIVE_US], numbers[ACTIVE_S])
        new = _emit_record(slabs, state, rules, zero, zero, zero, np.int64(-1), out_at, out_size, made)
    if new < 0:
        return new
    count = find_statics(slabs, state)
    if rules.statics == 0:  # all dropped
        step_over(state, count)
        return new
    _say(state, np.int64(STATIC_RECORD), np.int64(_UNSAID), np.int64(NO_TIMESTAMP), zero, zero)
    more = _emit_record(
        slabs, state, rules, count, zero, np.int64(rules.statics), np.int64(-1), out_at, out_size, made + new
    )
    if more < 0:
        numbers[SPARE_USED] = used
        return more
    step_over(state, count)
    return new + more


@kernel
def _emit_row(slabs, state, rules, count, out_at, out_size, made):
    """The row at hand. Returns how many records it gave, or NO_ROOM."""
    find_deletion(state)
    above_us = state.active[0]
    above_s = state.active[1]
    us, ttl_s, expires_s = row_liveness(slabs, state.versions, count, state.row, state.active)
    _say(state, np.int64(ROW_RECORD), np.int64(_UNSAID), us, ttl_s, expires_s)
    if state.active[0] != above_us or state.active[1] != above_s:
        _say_deleted(state, state.active[0], state.active[1])
    cells = np.int64(slabs.cell_us.shape[1])
    return _emit_record(
        slabs, state, rules, count, np.int64(rules.statics), cells, state.versions[0], out_at, out_size, made
    )


@kernel
def _open_range(state):
    """The strongest open range deletion: (timestamp, local deletion time); NO_TIMESTAMP if it adds nothing to the
    partition's."""
    find_deletion(state)
    if state.active[0] == state.numbers[ACTIVE_US] and state.active[1] == state.numbers[ACTIVE_S]:
        return np.int64(NO_TIMESTAMP), np.int64(0)
    return state.active[0], state.active[1]


@kernel
def _emit_bounds(slabs, state, rules, count, out_at, out_size, made):
    """Where the markers at hand end a range deletion and start one. Returns how many records these gave, or NO_ROOM."""
    if state.spare.size - state.numbers[SPARE_USED] < 2 * (_ROW_BYTES + _TIMES_BYTES * (slabs.cell_us.shape[1] + 1)):
        return np.int64(NO_ROOM)
    run = state.versions[0]
    is_before = side_of(slabs.rows[run, state.row[run], KIND]) < 0
    ended_us, ended_s = _open_range(state)
    apply_markers(slabs, state, count)
    started_us, started_s = _open_range(state)
    new = np.int64(0)
    zero = np.int64(0)
    if ended_us == started_us and ended_s == started_s:
        return new
    if ended_us != NO_TIMESTAMP:
        inclusive = np.int64(0 if is_before else 1)
        _say(state, np.int64(RANGE_END_RECORD), inclusive, np.int64(NO_TIMESTAMP), zero, zero)
        _say_deleted(state, ended_us, ended_s)
        new += _emit_record(slabs, state, rules, zero, zero, zero, run, out_at, out_size, made)
    if started_us != NO_TIMESTAMP:
        inclusive = np.int64(1 if is_before else 0)
        _say(state, np.int64(RANGE_START_RECORD), inclusive, np.int64(NO_TIMESTAMP), zero, zero)
        _say_deleted(state, started_us, started_s)
        new += _emit_record(slabs, state, rules, zero, zero, zero, run, out_at, out_size, made + new)
    return new


@kernel
def history(slabs, state, rules, out_at, out_size):
    """As kernels.merge.merge, but for all that the runs hold; out_at and out_size have two values more than slabs."""
    made = np.int64(0)
    capacity = out_at.shape[1]
    resume(slabs, state)
    while True:
        if made + 2 > capacity:
            return OUTPUT_FULL, made, -1
        if not state.numbers[IN_PARTITION]:
            run = enter_partition(slabs, state, rules)
            if run == ALL_FINISHED:
                return DONE, made, -1
            if run >= 0:
                return NEED_INPUT, made, run
            new = _emit_head(slabs, state, rules, out_at, out_size, made)
            if new >= 0:
                state.numbers[IN_PARTITION] = 1
        else:
            count, run = find_versions(slabs, state, rules)
            if run >= 0:
                return NEED_INPUT, made, run
            new = np.int64(0)
            if count == 0:
                leave_partition(state)
            elif slabs.rows[state.versions[0], state.row[state.versions[0]], KIND] == CLUSTERING:
                new = _emit_row(slabs, state, rules, count, out_at, out_size, made)
            else:
                new = _emit_bounds(slabs, state, rules, count, out_at, out_size, made)
            if new >= 0:
                step_over(state, count)
        if new < 0:
            return (OUTPUT_FULL if state.numbers[SPARE_USED] else NEED_ROOM), made, -1
        made += new
