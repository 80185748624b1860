"""Stored values become what the reference says, whatever they come in, batch after batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow import builders
from flightsrv.arrow.builders import Buffer, Builder, builder_of, row_width
from flightsrv.arrow.types import arrow_type
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnsupportedRequestError, ValueFormError
from tests.arrow.columns import HELD_BY_ARROW, columns, expected, found, typed_columns
from tests.kernels.places import Places, places_of

INT, TEXT = CqlType("int"), CqlType("text")
TUPLE = CqlType("tuple", (INT, TEXT))


def appended(builder: Builder, stored: list[bytes | None], cut: int = 0) -> Places:
    """Append values in two pieces. The result keeps their memory."""
    places = places_of(stored)
    builder.append(places.at, places.size, 0, min(cut, places.count))
    builder.append(places.at, places.size, min(cut, places.count), places.count)
    return places


@given(typed_columns(), st.integers(0, 12))
def test_a_column_of_any_type_shows_what_is_stored(drawn: tuple[CqlType, list[bytes | None]], cut: int) -> None:
    type_, stored = drawn
    builder = builder_of(type_)
    appended(builder, stored, cut)
    parts = builder.parts()
    assert parts.type == arrow_type(type_)
    assert parts.length == len(stored)
    assert found(type_, parts) == expected(type_, stored)


@given(typed_columns().flatmap(lambda drawn: st.tuples(st.just(drawn), columns(drawn[0]))))
def test_after_a_reset_nothing_is_left_of_the_batch_before(
    drawn: tuple[tuple[CqlType, list[bytes | None]], list[bytes | None]],
) -> None:
    (type_, before), stored = drawn
    builder = builder_of(type_)
    appended(builder, before)
    builder.parts()
    builder.reset()
    appended(builder, stored)
    assert found(type_, builder.parts()) == expected(type_, stored)


@pytest.mark.parametrize("kind", sorted(HELD_BY_ARROW))
@given(data=st.data())
def test_every_simple_type(kind: str, data: st.DataObject) -> None:
    type_ = CqlType(kind)
    stored = data.draw(columns(type_))
    builder = builder_of(type_)
    appended(builder, stored)
    assert found(type_, builder.parts()) == expected(type_, stored)


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


@pytest.mark.parametrize("name", NO_VALUES)
def test_bytes_that_are_no_value_of_the_type_are_an_error(name: str) -> None:
    type_, data = NO_VALUES[name]
    with pytest.raises(ValueFormError, match="bytes that are not a value of "):
        appended(builder_of(type_), [None, bytes.fromhex(data)])


@pytest.mark.parametrize(
    "type_", [TEXT, CqlType("ascii"), CqlType("list", (TEXT,)), CqlType("tuple", (TEXT,))], ids=str
)
def test_a_text_that_is_not_utf_8_is_an_error(type_: CqlType) -> None:
    text = b"\xc3\x28"
    sized = len(text).to_bytes(4, "big") + text
    stored = {"list": b"\0\0\0\1" + sized, "tuple": sized}.get(type_.kind, text)
    builder = builder_of(type_)
    appended(builder, [stored])
    with pytest.raises(ValueFormError, match="a text that is not UTF-8"):
        builder.parts()


def test_a_text_cut_within_a_character_is_an_error_though_all_bytes_together_are_utf_8() -> None:
    builder = builder_of(TEXT)
    appended(builder, ["é".encode()[:1], "é".encode()[1:]])
    with pytest.raises(ValueFormError, match="a text that is not UTF-8"):
        builder.parts()


def test_a_map_with_a_null_key_is_an_error() -> None:
    builder = builder_of(CqlType("map", (INT, INT)))
    appended(builder, [bytes.fromhex("00000001 ffffffff 00000004 00000001")])
    with pytest.raises(ValueFormError, match="a map with a null key"):
        builder.parts()


@pytest.mark.parametrize(
    ("kind", "data", "what"),
    [
        ("decimal", "0000000a 01", "a decimal with more than 9 decimals"),
        ("decimal", "00000000 7f" + "ff" * 13, "a decimal of more than 38 digits at scale 9"),
        ("varint", "7f" + "ff" * 15, "a varint of more than 38 digits at scale 0"),
    ],
)
def test_a_number_that_arrow_cannot_hold_is_an_error(kind: str, data: str, what: str) -> None:
    with pytest.raises(ValueFormError, match=f"^{what}$"):
        appended(builder_of(CqlType(kind)), [bytes.fromhex(data)])


def test_a_column_larger_than_its_offsets_can_say_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builders, "MAX_VARIABLE_BYTES", 10)
    with pytest.raises(ValueFormError, match="a batch of 11 bytes, more than Arrow's 32-bit offsets can say"):
        appended(builder_of(TEXT), [b"12345", b"678901"])


def test_a_vector_too_short_for_its_dimension_takes_no_memory() -> None:
    type_ = CqlType("vector", (CqlType("float"),), dimension=2**40)
    with pytest.raises(ValueFormError, match="bytes that are not a value of vector"):
        appended(builder_of(type_), [bytes(4)] * 3)
    with pytest.raises(ValueFormError, match="bytes that are not a value of vector"):
        appended(builder_of(CqlType("vector", (TEXT,), dimension=2**40)), [b"\0\0"])


@pytest.mark.parametrize("kind", ["empty", "counter", "custom"])
def test_a_type_without_a_builder_is_not_served(kind: str) -> None:
    with pytest.raises(UnsupportedRequestError, match="are not served yet"):
        builder_of(CqlType(kind))


FLAT = st.recursive(
    st.sampled_from(sorted(HELD_BY_ARROW)).map(CqlType),
    lambda fields: st.lists(fields, min_size=1, max_size=3).map(lambda drawn: CqlType("tuple", tuple(drawn))),
    max_leaves=4,
)
"""Simple types and tuples, of which nulls take as much Arrow as values."""


@given(FLAT.flatmap(lambda type_: st.tuples(st.just(type_), columns(type_))))
def test_a_row_takes_no_more_arrow_than_is_said(drawn: tuple[CqlType, list[bytes | None]]) -> None:
    type_, stored = drawn
    builder = builder_of(type_)
    places = appended(builder, stored)
    levels = list(builder.parts().levels())
    values = [buffer.size for level in levels for buffer in level.buffers[1:] if buffer is not None]
    width, has_own_size = row_width(type_)
    said = sum(width + (len(value or b"") if has_own_size else 0) for value in stored)
    first_offsets = 4 * len(levels)
    assert sum(values) <= said + first_offsets, places
