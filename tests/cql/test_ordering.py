from __future__ import annotations

import struct
import uuid
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql import ordering
from flightsrv.cql.ordering import comparator_of, compare
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from flightsrv.errors import SchemaError
from tests.cql.strategies import types, values

INT, TEXT = CqlType("int"), CqlType("text")


def assert_ascending(type_: CqlType, *stored: bytes):
    """Each value sorts after the one before it, both ways round."""
    for low, high in pairwise(stored):
        assert compare(type_, low, high) == -1
        assert compare(type_, high, low) == 1
    assert all(compare(type_, value, value) == 0 for value in stored)


def hexes(*texts: str) -> list[bytes]:
    return [bytes.fromhex(text) for text in texts]


def uuids(*texts: str) -> list[bytes]:
    return [uuid.UUID(text).bytes for text in texts]


@pytest.mark.parametrize("kind", ["ascii", "text", "blob", "inet", "date", "time", "duration"])
def test_bytes_are_unsigned_and_a_prefix_comes_first(kind):
    assert_ascending(CqlType(kind), *hexes("", "00", "0000", "01", "7f", "80", "80ff", "ff"))


@pytest.mark.parametrize(
    ("kind", "size"), [("tinyint", 1), ("smallint", 2), ("int", 4), ("bigint", 8), ("timestamp", 8)]
)
def test_integers_are_signed(kind, size):
    numbers = [-(1 << 8 * size - 1), -1, 0, 1, (1 << 8 * size - 1) - 1]
    assert_ascending(CqlType(kind), b"", *(number.to_bytes(size, "big", signed=True) for number in numbers))


def test_times_before_1970_come_last_in_date_type():
    stored = [number.to_bytes(8, "big", signed=True) for number in (0, 1, -2, -1)]
    assert_ascending(CqlType("timestamp", class_name="DateType"), *stored)


def test_false_comes_before_any_true():
    assert_ascending(CqlType("boolean"), *hexes("", "00", "01"))
    assert compare(CqlType("boolean"), b"\x01", b"\xff") == 0


@pytest.mark.parametrize(("kind", "float_format"), [("float", ">f"), ("double", ">d")])
def test_floats_are_in_the_order_of_java(kind, float_format):
    numbers = [float("-inf"), -1.5, -1e-30, -0.0, 0.0, 1e-30, 1.5, float("inf"), float("nan")]
    assert_ascending(CqlType(kind), b"", *(struct.pack(float_format, number) for number in numbers))


def test_every_nan_is_the_same():
    assert compare(CqlType("float"), *hexes("ffc00001", "7fc00000")) == 0


def test_leading_sign_bytes_of_a_varint_do_not_count():
    assert compare(CqlType("varint"), *hexes("0001", "01")) == 0
    assert compare(CqlType("varint"), *hexes("ffff80", "80")) == 0
    assert_ascending(CqlType("varint"), *hexes("", "ff00", "80", "ff", "00", "7f", "0080", "010000"))


def test_decimals_are_numbers_whatever_their_scale():
    assert compare(CqlType("decimal"), *hexes("000000010a", "0000000264")) == 0
    huge = ["80000000ff", "7fffffffff", "7fffffff00", "7fffffff01", "0000000001", "8000000001", "8000000002"]
    assert_ascending(CqlType("decimal"), b"", *hexes(*huge))


def test_uuids_sort_by_version_then_time_or_bytes():
    stored = uuids(
        "ffffffff-0000-1000-0000-000000000000",  # version 1: by time, where the first field is the lowest
        "00000000-0001-1000-0000-000000000000",
        "00000000-0001-1000-8000-000000000000",
        "00000000-0000-4000-0000-000000000000",
        "00000000-0000-4000-8000-000000000000",
        "80000000-0000-4000-0000-000000000000",
        "00000000-0000-7000-0000-000000000000",
    )
    assert_ascending(CqlType("uuid"), b"", *stored)


def test_timeuuids_of_one_time_sort_by_signed_bytes():
    stored = uuids(
        "00000001-0000-1000-8080-808080808080",
        "00000001-0000-1000-80ff-000000000000",
        "00000001-0000-1000-8000-000000000080",
        "00000001-0000-1000-8000-000000000000",
        "00000001-0000-1000-8000-00000000007f",
        "00000001-0000-1000-0000-000000000000",
        "00000001-0000-1000-7f00-000000000000",
        "00000002-0000-1000-8000-000000000000",
        "00000000-0000-1001-8000-000000000000",
    )
    assert_ascending(CqlType("timeuuid"), b"", *stored)


def test_lexical_uuids_are_two_signed_halves():
    lexical = CqlType("uuid", class_name="LexicalUUIDType")
    stored = uuids(
        "80000000-0000-4000-0000-000000000000",
        "ffffffff-0000-1000-0000-000000000000",
        "00000000-0000-4000-8000-000000000000",
        "00000000-0000-4000-0000-000000000000",
    )
    assert_ascending(lexical, *stored)


@pytest.mark.parametrize("kind", ["list", "set"])
def test_collections_sort_by_elements_then_by_count(kind):
    lists = [[], [-1], [0], [0, -5], [0, 1], [1]]
    assert_ascending(CqlType(kind, (INT,)), b"", *(encode(CqlType("list", (INT,)), value) for value in lists))


def test_maps_sort_by_key_value_key_value_then_by_count():
    maps = [[], [(1, "a")], [(1, "a"), (2, "a")], [(1, "b")], [(2, "")]]
    type_ = CqlType("map", (INT, TEXT))
    assert_ascending(type_, *(encode(type_, value) for value in maps))


@pytest.mark.parametrize("kind", ["tuple", "udt"])
def test_tuples_sort_by_fields_and_null_is_first(kind):
    type_ = CqlType(kind, (INT, TEXT), ("a", "b") if kind == "udt" else ())
    tuples = [(None, None), (None, "a"), (-1, None), (-1, ""), (-1, "a"), (0, None)]
    assert_ascending(type_, *(encode(CqlType("tuple", (INT, TEXT)), value) for value in tuples))


def test_missing_fields_equal_nulls():
    type_ = CqlType("tuple", (INT, TEXT))
    assert compare(type_, encode(type_, (1,)), encode(type_, (1, None))) == 0
    assert compare(type_, encode(type_, (1,)), encode(type_, (1, ""))) == -1


@pytest.mark.parametrize("element", [INT, CqlType("varint")])
def test_vectors_sort_by_elements(element):
    type_ = CqlType("vector", (element,), dimension=2)
    assert_ascending(type_, *(encode(type_, value) for value in ([-1, 5], [0, -1], [0, 0], [300, 0])))


def test_composites_sort_by_components_then_by_what_ends_them():
    composite = CqlType("custom", class_name="CompositeType(Int32Type,UTF8Type)")
    stored = hexes("0004ffffffff00", "00040000000000", "0004000000000000016100", "00040000000001")
    assert_ascending(composite, *stored)


@given(
    types()
    .filter(lambda type_: "duration" not in str(type_))
    .flatmap(lambda type_: st.tuples(st.just(type_), *[values(type_) for _ in range(3)]))
)
def test_the_order_is_total(drawn):
    type_, *three = drawn
    a, b, c = (encode(type_, value) for value in three)
    assert compare(type_, a, b) == -compare(type_, b, a)
    if compare(type_, a, b) <= 0 and compare(type_, b, c) <= 0:
        assert compare(type_, a, c) <= 0


@given(st.lists(st.integers(), min_size=2, max_size=2), st.sampled_from(["varint", "bigint", "int"]))
def test_numbers_sort_as_python_sorts_them(numbers, kind):
    size = {"int": 31, "bigint": 63}.get(kind, 200)
    a, b = (number % (1 << size) - (1 << size - 1) for number in numbers)
    type_ = CqlType(kind)
    assert compare(type_, encode(type_, a), encode(type_, b)) == (a > b) - (a < b)


@pytest.mark.parametrize(
    ("type_", "comparator"),
    [
        (TEXT, ordering.BYTES),
        (CqlType("smallint"), ordering.SIGNED),
        (CqlType("timestamp"), ordering.SIGNED),
        (CqlType("timestamp", class_name="DateType"), ordering.BYTES),
        (CqlType("uuid"), ordering.UUID),
        (CqlType("uuid", class_name="LexicalUUIDType"), ordering.LEXICAL_UUID),
        (CqlType("timeuuid"), ordering.TIMEUUID),
        (CqlType("custom", class_name="com.example.X"), ordering.BYTES),
    ],
)
def test_each_type_that_holds_no_others_has_a_comparator(type_, comparator):
    assert comparator_of(type_) == comparator


def test_counters_have_no_order():
    with pytest.raises(SchemaError, match="counter"):
        comparator_of(CqlType("counter"))


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (INT, "000000"),
        (CqlType("float"), "00"),
        (CqlType("uuid"), "00"),
        (CqlType("decimal"), "00000001"),
        (CqlType("list", (INT,)), "00000005"),
        (CqlType("custom", class_name="CompositeType(Int32Type)"), "0004000000"),
    ],
)
def test_bytes_that_are_no_value_are_a_value_error(type_, data):
    with pytest.raises(ValueError, match="byte"):
        compare(type_, bytes.fromhex(data), bytes.fromhex(data))
