from __future__ import annotations

import struct
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.numbers import write_decimal, write_varint
from flightsrv.kernels.decimal128 import DIGITS, NUMBER_LIMBS, TOO_FINE, TOO_LONG, gather_decimals
from flightsrv.kernels.gather import WRONG_SIZE
from tests.kernels.places import is_valid, places_of

pytestmark = pytest.mark.kernel

WIDE = Context(prec=200)
SCALE = 9


def gathered(
    values: list[bytes | None], has_scale: bool, scale: int, nulls_instead: bool = False
) -> int | list[Decimal | None]:
    """Values as Python's decimals, or what the kernel said instead of a count of nulls."""
    found = places_of(values)
    out = np.full((found.count + 1, 2), -1, np.int64)
    valid = np.full(found.count // 8 + 1, 255, np.uint8)
    scratch = np.full(NUMBER_LIMBS + 1, -1, np.int64)
    how = (has_scale, scale, nulls_instead, scratch)
    nulls = int(gather_decimals(found.at, found.size, 0, found.count, *how, out, valid, 0))
    if nulls < 0:
        return nulls
    assert nulls == is_valid(valid, found.count).count(False)
    assert out[-1].tolist() == [-1, -1]
    buffers = [pa.py_buffer(valid), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.decimal128(DIGITS, scale), found.count, buffers).to_pylist()


def decimal_of(value: Decimal) -> int | Decimal | None:
    made = gathered([write_decimal(value)], True, SCALE)
    return made if isinstance(made, int) else made[0]


@given(st.integers(-(10**40), 10**40), st.integers(-45, 20))
@example(10**38 - 1, 9)
@example(10**38, 9)
@example(-(10**38) + 1, 9)
@example(-(10**38), 9)
@example(10**29 - 1, 0)
@example(10**29, 0)
@example(1, -28)
@example(1, -29)
@example(10**20, 29)
@example(-(2**63), 0)
@example(2**63 - 1, 0)
@example(-(2**63), 9)
@example(-(2**32), 9)
@example(-(2**54) * 5**9, 0)
@example(15 * 10**60, 61)
@example(10**2000, 2000)
def test_a_decimal_is_exact_or_refused(unscaled: int, scale: int) -> None:
    value = Decimal(unscaled).scaleb(-scale, WIDE)
    wanted = Fraction(unscaled) * Fraction(10) ** (SCALE - scale)
    made = decimal_of(value)
    if wanted.denominator != 1:
        assert made == TOO_FINE
    elif abs(wanted) >= 10**DIGITS:
        assert made == TOO_LONG
    else:
        assert made == value


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 3))
def test_a_varint_is_itself_however_many_sign_bytes_it_has(value: int, sign_bytes: int) -> None:
    data = (b"\xff" if value < 0 else b"\0") * sign_bytes + write_varint(value)
    assert gathered([data], False, 0) == [Decimal(value)]


@pytest.mark.parametrize("value", [10**38, -(10**38), 2**127, -(2**127), 2**160, -(2**160), 256**40])
def test_a_varint_of_more_than_38_digits_is_refused(value: int) -> None:
    assert gathered([write_varint(value)], False, 0) == TOO_LONG


def test_the_largest_scales_end_at_once() -> None:
    for scale in (-(2**31), 2**31 - 1):
        one, zero = (struct.pack(">i", scale) + data for data in (b"\x01", b"\0"))
        assert gathered([zero], True, SCALE) == [Decimal(0)]
        assert gathered([one], True, SCALE) == (TOO_LONG if scale < 0 else TOO_FINE)


def test_null_and_empty_are_null() -> None:
    assert gathered([None, write_decimal(Decimal("-1.5")), b""], True, SCALE) == [None, Decimal("-1.5"), None]
    assert gathered([b"", None, b"\x80"], False, 0) == [None, None, Decimal(-128)]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_decimal_without_digits_is_malformed(size: int) -> None:
    assert gathered([bytes(size)], True, SCALE) == WRONG_SIZE


def test_a_number_that_does_not_fit_may_be_null_instead() -> None:
    values = [write_decimal(Decimal(text)) for text in ("1.5", "1E-10", "1E+30", "-2")]
    assert gathered(list(values), True, SCALE, nulls_instead=True) == [Decimal("1.5"), None, None, Decimal(-2)]
    assert gathered([b"\7", b"\x7f" * 16], False, 0, nulls_instead=True) == [Decimal(7), None]
    assert gathered([values[0], bytes(4)], True, SCALE, nulls_instead=True) == WRONG_SIZE


def test_a_number_that_would_take_too_long_to_work_out_is_too_long() -> None:
    assert gathered([bytes(4 * NUMBER_LIMBS - 1) + b"\1"], False, 0) == [Decimal(1)]
    assert gathered([bytes(4 * NUMBER_LIMBS) + b"\1"], False, 0) == TOO_LONG
