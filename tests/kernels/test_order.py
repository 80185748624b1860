"""Values in the order that cql.ordering says, which spells out Cassandra's in plain Python."""

from __future__ import annotations

import struct
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flightsrv.cql.comparators import comparators_of
from flightsrv.cql.ordering import comparator_of, compare, sign_of
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from flightsrv.kernels.decimals import COMPARED_BYTES
from flightsrv.kernels.jit import MODE
from flightsrv.kernels.order import compare_values, side_of
from flightsrv.kernels.scalars import SCALARS, TOO_LONG
from flightsrv.slab import CLUSTERING
from tests.cql.strategies import SIMPLE, values
from tests.kernels.places import places_of

pytestmark = pytest.mark.kernel

TYPES = {kind: CqlType(kind) for kind in sorted(SIMPLE)} | {
    "DateType": CqlType("timestamp", class_name="DateType"),
    "LexicalUUIDType": CqlType("uuid", class_name="LexicalUUIDType"),
}
FLOATS = [0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), float("nan")]
TIMEUUIDS = st.binary(min_size=16, max_size=16).map(lambda data: data[:6] + bytes([data[6] & 0x0F | 0x10]) + data[7:])
STORED = {
    "float": st.sampled_from([struct.pack(">f", each) for each in FLOATS]) | st.binary(min_size=4, max_size=4),
    "double": st.sampled_from([struct.pack(">d", each) for each in FLOATS]) | st.binary(min_size=8, max_size=8),
    "uuid": st.binary(min_size=16, max_size=16),
    "LexicalUUIDType": st.binary(min_size=16, max_size=16),
    "timeuuid": TIMEUUIDS,
    "varint": st.binary(min_size=1, max_size=20) | st.sampled_from([b"\0\0\x01", b"\xff\xff\x80", b"\0\x80", b"\x80"]),
    "decimal": st.tuples(st.sampled_from([-3, 0, 1, 2, 9, 400]), st.binary(min_size=1, max_size=20)).map(
        lambda drawn: struct.pack(">i", drawn[0]) + drawn[1]
    ),
}
"""Bytes of a type that are not only those that CQL writes; for all others those of random values."""


def stored(name: str) -> st.SearchStrategy[bytes | None]:
    of_values = values(TYPES[name]).map(lambda value: encode(TYPES[name], value))
    return st.one_of(st.sampled_from([None, b""]), of_values, STORED.get(name, of_values))


def kernel_order(type_: CqlType, a: bytes | None, b: bytes | None) -> int:
    found = places_of([a, b])
    comparators, orders = comparators_of([type_])
    (a_at, b_at), (a_size, b_size) = found.at.tolist(), found.size.tolist()
    order = int(compare_values(comparators[0], a_at, a_size, b_at, b_size, orders))
    return (order > 0) - (order < 0)


def plain_order(type_: CqlType, a: bytes | None, b: bytes | None) -> int:
    if a is None or b is None:
        return (a is not None) - (b is not None)
    return compare(type_, a, b)


def test_there_is_a_kernel_for_every_comparator() -> None:
    assert {comparator_of(type_) for type_ in TYPES.values()} == set(range(SCALARS))


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_values_sort_as_plain_python_sorts_them(name: str, data: st.DataObject) -> None:
    a, b = data.draw(stored(name)), data.draw(stored(name))
    assert kernel_order(TYPES[name], a, b) == plain_order(TYPES[name], a, b)
    assert kernel_order(TYPES[name], a, a) == 0


@pytest.mark.parametrize("name", ["float", "double"])
def test_special_floats_are_in_the_order_of_java(name: str) -> None:
    form = {"float": ">f", "double": ">d"}[name]
    nans = {"float": ["7fc00000", "ffc00001", "7f800001"], "double": ["7ff8000000000000", "fff8000000000001"]}[name]
    smallest = {"float": 1e-45, "double": 5e-324}[name]
    numbers = [float("-inf"), -1.0, -smallest, -0.0, 0.0, smallest, 1.0, float("inf")]
    ascending = [None, b"", *(struct.pack(form, number) for number in numbers)]
    for (i, a), (j, b) in product(enumerate(ascending), repeat=2):
        assert kernel_order(TYPES[name], a, b) == (i > j) - (i < j)
    for nan in map(bytes.fromhex, nans):
        assert [kernel_order(TYPES[name], nan, other) for other in ascending] == [1] * len(ascending)
        assert [kernel_order(TYPES[name], nan, bytes.fromhex(other)) for other in nans] == [0] * len(nans)


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1), st.integers(-(10**30), 10**30))
@example(2**31 - 1, -(2**31), 1)
@example(9, 8, -(10**19))
def test_decimals_of_any_scale_sort_by_value(a_scale: int, b_scale: int, unscaled: int) -> None:
    size = unscaled.bit_length() // 8 + 1
    a, b = (struct.pack(">i", scale) + unscaled.to_bytes(size, "big", signed=True) for scale in (a_scale, b_scale))
    wanted = ((b_scale > a_scale) - (b_scale < a_scale)) * ((unscaled > 0) - (unscaled < 0))
    assert kernel_order(TYPES["decimal"], a, b) == wanted


@given(st.integers(-(10**400), 10**400), st.integers(0, 400))
def test_a_decimal_and_its_like_with_more_zeros_are_equal(unscaled: int, zeros: int) -> None:
    longer = unscaled * 10**zeros
    a = struct.pack(">i", 3) + unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    b = struct.pack(">i", 3 + zeros) + longer.to_bytes(longer.bit_length() // 8 + 1, "big", signed=True)
    assert kernel_order(TYPES["decimal"], a, b) == 0


def decimal(scale: int, unscaled: int) -> bytes:
    return struct.pack(">i", scale) + unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)


@pytest.mark.skipif(MODE == "python", reason="it would take hours")
@settings(max_examples=20)
@given(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 157_000), st.integers(-(10**30), 10**30))
@example(0, 0, 157_000, 1)
@example(1, 3, 157_000, -1)
def test_the_longest_decimals_of_a_clustering_sort_by_value(
    difference: int, scale: int, zeros: int, unscaled: int
) -> None:
    short = decimal(-zeros, unscaled)
    long = decimal(scale, unscaled * 10 ** (zeros + scale) + difference)
    assert kernel_order(TYPES["decimal"], long, short) == sign_of(difference, 0)
    assert kernel_order(TYPES["decimal"], short, long) == sign_of(0, difference)


def test_decimals_longer_than_any_clustering_are_not_decided() -> None:
    a, b = (decimal(0, 1 << bits) for bits in (8 * COMPARED_BYTES, 8 * COMPARED_BYTES + 1))
    found = places_of([a, b])
    (comparator,), orders = comparators_of([TYPES["decimal"]])
    (a_at, b_at), (a_size, b_size) = found.at.tolist(), found.size.tolist()
    compare_values(comparator, a_at, a_size, b_at, b_size, orders)
    assert orders.undecided[0] == TOO_LONG


def test_sizes_that_are_not_their_types_sort_by_bytes() -> None:
    for name, size in (("int", 3), ("float", 5), ("uuid", 15)):
        a, b = bytes(size), b"\x01" + bytes(size)
        assert kernel_order(TYPES[name], a, b) == -1


def test_bounds_stand_before_or_after_the_rows_of_their_values() -> None:
    assert [side_of(kind) for kind in range(8)] == [-1, -1, -1, -1, 0, 1, 1, 1]
    assert side_of(CLUSTERING) == 0
