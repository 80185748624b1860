from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.vint import read_signed_vint, read_unsigned_vint, write_signed_vint, write_unsigned_vint


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8080"),
        (16383, "bfff"),
        (16384, "c04000"),
        (2**21 - 1, "dfffff"),
        (2**28 - 1, "efffffff"),
        (2**28, "f010000000"),
        (2**32, "f100000000"),
        (2**56 - 1, "feffffffffffffff"),
        (2**56, "ff0100000000000000"),
        (2**64 - 1, "ffffffffffffffffff"),
    ],
)
def test_leading_ones_count_the_bytes_that_follow(value, stored):
    assert write_unsigned_vint(value).hex() == stored
    assert read_unsigned_vint(bytes.fromhex(stored), 0) == (value, len(stored) // 2)


def test_longer_forms_are_read_too():
    assert read_unsigned_vint(bytes.fromhex("c00005"), 0) == (5, 3)


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=2), st.binary(max_size=2))
def test_reading_undoes_writing_wherever_it_stands(value, before, after):
    stored = write_signed_vint(value)
    assert read_signed_vint(before + stored + after, len(before)) == (value, len(before + stored))


@given(st.integers(0, 2**64 - 1), st.data())
def test_a_vint_that_is_cut_short_is_a_value_error(value, data):
    stored = write_unsigned_vint(value)
    cut = data.draw(st.integers(0, len(stored) - 1))
    with pytest.raises(ValueError, match="vint at byte 0"):
        read_unsigned_vint(stored[:cut], 0)
