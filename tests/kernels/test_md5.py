from __future__ import annotations

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.kernels.md5 import md5, random_token
from tests.kernels.places import places_of
from tests.reference.ordering import token

pytestmark = pytest.mark.kernel

KEYS = st.binary(max_size=300) | st.integers(50, 70).flatmap(lambda size: st.binary(min_size=size, max_size=size))


@given(KEYS)
@example(b"")
@example(bytes(55))
@example(bytes(56))
@example(bytes(64))
@example(b"\xff" * 65535)
def test_digests_are_those_of_md5(key: bytes) -> None:
    found = places_of([key])
    words = md5(found.at[0], len(key))
    assert b"".join(int(word).to_bytes(4, "big") for word in words) == hashlib.md5(key).digest()


@given(KEYS)
@example(b"\0")
@example(b"")
def test_halves_are_those_of_the_token_moved_down_by_2_to_the_127_less_1(key: bytes) -> None:
    found = places_of([key])
    high, low = map(int, random_token(found.at[0], len(key)))
    assert (high << 64) + low + 2**63 == token("RandomPartitioner", key) + 1 - 2**127
