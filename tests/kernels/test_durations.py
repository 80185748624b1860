from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.vint import write_signed_vint
from flightsrv.kernels.durations import DURATION_TEXT_BYTES, gather_duration_text, gather_durations
from flightsrv.kernels.gather import WRONG_SIZE
from tests.kernels.gathered import texts
from tests.kernels.places import is_valid, places_of

pytestmark = pytest.mark.kernel

MINUTE, HOUR = 60 * 10**9, 3600 * 10**9


def durations(*values: bytes | None) -> list[str | None] | int:
    return texts(gather_duration_text, values, DURATION_TEXT_BYTES)


def numbers(*values: bytes | None) -> list[tuple[int, ...] | None] | int:
    found = places_of(values)
    columns = [np.full(found.count + 1, 0x5A, width) for width in (np.int32, np.int32, np.int64)]
    valid = np.full(found.count // 8 + 1, 255, np.uint8)
    nulls = int(gather_durations(found.at, found.size, 0, found.count, *columns, valid, 0))
    if nulls < 0:
        return nulls
    assert [column[-1] for column in columns] == [0x5A] * 3
    validity = is_valid(valid, found.count)
    assert nulls == validity.count(False)
    rows = zip(*(column[:-1].tolist() for column in columns), strict=True)
    return [row if there else None for row, there in zip(rows, validity, strict=True)]


def duration(months: int, days: int, nanoseconds: int) -> bytes:
    return b"".join(map(write_signed_vint, (months, days, nanoseconds)))


def test_null_and_empty_are_null() -> None:
    assert durations(b"", duration(1, 2, 3), None) == [None, "1mo2d3ns", None]
    assert numbers(b"", duration(1, 2, 3), None) == [None, (1, 2, 3), None]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((0, 0, 0), ""),
        ((14, 3, 4 * HOUR + 5 * MINUTE + 6 * 10**9 + 7_008_009), "1y2mo3d4h5m6s7ms8us9ns"),
        ((-14, -3, -1), "-1y2mo3d1ns"),
        ((0, -1, 0), "-1d"),
        ((12, 0, HOUR), "1y1h"),
        ((2**31 - 1, 2**31 - 1, 2**63 - 1), "178956970y7mo2147483647d2562047h47m16s854ms775us807ns"),
        ((-(2**31), -(2**31), -(2**63)), "-178956970y8mo2147483648d2562047h47m16s854ms775us808ns"),
    ],
)
def test_a_duration_is_written_as_cql_does(parts: tuple[int, int, int], text: str) -> None:
    assert durations(duration(*parts)) == [text]
    assert numbers(duration(*parts)) == [parts]


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), st.sampled_from([1, -1]))
@example(2**31 - 1, 2**31 - 1, 2**63 - 1, -1)
def test_a_durations_text_adds_up_to_it(months: int, days: int, nanoseconds: int, sign: int) -> None:
    stored = duration(sign * months, sign * days, sign * nanoseconds)
    assert numbers(stored) == [(sign * months, sign * days, sign * nanoseconds)]
    made = durations(stored)
    assert isinstance(made, list)
    text = made[0] or ""
    assert text.startswith("-") == (sign < 0 and (months, days, nanoseconds) != (0, 0, 0))
    assert parsed(text.lstrip("-")) == (months, days, nanoseconds)


UNITS = {"y": (12, 0, 0), "mo": (1, 0, 0), "d": (0, 1, 0), "h": (0, 0, HOUR), "m": (0, 0, MINUTE), "s": (0, 0, 10**9)}
UNITS |= {"ms": (0, 0, 10**6), "us": (0, 0, 1000), "ns": (0, 0, 1)}


def parsed(text: str) -> tuple[int, ...]:
    total = (0, 0, 0)
    for count, unit in re.findall(r"(\d+)([a-z]+)", text):
        total = tuple(sum(pair) for pair in zip(total, (int(count) * part for part in UNITS[unit]), strict=True))
    return total


@pytest.mark.parametrize(
    "value",
    [
        b"\x02",
        b"\x02\x02",
        b"\x02\x02\x02\x02",
        b"\x02\x02\xff",
        b"\x02\x02" + b"\xff" * 8,
        duration(2**31, 0, 0),
        duration(0, -(2**31) - 1, 0),
        duration(-(2**63), 0, 0),
        duration(1, -1, 0),
        duration(0, -1, 1),
        duration(-1, 0, 1),
    ],
)
def test_bytes_that_are_no_duration_are_refused(value: bytes) -> None:
    assert durations(value) == numbers(value) == WRONG_SIZE
