"""The versions of a counter in one row, to its value.

    context := i16 n, then |n| x i16 (index of a shard that is not remote; + -32768 if it is global), then shards
    shard   := id (16 bytes), i64 clock, i64 count        sorted by id, as unsigned bytes

Each node that counted has a shard, of which the newest is true; the value is the sum of their counts.

Source: org.apache.cassandra.db.context.CounterContext, db.rows.Cells.resolveCounter.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.complex import END_AT, LEFT, NEXT_AT
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import compare, load_be16, load_be64
from flightsrv.slab import ABSENT, TOMBSTONE_TTL

_REMOTE, _LOCAL, _GLOBAL = range(3)
_SHARD_BYTES = 32

# What state.elements holds of a version's context while shards are merged: beside NEXT_AT, END_AT and LEFT, the next
# entry of the header, how many entries are left, the shard's index, and whether local shards count as remote.
_ENTRY_AT, _ENTRIES_LEFT, _INDEX, _ARE_REMOTE = range(4)


@kernel
def _begin_context(version, at, size):
    """Go to a context's first shard. Returns whether it is one."""
    version[LEFT] = 0
    if size < 2:
        return size == 0
    entries = load_be16(at)
    version[_ARE_REMOTE] = 1 if entries > 32767 else 0  # negative: the local shards are to be cleared
    if entries > 32767:
        entries = 65536 - entries
    shards_bytes = size - 2 - 2 * entries
    if shards_bytes < 0 or shards_bytes % _SHARD_BYTES:
        return False
    version[_ENTRY_AT] = at + 2
    version[_ENTRIES_LEFT] = entries
    version[_INDEX] = 0
    version[NEXT_AT] = at + 2 + 2 * entries
    version[END_AT] = at + size
    version[LEFT] = shards_bytes // _SHARD_BYTES
    return True


@kernel
def _kind(version):
    """Of the shard at hand: the header lists those that are not remote, by their index."""
    while version[_ENTRIES_LEFT] > 0:
        entry = load_be16(version[_ENTRY_AT])
        index = entry & 0x7FFF
        if index > version[_INDEX]:
            break
        if index == version[_INDEX]:
            if entry & 0x8000:
                return _GLOBAL
            return _REMOTE if version[_ARE_REMOTE] else _LOCAL
        version[_ENTRY_AT] += 2
        version[_ENTRIES_LEFT] -= 1
    return _REMOTE


@kernel
def _is_newer(kind, a_clock, a_count, b_clock, b_count):
    """Whether shard a replaces b, which is of the same kind and node. A remote one with a negative clock was to be
    forgotten: it is newer than all others, and the newer the more negative."""
    if kind == _REMOTE and (a_clock < 0 or b_clock < 0):
        if a_clock >= 0 or b_clock >= 0:
            return a_clock < 0
        if a_clock != b_clock:
            return a_clock < b_clock
    elif a_clock != b_clock:
        return a_clock > b_clock
    return a_count > b_count


@kernel
def _count_next(state, count):
    """What the next node of all versions counted. Returns (whether there is one, its count)."""
    first = np.int64(-1)
    for i in range(count):
        run = state.equals[i]
        if state.elements[run, LEFT] > 0:
            if first < 0 or compare(state.elements[run, NEXT_AT], state.elements[first, NEXT_AT], 16) < 0:
                first = run
    if first < 0:
        return False, np.int64(0)
    id_at = state.elements[first, NEXT_AT]
    best_kind = np.int64(-1)
    best_clock = np.int64(0)
    best_count = np.int64(0)
    for i in range(count):
        version = state.elements[state.equals[i]]
        if version[LEFT] <= 0 or compare(version[NEXT_AT], id_at, 16) != 0:
            continue
        kind = np.int64(_kind(version))
        clock = np.int64(load_be64(version[NEXT_AT] + 16))
        counted = np.int64(load_be64(version[NEXT_AT] + 24))
        if kind == _LOCAL and best_kind == _LOCAL:
            best_clock += clock
            best_count += counted
        elif kind > best_kind or (kind == best_kind and _is_newer(kind, clock, counted, best_clock, best_count)):
            best_kind = kind
            best_clock = clock
            best_count = counted
        version[NEXT_AT] += _SHARD_BYTES
        version[_INDEX] += 1
        version[LEFT] -= 1
    return True, best_count


@kernel
def _find_counting(slabs, state, count, cell, active_us):
    """The versions that count, into state.equals. Returns how many, 0 when the counter is deleted: a tombstone beats
    any count, whatever their timestamps."""
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    counting = 0
    for i in range(count):
        run = state.versions[i]
        row = state.row[run]
        if slabs.size[run, value, row] == ABSENT or slabs.cell_us[run, cell, row] <= active_us:
            continue
        if slabs.cell_ttl_s[run, cell, row] == TOMBSTONE_TTL:
            return 0
        state.equals[counting] = run
        counting += 1
    return counting


@kernel
def merge_counter(slabs, state, count, cell, active_us):
    """The value of a counter that `count` versions of a row have. Returns (whether it is seen, value, run).

    state.versions are the runs that have the row. run is -1, or a run whose bytes are no counter context.
    """
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    counting = _find_counting(slabs, state, count, cell, active_us)
    for i in range(counting):
        run = state.equals[i]
        row = state.row[run]
        size = np.int64(slabs.size[run, value, row])
        if not _begin_context(state.elements[run], slabs.at[run, value, row], size):
            return True, np.int64(0), run
    total = np.int64(0)
    more = counting > 0
    while more:
        more, counted = _count_next(state, counting)
        total += counted
    return counting > 0, total, np.int64(-1)
