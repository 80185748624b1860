from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.kernels.murmur3 import MIN_TOKEN, tokens_of
from tests.reference.ordering import murmur3_token

pytestmark = pytest.mark.kernel

TAIL = bytes(range(0xF0, 0x100)) + b"\x81\x01"


def tokens(*keys: bytes) -> list[int]:
    size = np.array([len(key) for key in keys], np.int64)
    start = np.cumsum([0, *size])[:-1].astype(np.int64)
    out = np.zeros(len(keys), np.int64)
    tokens_of(np.frombuffer(b"".join(keys) + b"\xff", np.uint8), start, size, out)
    return out.tolist()


@pytest.mark.parametrize(
    ("key", "token"),
    [
        (b"0", 3083240331115144064),
        (b"123", -7468325962851647638),
        (b"a" * 16, -954455200256842034),
        (b"\x80", -5284281814142962636),
        (b"\xff" * 4, 7297452126230313552),
        (TAIL, 3992328536181576592),
    ],
)
def test_tokens_are_those_that_cassandra_computes(key: bytes, token: int) -> None:
    assert tokens(key) == [token]


def test_an_empty_key_has_the_least_token() -> None:
    assert tokens(b"", b"0", b"") == [int(MIN_TOKEN), 3083240331115144064, int(MIN_TOKEN)]


@pytest.mark.parametrize("size", range(1, 50))
def test_every_length_around_blocks_and_tails(size: int) -> None:
    keys = [bytes([byte]) * size for byte in (0x00, 0x7F, 0x80, 0xFF)]
    assert tokens(*keys) == [murmur3_token(key) for key in keys]


@given(st.lists(st.binary(min_size=1, max_size=70), min_size=1, max_size=5))
def test_tokens_are_those_of_plain_python(keys: list[bytes]) -> None:
    assert tokens(*keys) == [murmur3_token(key) for key in keys]
