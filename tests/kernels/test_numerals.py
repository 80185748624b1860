from __future__ import annotations

import struct
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.numbers import write_varint
from flightsrv.kernels.decimal128 import NUMBER_LIMBS, TOO_LONG
from flightsrv.kernels.gather import WRONG_SIZE
from flightsrv.kernels.numerals import GROUPS, NUMERAL_BYTES, NUMERAL_GROWTH, gather_numerals
from tests.kernels.gathered import texts

pytestmark = pytest.mark.kernel

LONGEST = 4 * NUMBER_LIMBS
"""Bytes."""


def numerals(*values: bytes | None, has_scale: bool, nulls_instead: bool = False) -> list[str | None] | int:
    limbs, groups = np.full(NUMBER_LIMBS + 1, -1, np.int64), np.full(GROUPS, -1, np.int64)
    how = (has_scale, nulls_instead, limbs, groups)
    return texts(gather_numerals, values, NUMERAL_BYTES, NUMERAL_GROWTH, how)


def varints(*values: bytes | None) -> list[str | None] | int:
    return numerals(*values, has_scale=False)


def decimals(*values: bytes | None) -> list[str | None] | int:
    return numerals(*values, has_scale=True)


def stored(unscaled: int, scale: int) -> bytes:
    return struct.pack(">i", scale) + write_varint(unscaled)


EDGES = [10**digits + more for digits in (0, 8, 9, 10, 17, 18, 19, 27, 100) for more in (-1, 0, 1)]
EDGES += [2**bits + more for bits in (7, 8, 31, 32, 63, 64, 127, 160) for more in (-1, 0, 1)]
INTEGERS = st.integers() | st.integers(-(10**300), 10**300) | st.sampled_from([*EDGES, *(-edge for edge in EDGES)])


@given(st.lists(INTEGERS, max_size=5), st.integers(0, 3))
def test_a_varint_is_its_digits_however_many_sign_bytes_it_has(numbers: list[int], sign_bytes: int) -> None:
    values = [(b"\xff" if number < 0 else b"\0") * sign_bytes + write_varint(number) for number in numbers]
    assert varints(*values) == [str(number) for number in numbers]


@pytest.mark.parametrize(
    ("unscaled", "scale", "text"),
    [
        (0, 0, "0"),
        (0, 2, "0.00"),
        (0, 6, "0.000000"),
        (0, 7, "0E-7"),
        (0, -3, "0E+3"),
        (-150, 2, "-1.50"),
        (123, 3, "0.123"),
        (123, 8, "0.00000123"),
        (123, 9, "1.23E-7"),
        (1, 6, "0.000001"),
        (1, 7, "1E-7"),
        (-1, 7, "-1E-7"),
        (123, -5, "1.23E+7"),
        (10, -1, "1.0E+2"),
        (1, -1, "1E+1"),
        (1, 2**31 - 1, "1E-2147483647"),
        (1, -(2**31), "1E+2147483648"),
        (12, -(2**31), "1.2E+2147483649"),
        (1234567890123456789012345678901234567890, 20, "12345678901234567890.12345678901234567890"),
    ],
)
def test_a_decimal_is_written_as_java_does(unscaled: int, scale: int, text: str) -> None:
    """What java.math.BigDecimal(unscaled, scale).toString() gives."""
    assert decimals(stored(unscaled, scale)) == [text]


@given(INTEGERS, st.integers(-30, 30) | st.integers(-(2**31), 2**31 - 1))
@example(10**18, 24)
@example(-(10**26), 9)
def test_a_decimals_text_tells_every_digit_and_the_scale(unscaled: int, scale: int) -> None:
    made = decimals(stored(unscaled, scale))
    assert isinstance(made, list)
    sign, digits, exponent = Decimal(made[0] or "").as_tuple()
    assert (int("".join(map(str, digits))) * (1 - 2 * sign), exponent) == (unscaled, -scale)


@given(INTEGERS, st.integers(-30, 40))
def test_a_decimals_text_is_the_one_pythons_decimals_have(unscaled: int, scale: int) -> None:
    assert decimals(stored(unscaled, scale)) == [str(Decimal(unscaled).scaleb(-scale, Context(prec=400)))]


def test_null_and_empty_are_null() -> None:
    assert varints(b"", None, b"\x80") == [None, None, "-128"]
    assert decimals(None, stored(-15, 1), b"") == [None, "-1.5", None]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_decimal_without_digits_is_malformed(size: int) -> None:
    assert decimals(bytes(size)) == WRONG_SIZE


def test_a_number_that_would_take_too_long_to_work_out_is_refused_or_null() -> None:
    longest, longer = b"\x7f" * LONGEST, b"\x7f" * (LONGEST + 1)
    digits = Decimal(int.from_bytes(longest, "big"))  # int(text) and str(int) have a limit, Decimal has not
    assert varints(longest) == [str(digits)]
    assert varints(longer) == TOO_LONG
    assert decimals(bytes(4) + longer) == TOO_LONG
    made = numerals(bytes(4) + longest, bytes(4) + longer, b"\0\0\0\0\1", has_scale=True, nulls_instead=True)
    assert made == [str(digits), None, "1"]
