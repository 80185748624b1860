from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.partitioners import PARTITIONERS, Partitioner, partitioner_of
from flightsrv.kernels.order import ANY_ORDER, STRINGS
from flightsrv.kernels.scalars import BYTES, SIGNED
from flightsrv.kernels.tokens import NO_TOKENS, token_halves
from tests.kernels.places import places_of
from tests.reference import ordering

MURMUR3, RANDOM, BYTE_ORDERED, ORDER_PRESERVING, LOCAL = (
    PARTITIONERS[f"org.apache.cassandra.dht.{name}Partitioner"]
    for name in ("Murmur3", "Random", "ByteOrdered", "OrderPreserving", "Local")
)
WITH_TOKENS = pytest.mark.parametrize("partitioner", [MURMUR3, RANDOM], ids=["Murmur3", "Random"])


@WITH_TOKENS
@given(key=st.binary(min_size=1, max_size=40))
def test_a_keys_token_is_cassandras_and_that_of_kernels(partitioner: Partitioner, key: bytes) -> None:
    token = partitioner.token(key)
    assert token == ordering.token(partitioner.class_name.rpartition(".")[2], key)
    found = places_of([key])
    assert tuple(map(int, token_halves(partitioner.tokens, found.at[0], len(key)))) == partitioner.halves(token)


def test_tokens_of_random_partitioner_go_from_0_to_2_to_the_127() -> None:
    assert RANDOM.token(b"0") == 64067091395865220333931589265234893606  # of the digest cfcd2084 95d565ef ...
    assert (RANDOM.least_token, RANDOM.greatest_token) == (-1, 2**127)
    assert RANDOM.halves(-1) == (-(2**63), -(2**63))
    assert RANDOM.halves(2**127) == (0, -(2**63) + 1)


@WITH_TOKENS
@given(data=st.data())
@example(data=None)
def test_halves_sort_as_tokens(partitioner: Partitioner, data: st.DataObject | None) -> None:
    tokens = st.integers(partitioner.least_token, partitioner.greatest_token)
    a, b = (partitioner.least_token, partitioner.greatest_token) if data is None else (data.draw(tokens) for _ in "ab")
    assert (partitioner.halves(a) < partitioner.halves(b)) == (a < b)
    assert all(-(2**63) <= half < 2**63 for token in (a, b) for half in partitioner.halves(token))


@pytest.mark.parametrize("partitioner", [BYTE_ORDERED, ORDER_PRESERVING, LOCAL])
def test_without_tokens_all_keys_have_the_same(partitioner: Partitioner) -> None:
    assert partitioner.tokens == NO_TOKENS
    assert partitioner.token(b"a") == partitioner.token(b"b")


def test_keys_of_equal_tokens_sort_by_bytes_or_strings_or_their_type() -> None:
    by = {each: each.key_comparator(SIGNED) for each in (MURMUR3, RANDOM, BYTE_ORDERED, ORDER_PRESERVING, LOCAL)}
    assert list(by.values()) == [BYTES, BYTES, BYTES, STRINGS, SIGNED]
    assert [each.compared_type("Int32Type").kind for each in (MURMUR3, LOCAL)] == ["blob", "int"]


def test_of_another_partitioner_nothing_is_known() -> None:
    assert partitioner_of("com.example.Own").key_comparator(SIGNED) == ANY_ORDER
