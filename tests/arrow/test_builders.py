"""Stored values become what the reference says, whatever they come in, batch after batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow import variable
from flightsrv.arrow.buffers import Buffer, Builder
from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.parts import array_of
from flightsrv.arrow.types import COMPATIBLE, NATIVE, NATIVE_TYPES, TypeMapping, arrow_type
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnrepresentableError, ValueFormError
from tests.arrow.columns import MAPPINGS, VALUES, columns, expected, found, typed_columns
from tests.kernels.places import Places, places_of

INT, TEXT = CqlType("int"), CqlType("text")
TUPLE = CqlType("tuple", (INT, TEXT))
BY_MAPPING = pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)


def appended(builder: Builder, stored: list[bytes | None], cut: int = 0) -> Places:
    """Append values in two pieces. The result keeps their memory."""
    places = places_of(stored)
    builder.append(places.at, places.size, 0, min(cut, places.count))
    builder.append(places.at, places.size, min(cut, places.count), places.count)
    return places


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
@given(st.data(), st.integers(0, 12))
def test_a_column_of_any_type_shows_what_is_stored(mapping: TypeMapping, data: st.DataObject, cut: int) -> None:
    type_, stored = data.draw(typed_columns(mapping))
    builder = builder_of(type_, mapping)
    appended(builder, stored, cut)
    parts = builder.parts()
    assert parts.type == arrow_type(type_, mapping)
    assert parts.length == len(stored)
    assert found(type_, parts) == expected(type_, stored, mapping)


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
@given(st.data())
def test_after_a_reset_nothing_is_left_of_the_batch_before(mapping: TypeMapping, data: st.DataObject) -> None:
    type_, before = data.draw(typed_columns(mapping))
    stored = data.draw(columns(type_, mapping))
    builder = builder_of(type_, mapping)
    appended(builder, before)
    builder.parts()
    builder.reset()
    appended(builder, stored)
    assert found(type_, builder.parts()) == expected(type_, stored, mapping)


@pytest.mark.parametrize(
    ("mapping", "kind"),
    [(COMPATIBLE, kind) for kind in sorted(VALUES)]
    + [(NATIVE, kind) for kind in (*NATIVE_TYPES, "inet")]
    + [(MAPPINGS["or-text"], kind) for kind in ("decimal", "varint", "text")],
)
@given(data=st.data())
def test_every_simple_type(mapping: TypeMapping, kind: str, data: st.DataObject) -> None:
    type_ = CqlType(kind)
    stored = data.draw(columns(type_, mapping))
    builder = builder_of(type_, mapping)
    appended(builder, stored)
    assert found(type_, builder.parts()) == expected(type_, stored, mapping)


@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 70_000])
def test_buffers_grow_with_the_batch(count: int) -> None:
    stored = [None if i % 7 == 0 else b"%d" % i for i in range(count)]
    builder = builder_of(TEXT)
    places = appended(builder, stored, count // 2)
    assert places.count == count
    assert found(TEXT, builder.parts()) == expected(TEXT, stored)


def test_a_buffer_keeps_what_is_in_it_and_fills_the_rest() -> None:
    buffer = Buffer(fill=255)
    buffer.data[:3] = 1, 2, 3
    grown = buffer.grow(100_000)
    assert grown[:3].tolist() == [1, 2, 3]
    assert set(grown[3:].tolist()) == {255}
    buffer.refill(3)
    assert set(buffer.data.tolist()) == {255}


NO_VALUES = {
    "int": (INT, "000000"),
    "bigint": (CqlType("bigint"), "00000000"),
    "boolean": (CqlType("boolean"), "0000"),
    "uuid": (CqlType("uuid"), "00" * 15),
    "inet": (CqlType("inet"), "00" * 5),
    "duration": (CqlType("duration"), "0202"),
    "decimal": (CqlType("decimal"), "00000001"),
    "date": (CqlType("date"), "00"),
    "list": (CqlType("list", (INT,)), "00000001"),
    "element": (CqlType("list", (INT,)), "00000001 00000003 000000"),
    "map": (CqlType("map", (INT, INT)), "00000001 00000004 00000000"),
    "tuple": (TUPLE, "00000005 00000000"),
    "field": (TUPLE, "00000001 00"),
    "vector": (CqlType("vector", (INT,), dimension=2), "00000000"),
}


@BY_MAPPING
@pytest.mark.parametrize("name", NO_VALUES)
def test_bytes_that_are_no_value_of_the_type_are_an_error(name: str, mapping: TypeMapping) -> None:
    type_, data = NO_VALUES[name]
    with pytest.raises(ValueFormError, match="bytes that are not a value of ") as raised:
        appended(builder_of(type_, mapping), [None, bytes.fromhex(data)])
    assert not isinstance(raised.value, UnrepresentableError)


def test_a_map_whose_keys_are_there_may_have_null_values() -> None:
    type_ = CqlType("map", (INT, INT))
    builder = builder_of(type_)
    appended(builder, [bytes.fromhex("00000001 00000004 00000001 ffffffff")])
    assert found(type_, builder.parts()) == [[[1, None]]]


def test_a_column_larger_than_its_offsets_can_say_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variable, "MAX_VARIABLE_BYTES", 10)
    with pytest.raises(ValueFormError, match="a batch of 11 bytes, more than Arrow's 32-bit offsets can say"):
        appended(builder_of(TEXT), [b"12345", b"678901"])


def test_a_vector_too_short_for_its_dimension_takes_no_memory() -> None:
    type_ = CqlType("vector", (CqlType("float"),), dimension=2**40)
    with pytest.raises(ValueFormError, match="bytes that are not a value of vector"):
        appended(builder_of(type_), [bytes(4)] * 3)
    with pytest.raises(ValueFormError, match="bytes that are not a value of vector"):
        appended(builder_of(CqlType("vector", (TEXT,), dimension=2**40)), [b"\0\0"])


def test_a_null_array_has_as_many_elements_as_all_others() -> None:
    type_ = CqlType("vector", (CqlType("vector", (INT,), dimension=2),), dimension=2)
    builder = builder_of(type_, NATIVE)
    appended(builder, [None, bytes(range(16)), None])
    outer = builder.parts()
    assert [level.length for level in outer.levels()] == [3, 6, 12]
    assert [level.null_count for level in outer.levels()] == [2, 4, 8]


def test_a_duration_is_three_numbers() -> None:
    builder = builder_of(CqlType("duration"), NATIVE)
    appended(builder, [bytes.fromhex("03 05 07"), None])
    numbers = {"months": -2, "days": -3, "nanoseconds": -4}
    assert array_of(builder.parts()).to_pylist() == [numbers, None]
