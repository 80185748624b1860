"""The versions of a non-frozen collection or UDT in one row, to the one value a reader sees.

Each version is a list of elements in the order of their paths: of a list a TimeUUID each, of a set and a map the
element and the key, of a UDT the field's index. They are merged path by path, like rows, and what is left is written as
the frozen form of the type, so that all behind merge knows frozen values alone.

    list, set   i32 count, then for each: i32 size, bytes       map   i32 count, then for each: key, value likewise
    udt         for each field: i32 size, bytes; size -1 for one that is null

Source: org.apache.cassandra.db.rows.Row.Merger, ComplexColumnData, BTreeRow.Builder.CellResolver,
org.apache.cassandra.db.marshal.CollectionType.serializeForNativeProtocol.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.cells import (
    ELEMENT_EXPIRES_S,
    ELEMENT_FIELDS,
    ELEMENT_TTL_S,
    ELEMENT_US,
    PATH_AT,
    PATH_SIZE,
    VALUE_AT,
    VALUE_SIZE,
    element_from,
)
from flightsrv.kernels.compounds import compare_values
from flightsrv.kernels.frozen import write_nulls, write_sized
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import load_be16, store_be32
from flightsrv.kernels.reconcile import cell_wins, is_live
from flightsrv.slab import ABSENT, LIVENESS_EXPIRES_S, LIVENESS_TTL_S, LIVENESS_US, NO_TIMESTAMP

# Values of MergeRules.cell_kind.
SIMPLE, COUNTER, LIST, SET, MAP, UDT = range(6)

# Behind an element's own fields in MergeState.elements: where the run's next one is, where its last one ends, and how
# many it has from the one at hand on.
NEXT_AT, END_AT, LEFT = range(ELEMENT_FIELDS, ELEMENT_FIELDS + 3)
CURSOR_ELEMENT_FIELDS = ELEMENT_FIELDS + 3

NO_ROOM = -2
"""Size of a value that the memory for made values has no room for."""


@kernel
def next_element(slabs, state, rules, run):
    """Go to the next element of a run; LEFT is 0 behind the last one."""
    element = state.elements[run]
    element[LEFT] -= 1
    if element[LEFT] <= 0:
        return
    row = state.row[run]
    element[NEXT_AT] = element_from(
        element[NEXT_AT],
        element[END_AT],
        slabs.rows[run, row, LIVENESS_US],
        slabs.rows[run, row, LIVENESS_TTL_S],
        slabs.rows[run, row, LIVENESS_EXPIRES_S],
        rules.run_numbers[run],
        element,
    )


@kernel
def begin_elements(slabs, state, rules, count, cell, active_us):
    """Go to each version's first element. Returns the timestamp up to which elements are deleted.

    active_us: the deletion of the row and above. A row that is the only version, with no deletion above, is shown as it
    is read, and reading keeps elements that are as old as their own collection's deletion.
    """
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    deleted_us = np.int64(NO_TIMESTAMP)
    for i in range(count):
        run = state.versions[i]
        row = state.row[run]
        element = state.elements[run]
        element[LEFT] = 0
        size = np.int64(slabs.size[run, value, row])
        if size == ABSENT:
            continue
        deletion_us = slabs.cell_us[run, cell, row]
        if deletion_us > deleted_us and deletion_us > rules.dropped_us[cell]:
            deleted_us = deletion_us
        element[NEXT_AT] = slabs.at[run, value, row]
        element[END_AT] = element[NEXT_AT] + size
        element[LEFT] = np.int64(slabs.cell_ttl_s[run, cell, row]) + 1
        next_element(slabs, state, rules, run)
    if count == 1 and active_us == NO_TIMESTAMP and deleted_us != NO_TIMESTAMP:
        deleted_us -= 1
    return max(deleted_us, active_us, rules.dropped_us[cell])


@kernel
def find_equals(state, rules, count, cell):
    """The versions whose element at hand has the first path of all, into state.equals. Returns their count."""
    found = 0
    for i in range(count):
        run = state.versions[i]
        if state.elements[run, LEFT] <= 0:
            continue
        order = np.int64(-1)
        if found:
            first = state.equals[0]
            order = np.int64(
                compare_values(
                    rules.path_comparators[cell],
                    state.elements[run, PATH_AT],
                    state.elements[run, PATH_SIZE],
                    state.elements[first, PATH_AT],
                    state.elements[first, PATH_SIZE],
                    rules.orders,
                )
            )
        if order < 0:
            found = 0
        if order <= 0:
            state.equals[found] = run
            found += 1
    return found


@kernel
def winning_element(state, equals, deleted_us):
    """The run whose element wins among the equals, -1 if all are deleted."""
    best = np.int64(-1)
    for i in range(equals):
        run = state.equals[i]
        a = state.elements[run]
        if a[ELEMENT_US] <= deleted_us:
            continue
        b = state.elements[max(best, 0)]
        if best < 0 or cell_wins(
            a[ELEMENT_US], a[ELEMENT_TTL_S], a[ELEMENT_EXPIRES_S], a[VALUE_AT], a[VALUE_SIZE],
            b[ELEMENT_US], b[ELEMENT_TTL_S], b[ELEMENT_EXPIRES_S], b[VALUE_AT], b[VALUE_SIZE],
        ):  # fmt: skip
            best = run
    return best


@kernel
def _write_element(place, kind, element):
    if kind == SET or kind == MAP:
        place = write_sized(place, element[PATH_AT], element[PATH_SIZE])
    if kind != SET:
        place = write_sized(place, element[VALUE_AT], element[VALUE_SIZE])
    return place


@kernel
def merge_complex(slabs, state, rules, count, cell, active_us, place, end):
    """Reconcile `count` versions of a complex column, and write what a reader sees between two addresses.

    slabs, state, rules: as in kernels/walk.py; state.versions are the runs that have the row. Returns the size of the
    value, ABSENT when no element is left, NO_ROOM.
    """
    start = place
    kind = np.int64(rules.cell_kind[cell])
    field_count = np.int64(rules.field_count[cell])
    if end - place < 4 + 4 * field_count:
        return np.int64(NO_ROOM)
    if kind != UDT:
        place += 4
    made = np.int64(0)
    next_field = np.int64(0)
    deleted_us = begin_elements(slabs, state, rules, count, cell, active_us)
    while True:
        equals = find_equals(state, rules, count, cell)
        if equals == 0:
            break
        run = winning_element(state, equals, deleted_us)
        if run >= 0:
            element = state.elements[run]
            if is_live(element[ELEMENT_TTL_S], element[ELEMENT_EXPIRES_S], rules.now_s):
                if end - place < 8 + element[PATH_SIZE] + element[VALUE_SIZE] + 4 * field_count:
                    return np.int64(NO_ROOM)
                if kind == UDT:
                    place = write_nulls(place, next_field, load_be16(element[PATH_AT]))
                    next_field = load_be16(element[PATH_AT]) + 1
                place = _write_element(place, kind, element)
                made += 1
        for i in range(equals):
            next_element(slabs, state, rules, state.equals[i])
    if made == 0:
        return np.int64(ABSENT)
    if kind == UDT:
        place = write_nulls(place, next_field, field_count)
    else:
        store_be32(start, made)
    return place - start
