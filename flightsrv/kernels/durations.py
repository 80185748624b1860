"""duration: months, days and nanoseconds, each a signed vint, all of one sign; as three numbers, or as CQL's text.

Source: org.apache.cassandra.serializers.DurationSerializer; cql3.Duration.toString.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.gather import WRONG_SIZE, set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, load_u8, store_8
from flightsrv.kernels.texts import put_number

DURATION_TEXT_BYTES = 96
"""More than the longest of three numbers with all units takes."""


@kernel
def _zigzag_at(place, end):
    """The signed vint at an address: (value, address behind it), or (0, -1) if it does not end in time."""
    if place >= end:
        return np.int64(0), np.int64(-1)
    first = np.int64(load_u8(place))
    extra = 0
    while extra < 8 and first & (0x80 >> extra):
        extra += 1
    if end - place < 1 + extra:
        return np.int64(0), np.int64(-1)
    word = np.uint64(first & (0xFF >> extra))
    for i in range(extra):
        word = word << np.uint64(8) | np.uint64(load_u8(place + 1 + i))
    half = np.int64(word >> np.uint64(1))
    return (~half if word & np.uint64(1) else half), place + 1 + extra


@kernel
def _put_unit(target, number, unit_1, unit_2):
    """A number and its unit of one or two letters, nothing for 0."""
    if number == 0:
        return target
    target = put_number(target, number)
    store_8(target, unit_1)
    target += 1
    if unit_2:
        store_8(target, unit_2)
        target += 1
    return target


@kernel
def _is_duration(months, days, nanoseconds):
    """Whether all have one sign, and the first two 32 bits."""
    if months < -(1 << 31) or months >= 1 << 31 or days < -(1 << 31) or days >= 1 << 31:
        return False
    return (months >= 0 and days >= 0 and nanoseconds >= 0) or (months <= 0 and days <= 0 and nanoseconds <= 0)


@kernel
def _put_duration(target, months, days, nanoseconds):
    """As Duration.toString: -1y2mo3d4h5m6s7ms8us9ns, only what is not 0."""
    if months < 0 or days < 0 or nanoseconds < 0:
        store_8(target, 45)
        target += 1
        months = abs(months)
        days = abs(days)
    # -2^63 has no positive counterpart of 64 bits with a sign.
    rest = np.uint64(~nanoseconds) + np.uint64(1) if nanoseconds < 0 else np.uint64(nanoseconds)
    target = _put_unit(target, months // 12, np.int64(121), np.int64(0))  # y
    target = _put_unit(target, months % 12, np.int64(109), np.int64(111))  # mo
    target = _put_unit(target, days, np.int64(100), np.int64(0))  # d
    target = _put_unit(target, rest // np.uint64(3_600_000_000_000), np.int64(104), np.int64(0))  # h
    target = _put_unit(target, rest // np.uint64(60_000_000_000) % np.uint64(60), np.int64(109), np.int64(0))  # m
    target = _put_unit(target, rest // np.uint64(1_000_000_000) % np.uint64(60), np.int64(115), np.int64(0))  # s
    target = _put_unit(target, rest // np.uint64(1_000_000) % np.uint64(1000), np.int64(109), np.int64(115))  # ms
    target = _put_unit(target, rest // np.uint64(1_000) % np.uint64(1000), np.int64(117), np.int64(115))  # us
    return _put_unit(target, rest % np.uint64(1000), np.int64(110), np.int64(115))  # ns


@kernel
def _duration_at(place, end):
    """(months, days, nanoseconds, whether that is what is there)."""
    months, place = _zigzag_at(place, end)
    days, place = _zigzag_at(place, end) if place >= 0 else (np.int64(0), np.int64(-1))
    nanoseconds, place = _zigzag_at(place, end) if place >= 0 else (np.int64(0), np.int64(-1))
    return months, days, nanoseconds, place == end and _is_duration(months, days, nanoseconds)


@kernel
def gather_duration_text(at, size, start, stop, offsets, out, valid, filled):
    """Durations as text; out has DURATION_TEXT_BYTES a value. Returns nulls or WRONG_SIZE."""
    nulls = 0
    base = address_of(out)
    target = base + np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] <= 0:
            nulls += 1
            set_null(valid, index)
        else:
            months, days, nanoseconds, is_duration = _duration_at(at[i], at[i] + size[i])
            if not is_duration:
                return WRONG_SIZE
            target = _put_duration(target, months, days, nanoseconds)
        offsets[index + 1] = target - base
    return nulls


@kernel
def gather_durations(at, size, start, stop, months, days, nanoseconds, valid, filled):
    """Durations as three columns, int32, int32 and int64, that have room. Returns nulls or WRONG_SIZE."""
    nulls = 0
    for i in range(start, stop):
        index = filled + i - start
        months[index] = 0
        days[index] = 0
        nanoseconds[index] = 0
        if size[i] <= 0:
            nulls += 1
            set_null(valid, index)
        else:
            months_, days_, nanoseconds_, is_duration = _duration_at(at[i], at[i] + size[i])
            if not is_duration:
                return WRONG_SIZE
            months[index] = months_
            days[index] = days_
            nanoseconds[index] = nanoseconds_
    return nulls
