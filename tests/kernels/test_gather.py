from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.kernels.gather import (
    BOUND_FIELDS,
    DAY_NS,
    OUT_OF_DAY,
    READ_COUNT,
    WRONG_SIZE,
    copy_buffers,
    gather_16,
    gather_boolean,
    gather_fixed,
    gather_times,
    gather_variable,
    is_ascii,
    rows_that_fit,
    total_size,
)
from tests.kernels.places import is_valid, places_of

pytestmark = pytest.mark.kernel

FILLED = st.integers(0, 20)
"""How many values a column has before."""


def column_with(filled: int, count: int, width: int, fill: int = 0x5A) -> tuple[np.ndarray, np.ndarray]:
    """Memory and validity of a column of so many values, and one behind them that nobody may touch."""
    return np.full((filled + count + 1) * width, fill, np.uint8), np.full((filled + count) // 8 + 1, 255, np.uint8)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@given(data=st.data(), filled=FILLED)
def test_fixed_values_are_turned_to_little_endian(width: int, data: st.DataObject, filled: int) -> None:
    values = data.draw(st.lists(st.none() | st.just(b"") | st.binary(min_size=width, max_size=width), max_size=20))
    flip = data.draw(st.sampled_from([0, 1 << (8 * width - 1)])) if width < 8 else 0
    found = places_of(values)
    out, valid = column_with(filled, found.count, width)
    nulls = gather_fixed(found.at, found.size, 0, found.count, width, flip, out, valid, filled)
    wanted = [
        (int.from_bytes(value, "big") ^ flip).to_bytes(width, "little") if value else bytes(width) for value in values
    ]
    assert out.tobytes() == b"\x5a" * (filled * width) + b"".join(wanted) + b"\x5a" * width
    assert is_valid(valid, filled + found.count) == [True] * filled + [bool(value) for value in values]
    assert nulls == sum(not value for value in values)


def times(*values: bytes | None, nulls_instead: bool = False) -> int | list[int | None]:
    found = places_of(values)
    out, valid = np.full(8 * found.count, 0x5A, np.uint8), np.full(1, 255, np.uint8)
    nulls = int(gather_times(found.at, found.size, 0, found.count, nulls_instead, out, valid, 0))
    if nulls < 0:
        return nulls
    assert nulls == is_valid(valid, found.count).count(False)
    numbers = out.view(np.int64).tolist()
    assert all(number == 0 for number, there in zip(numbers, is_valid(valid, found.count), strict=True) if not there)
    return [number if there else None for number, there in zip(numbers, is_valid(valid, found.count), strict=True)]


def test_a_time_is_within_a_day() -> None:
    first, last = (struct.pack(">q", ns) for ns in (0, DAY_NS - 1))
    assert times(first, None, b"", last) == [0, None, None, DAY_NS - 1]
    for ns in (-1, DAY_NS, -(2**63), 2**63 - 1):
        beyond = struct.pack(">q", ns)
        assert times(first, beyond) == OUT_OF_DAY
        assert times(first, beyond, last, nulls_instead=True) == [0, None, DAY_NS - 1]
    assert times(b"1234567") == times(b"1234567", nulls_instead=True) == WRONG_SIZE


@given(st.lists(st.none() | st.just(b"") | st.binary(min_size=16, max_size=16), max_size=20), FILLED)
def test_values_of_16_bytes_are_copied_as_they_are(values: list[bytes | None], filled: int) -> None:
    found = places_of(values)
    out, valid = column_with(filled, found.count, 16)
    nulls = gather_16(found.at, found.size, 0, found.count, out, valid, filled)
    assert out.tobytes() == b"\x5a" * (filled * 16) + b"".join(value or bytes(16) for value in values) + b"\x5a" * 16
    assert is_valid(valid, filled + found.count) == [True] * filled + [bool(value) for value in values]
    assert nulls == sum(not value for value in values)


@given(st.lists(st.none() | st.just(b"") | st.binary(min_size=1, max_size=1), max_size=40), FILLED)
def test_booleans_are_bits_and_any_byte_but_0_is_true(values: list[bytes | None], filled: int) -> None:
    found = places_of(values)
    out, valid = column_with(filled, found.count, 1, fill=0)
    nulls = gather_boolean(found.at, found.size, 0, found.count, out, valid, filled)
    assert is_valid(out, filled + found.count) == [False] * filled + [
        bool(value) and value != b"\0" for value in values
    ]
    assert is_valid(valid, filled + found.count) == [True] * filled + [bool(value) for value in values]
    assert nulls == sum(not value for value in values)


@given(st.lists(st.none() | st.binary(max_size=20), max_size=20), FILLED, st.integers(0, 30))
def test_values_of_any_size_stand_behind_each_other(values: list[bytes | None], filled: int, before: int) -> None:
    found = places_of(values)
    content = b"".join(value or b"" for value in values)
    out, valid = np.full(before + len(content) + 1, 0x5A, np.uint8), column_with(filled, found.count, 1)[1]
    offsets = np.full(filled + found.count + 2, before, np.int32)
    assert total_size(found.size, 0, found.count) == len(content)
    nulls = gather_variable(found.at, found.size, 0, found.count, offsets, out, valid, filled)
    ends = np.cumsum([before] + [len(value or b"") for value in values])
    assert offsets[filled:-1].tolist() == ends.tolist()
    assert offsets[-1] == before
    assert out.tobytes() == b"\x5a" * before + content + b"\x5a"
    assert is_valid(valid, filled + found.count) == [True] * filled + [value is not None for value in values]
    assert nulls == values.count(None)


@pytest.mark.parametrize("wrong", [b"1", b"22", b"333", b"55555", b"88888888", b"7" * 15, b"7" * 17])
def test_a_value_of_another_size_is_refused(wrong: bytes) -> None:
    found = places_of([b"", None, wrong])
    out, valid = np.zeros(64, np.uint8), np.full(1, 255, np.uint8)
    for width in (1, 2, 4, 8):
        if len(wrong) != width:
            assert gather_fixed(found.at, found.size, 0, 3, width, 0, out, valid, 0) == WRONG_SIZE
    assert gather_16(found.at, found.size, 0, 3, out, valid, 0) == WRONG_SIZE
    if len(wrong) != 1:
        assert gather_boolean(found.at, found.size, 0, 3, out, valid, 0) == WRONG_SIZE


def test_only_the_values_asked_for_are_taken() -> None:
    found = places_of([struct.pack(">i", i) for i in range(6)])
    out, valid = column_with(0, 3, 4)
    assert gather_fixed(found.at, found.size, 2, 5, 4, 0, out, valid, 0) == 0
    assert out[:12].view("<i4").tolist() == [2, 3, 4]


@given(st.binary(max_size=70), st.integers(0, 9))
def test_ascii_has_no_high_bit(data: bytes, before: int) -> None:
    around = np.frombuffer(b"\xff" * before + data + b"\xff", np.uint8)
    assert is_ascii(around, before, before + len(data)) == data.isascii()


@pytest.mark.parametrize("at", range(19))
def test_a_high_bit_is_seen_wherever_it_is(at: int) -> None:
    data = np.zeros(19, np.uint8)
    data[at] = 0x80
    assert not is_ascii(data, 0, 19)
    assert is_ascii(data, 0, at)
    assert is_ascii(data, at + 1, 19)


VALUES = st.none() | st.binary(max_size=12) | st.integers(0, 3).map(lambda count: struct.pack(">i", count) + bytes(4))
BOUNDS = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(-1, 5), st.sampled_from([0, 2, READ_COUNT]))


def bound(fields: tuple[int, ...], value: bytes | None) -> int:
    width, growth, element, count = fields
    if not value:
        return width
    if count == READ_COUNT:
        count = min(int.from_bytes(value[:4], "big"), len(value) // 4) if len(value) >= 4 else 0
    return width + growth * len(value) + element * count


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8), st.tuples(BOUNDS, BOUNDS), st.integers(0, 60))
def test_as_many_rows_fit_as_the_budget_says_and_at_least_one(
    rows: list[tuple[bytes | None, ...]], bounds: tuple[tuple[int, ...], ...], budget: int
) -> None:
    columns = [places_of(column) for column in zip(*rows, strict=True)]
    at, size = np.stack([column.at for column in columns]), np.stack([column.size for column in columns])
    fields = np.array(bounds, np.int64)
    assert fields.shape[1] == BOUND_FIELDS
    taken, used = rows_that_fit(at, size, fields, 0, len(rows), budget)
    row_bytes = [sum(map(bound, bounds, row)) for row in rows]
    assert used == sum(row_bytes[:taken])
    assert taken == 1 or used <= budget
    assert taken == len(rows) or used + row_bytes[taken] > budget


@given(st.lists(st.binary(max_size=9), max_size=6))
def test_buffers_become_one_with_zeros_between_them(buffers: list[bytes]) -> None:
    found = places_of(buffers)
    padded = [buffer + bytes(-len(buffer) % 8) for buffer in buffers]
    places = np.cumsum([0] + [len(buffer) for buffer in padded]).astype(np.int64)
    out = np.full(int(places[-1]), 0x5A, np.uint8)
    copy_buffers(found.at, found.size.astype(np.int64), places[:-1], out)
    assert out.tobytes() == b"".join(padded)
