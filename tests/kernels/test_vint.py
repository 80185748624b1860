from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.vint import read_unsigned_vint, write_unsigned_vint
from flightsrv.kernels.vint import SLACK, be16_at, be32_at, be64_at, byte_at, uvint_at

pytestmark = pytest.mark.kernel

BOUNDARIES = sorted({max(0, 2**bits + near) for bits in range(65) for near in (-1, 0, 1)} - {2**64, 2**64 + 1})
LONGER_THAN_NEEDED = ["8000", "c00001", "e0000001", "f000000002", "ff00000000000000ff"]


def vint(data: bytes, at: int = 0) -> tuple[int, int]:
    value, after = uvint_at(np.frombuffer(data + b"\xff" * SLACK, np.uint8), at)
    return int(value), int(after)


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


@pytest.mark.parametrize("value", BOUNDARIES)
def test_every_length_at_its_boundaries(value: int) -> None:
    data = write_unsigned_vint(value)
    assert vint(data) == (signed(value), len(data))


@pytest.mark.parametrize("data", LONGER_THAN_NEEDED)
def test_a_longer_form_than_needed_is_read(data: str) -> None:
    value, after = read_unsigned_vint(bytes.fromhex(data), 0)
    assert vint(bytes.fromhex(data)) == (value, after)


@given(st.binary(max_size=12), st.binary(min_size=9, max_size=9))
def test_any_bytes_are_the_vint_that_plain_python_reads(before: bytes, data: bytes) -> None:
    value, after = read_unsigned_vint(before + data, len(before))
    assert vint(before + data, len(before)) == (signed(value), after)


@given(st.binary(min_size=8, max_size=8))
def test_big_endian_numbers(data: bytes) -> None:
    array = np.frombuffer(b"\xff" + data, np.uint8)
    assert byte_at(array, 1) == data[0]
    assert be16_at(array, 1) == int.from_bytes(data[:2], "big")
    assert be32_at(array, 1) == int.from_bytes(data[:4], "big")
    assert be64_at(array, 1) == int.from_bytes(data, "big", signed=True)
