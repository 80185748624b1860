"""Where partitions lie in Data.db, and whether rows stand where its index says.

`survey` goes from the head of one row or marker to that of the next and never looks at cells, so that it costs little
beside decode, which reads them.

Source: org.apache.cassandra.io.sstable.format.SortedTablePartitionWriter, db.rows.UnfilteredSerializer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.cells import deletion_time_of
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, compare
from flightsrv.kernels.order import ANY_ORDER, compare_keys
from flightsrv.kernels.prefixes import DAMAGED, ENDS_EARLY, bound_end, clustering_end, deletion_at
from flightsrv.kernels.run import KEY_COMPARATOR, MIN_TIMESTAMP_US, STATIC_COLUMNS, TOKENS, UNSIGNED_DELETION_TIME
from flightsrv.kernels.scalars import sign
from flightsrv.kernels.status import CORRUPT, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.tokens import token_halves
from flightsrv.kernels.vint import be16_at, byte_at, uvint_at
from flightsrv.slab import (
    CLUSTERING,
    EXCL_END_BOUND,
    EXCL_START_BOUND,
    INCL_END_BOUND,
    INCL_START_BOUND,
    NO_DELETION_TIME,
    NO_TIMESTAMP,
)

_END_OF_PARTITION, _IS_MARKER, _EXTENSION = 1, 2, 128
_MAX_MARKER_BYTES = 64
"""Four vints and some: a marker's sizes and deletions."""

# State that survey carries from call to call.
IN_PARTITION, PARTITION, TO_SKIP, BOUNDARY, OPEN_US, OPEN_S, LAST_KIND, LAST_AT, LAST_SIZE = range(9)
ODD, ODD_POSITION, SHADOWABLE_COUNT, SURVEY_STATE = range(9, 13)

# What state[ODD] says of the range tombstones at state[ODD_POSITION]; 0 is nothing.
OPENS_IN_OPEN, CLOSES_NONE, CLOSES_OTHER, NEVER_CLOSED = range(1, 5)

# What Boundaries.wrong says of the stretch of rows that ends, or the one that starts, at a boundary; 0 is nothing.
NOT_A_START, OTHER_FIRST, OTHER_LAST, OTHER_OPEN, NOT_THE_END, GAP = range(1, 7)

NOTHING, TO_FIND = -1, -2
"""In place of a kind: no stretch starts or ends there; survey is to fill in with what."""


class Partitions(NamedTuple):
    """What survey found, a place a partition: int64 (n,) each."""

    position: np.ndarray[Any, Any]
    key_at: np.ndarray[Any, Any]
    """Address."""
    key_size: np.ndarray[Any, Any]
    header_length: np.ndarray[Any, Any]
    """From its start to its first row or marker."""
    deletion_us: np.ndarray[Any, Any]
    deletion_s: np.ndarray[Any, Any]


class Boundaries(NamedTuple):
    """Ends and starts of the stretches (index blocks) that row indexes cut partitions into, by position.

    int64 (n,) each. The first and the last clustering or bound of a stretch by its kind, NOTHING where no stretch
    starts or ends, and the address and size of what follows the kind. Where an index has none, their kind is TO_FIND,
    and survey fills in what it finds; that is valid as long as its window.
    """

    entry_offset: np.ndarray[Any, Any]
    """Where in Index.db or Rows.db the entry starts that has them."""
    partition: np.ndarray[Any, Any]
    """Position of the partition that is cut, as the index says."""
    position: np.ndarray[Any, Any]
    first_kind: np.ndarray[Any, Any]
    first_at: np.ndarray[Any, Any]
    first_size: np.ndarray[Any, Any]
    last_kind: np.ndarray[Any, Any]
    last_at: np.ndarray[Any, Any]
    last_size: np.ndarray[Any, Any]
    open_us: np.ndarray[Any, Any]
    """Of the range deletion that is open there."""
    open_s: np.ndarray[Any, Any]
    separator_at: np.ndarray[Any, Any]
    """Address of what Rows.db has between the forms of the last and the first prefix."""
    separator_size: np.ndarray[Any, Any]
    wrong: np.ndarray[Any, Any]


@kernel
def _check_ended(boundaries, i, state):
    """Compare the stretch that ends at boundary i with the row before it."""
    if boundaries.last_kind[i] == TO_FIND:
        boundaries.last_kind[i] = state[LAST_KIND]
        boundaries.last_at[i], boundaries.last_size[i] = state[LAST_AT], state[LAST_SIZE]
    elif boundaries.last_kind[i] != NOTHING:
        is_same = boundaries.last_kind[i] == state[LAST_KIND] and boundaries.last_size[i] == state[LAST_SIZE]
        if not is_same or compare(boundaries.last_at[i], state[LAST_AT], state[LAST_SIZE]) != 0:
            boundaries.wrong[i] = OTHER_LAST
            return
    if boundaries.open_us[i] != state[OPEN_US] or boundaries.open_s[i] != state[OPEN_S]:
        boundaries.wrong[i] = OTHER_OPEN


@kernel
def _check_first(boundaries, i, kind, body_at, body_size):
    """Compare the stretch that starts at boundary i with the row that does. Returns whether it is the same."""
    if boundaries.first_kind[i] == TO_FIND:
        boundaries.first_kind[i], boundaries.first_at[i], boundaries.first_size[i] = kind, body_at, body_size
        return True
    is_same = boundaries.first_kind[i] == kind and boundaries.first_size[i] == body_size
    return is_same and compare(boundaries.first_at[i], body_at, body_size) == 0


@kernel
def _check_start(boundaries, position, kind, body_at, body_size, state):
    """Compare the boundaries up to `position`, where a row or marker starts, with it and with the one before it.

    Those of a partition that is not there are passed by.
    """
    i = state[BOUNDARY]
    while i < boundaries.position.size and boundaries.position[i] <= position:
        if boundaries.wrong[i] == 0 and boundaries.partition[i] == state[PARTITION]:
            if boundaries.position[i] < position:
                boundaries.wrong[i] = NOT_A_START
            elif boundaries.first_kind[i] == NOTHING:
                boundaries.wrong[i] = NOT_THE_END
            elif not _check_first(boundaries, i, kind, body_at, body_size):
                boundaries.wrong[i] = OTHER_FIRST
            else:
                _check_ended(boundaries, i, state)
        i += 1
    state[BOUNDARY] = i


@kernel
def _check_end(boundaries, position, state):
    """Compare what boundaries are left of a partition with its end, whose marker is at `position`. In Index.db it may
    lie before the last boundary or behind it."""
    i = state[BOUNDARY]
    while i < boundaries.position.size and boundaries.partition[i] <= state[PARTITION]:
        if boundaries.wrong[i] == 0 and boundaries.partition[i] == state[PARTITION]:
            end = position if boundaries.last_kind[i] == TO_FIND else position + 1
            is_end = position <= boundaries.position[i] <= end
            if not is_end or boundaries.first_kind[i] != NOTHING:
                boundaries.wrong[i] = NOT_A_START
            else:
                _check_ended(boundaries, i, state)
        i += 1
    state[BOUNDARY] = i


@kernel
def _note_odd(state, what, position):
    if state[ODD] == 0:
        state[ODD] = what
        state[ODD_POSITION] = position


@kernel
def _head(data, at, stop, header):
    """A partition's key, deletion and the head of its static row.

    Returns (the index behind, or ENDS_EARLY or DAMAGED; deletion µs; s; bytes of the static row that follow).
    """
    us, s = np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if at + 2 > stop:
        return ENDS_EARLY, us, s, 0
    size = be16_at(data, at)
    at, us, s = deletion_at(data, at + 2 + size, stop, header.numbers[UNSIGNED_DELETION_TIME])
    if at < 0 or not header.numbers[STATIC_COLUMNS]:
        return at, us, s, 0
    if at + 3 > stop:
        return ENDS_EARLY, us, s, 0
    flags = byte_at(data, at)
    if flags & (_END_OF_PARTITION | _IS_MARKER) or not flags & _EXTENSION or byte_at(data, at + 1) != 1:
        return DAMAGED, us, s, 0
    size, at = uvint_at(data, at + 2)
    if at > stop:
        return ENDS_EARLY, us, s, 0
    return (at if size > 0 else DAMAGED), us, s, size


@kernel
def _row(data, at, stop, flags, header, state):
    """A row behind its flags: (the index behind its size, or ENDS_EARLY or DAMAGED; its clustering's place; its
    size)."""
    if flags & _EXTENSION:
        state[SHADOWABLE_COUNT] += 1  # no other flag of a row's is there
        at += 1
    start = at
    sizes = header.clustering_size
    at = clustering_end(data, at, stop, sizes, sizes.size)
    if at < 0:
        return at, start, start, 0
    body = at
    if at >= stop:
        return ENDS_EARLY, start, body, 0
    size, at = uvint_at(data, at)
    if at > stop:
        return ENDS_EARLY, start, body, 0
    return (at if size > 0 else DAMAGED), start, body, size


@kernel
def _marker_end(data, at, stop, header):
    """A marker from its kind on: (the index behind its bound; the one behind its size; the one behind all of it)."""
    bound = bound_end(data, at, stop, header.clustering_size)
    if bound < 0:
        return bound, bound, bound
    if bound >= stop:
        return ENDS_EARLY, ENDS_EARLY, ENDS_EARLY
    size, after = uvint_at(data, bound)
    if after > stop or (0 < size <= _MAX_MARKER_BYTES and size > stop - after):
        return ENDS_EARLY, ENDS_EARLY, ENDS_EARLY
    if size <= 0 or size > _MAX_MARKER_BYTES:
        return DAMAGED, DAMAGED, DAMAGED
    return bound, after, after + size


@kernel
def _apply_marker(data, at, end, kind, header, state, position):
    """Close and open ranges as a marker says, from behind its size on. Returns False if it does not end with `end`."""
    _, at = uvint_at(data, at)
    closes = kind in (EXCL_END_BOUND, INCL_END_BOUND)
    opens = kind in (INCL_START_BOUND, EXCL_START_BOUND)
    if not opens:
        us, at = uvint_at(data, at)
        delta, at = uvint_at(data, at) if at < end else (np.int64(0), end + 1)
        us += header.numbers[MIN_TIMESTAMP_US]
        if state[OPEN_US] == NO_TIMESTAMP:
            _note_odd(state, CLOSES_NONE, position)
        elif us != state[OPEN_US] or deletion_time_of(delta, header.numbers) != state[OPEN_S]:
            _note_odd(state, CLOSES_OTHER, position)
        state[OPEN_US], state[OPEN_S] = NO_TIMESTAMP, NO_DELETION_TIME
    if not closes:
        us, at = uvint_at(data, at) if at < end else (np.int64(0), end + 1)
        delta, at = uvint_at(data, at) if at < end else (np.int64(0), end + 1)
        if state[OPEN_US] != NO_TIMESTAMP:
            _note_odd(state, OPENS_IN_OPEN, position)
        state[OPEN_US] = us + header.numbers[MIN_TIMESTAMP_US]
        state[OPEN_S] = deletion_time_of(delta, header.numbers)
    return at == end


@kernel
def _begin(data, at, stop, position, header, state, made, partitions):
    """Enter the partition at index `at` of data, at `position`. Returns the index behind its head, or ENDS_EARLY or
    DAMAGED."""
    after, us, s, static_size = _head(data, at, stop, header)
    if after < 0:
        return after
    partitions.position[made] = position
    partitions.key_at[made] = address_of(data) + at + 2
    partitions.key_size[made] = be16_at(data, at)
    partitions.header_length[made] = after - at + static_size
    partitions.deletion_us[made] = us
    partitions.deletion_s[made] = s
    state[IN_PARTITION] = 1
    state[PARTITION] = position
    state[TO_SKIP] = static_size
    state[OPEN_US], state[OPEN_S] = NO_TIMESTAMP, NO_DELETION_TIME
    state[LAST_SIZE] = 0
    return after


@kernel
def _unfiltered(data, at, stop, position, flags, header, state, boundaries):
    """Go over a row's head, or a marker, at index `at` of data. Returns the index behind it, or ENDS_EARLY or
    DAMAGED."""
    base = address_of(data)
    if flags & _IS_MARKER:
        body_end, deletions, after = _marker_end(data, at + 1, stop, header)
        kind, body = byte_at(data, at + 1), at + 2
        size = np.int64(0)
    else:
        kind = np.int64(CLUSTERING)
        after, body, body_end, size = _row(data, at + 1, stop, flags, header, state)
        deletions = after
    if after < 0:
        return after
    _check_start(boundaries, position, kind, base + body, body_end - body, state)
    if flags & _IS_MARKER and not _apply_marker(data, deletions, after, kind, header, state, position):
        return DAMAGED
    state[LAST_KIND], state[LAST_AT], state[LAST_SIZE] = kind, base + body, body_end - body
    state[TO_SKIP] = size
    return after


@kernel
def survey(data, start, stop, position, header, state, boundaries, partitions):
    """Go over data[start:stop], which lies at `position` of the uncompressed data.

    data: uint8 (n,), stop + SLACK <= n. header: RunHeader. state: int64 (SURVEY_STATE,), zero at first; what is at
    state[LAST_AT] must outlive the window. boundaries: those from state[BOUNDARY] on have not been passed yet; what is
    wrong with them is written into them. Returns (status, stopped_at, partitions made): NEED_INPUT at the start of
    the first head that is not whole, or at stop; OUTPUT_FULL; CORRUPT at what starts no partition, row or marker.
    """
    at = start
    made = 0
    while True:
        if state[TO_SKIP] > 0:
            step = min(state[TO_SKIP], stop - at)
            state[TO_SKIP] -= step
            at += step
        if at >= stop:
            return NEED_INPUT, at, made
        place = position + at - start
        if not state[IN_PARTITION]:
            if made == partitions.position.size:
                return OUTPUT_FULL, at, made
            after = _begin(data, at, stop, place, header, state, made, partitions)
            made += 1 if after >= 0 else 0
        else:
            flags = byte_at(data, at)
            if flags & _END_OF_PARTITION:
                after = at + 1 if flags == _END_OF_PARTITION else np.int64(DAMAGED)
                state[IN_PARTITION] = 0
                _check_end(boundaries, place, state)
                if state[OPEN_US] != NO_TIMESTAMP:
                    _note_odd(state, NEVER_CLOSED, place)
            else:
                after = _unfiltered(data, at, stop, place, flags, header, state, boundaries)
        if after < 0:
            return (NEED_INPUT if after == ENDS_EARLY else CORRUPT), at, made
        at = after


@kernel
def first_out_of_order(partitions, start, stop, header):
    """The first of partitions start..stop that does not come after the one before it, or `stop`. header: RunHeader."""
    comparator, tokens = header.numbers[KEY_COMPARATOR], header.numbers[TOKENS]
    start = max(start, 1)
    if comparator == ANY_ORDER or start >= stop:
        return stop
    a, a_size = partitions.key_at[start - 1], partitions.key_size[start - 1]
    a_token, a_low = token_halves(tokens, a, a_size)
    for i in range(start, stop):
        b, b_size = partitions.key_at[i], partitions.key_size[i]
        b_token, b_low = token_halves(tokens, b, b_size)
        order = sign(a_token, b_token) if a_token != b_token else sign(a_low, b_low)
        if order > 0 or (order == 0 and compare_keys(comparator, a, a_size, b, b_size, header.orders) >= 0):
            return i
        a, a_size, a_token, a_low = b, b_size, b_token, b_low
    return stop
