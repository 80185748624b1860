"""What is said of a value's bytes before it is appended is never too little, and not much too much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow.bounds import bound_of, bound_within
from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.types import COMPATIBLE, NATIVE, TypeMapping
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY, encode
from flightsrv.kernels.gather import READ_COUNT
from tests.arrow.columns import MAPPINGS, columns, typed_columns
from tests.kernels.places import places_of

BY_MAPPING = pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
INT, TEXT, DOUBLE, UUID = (CqlType(kind) for kind in ("int", "text", "double", "uuid"))


def taken(type_: CqlType, stored: list[bytes | None], mapping: TypeMapping = COMPATIBLE) -> int:
    """Bytes of Arrow, as batches count them."""
    builder, places = builder_of(type_, mapping), places_of(stored)
    builder.append(places.at, places.size, 0, places.count)
    levels = list(builder.parts().levels())
    buffers = sum(buffer.size for level in levels for buffer in level.buffers[1:] if buffer is not None)
    first_offsets = 4 * sum(len(level.buffers) == 3 or str(level.type).startswith(("list", "map")) for level in levels)
    assert builder.arrow_bytes == buffers - first_offsets
    return builder.arrow_bytes


def said(type_: CqlType, value: bytes | None, mapping: TypeMapping = COMPATIBLE) -> int:
    width, growth, element, elements = bound_of(type_, mapping)
    if not value:
        return width
    count = int.from_bytes(value[:4], "big") if elements == READ_COUNT else elements
    return width + growth * len(value) + element * count


@BY_MAPPING
@given(st.data())
def test_a_value_takes_no_more_arrow_than_is_said(mapping: TypeMapping, data: st.DataObject) -> None:
    type_, stored = data.draw(typed_columns(mapping))
    assert taken(type_, stored, mapping) <= sum(said(type_, value, mapping) for value in stored)
    within = bound_within(type_, mapping)
    most = sum(within.width + within.growth * len(value or b"") for value in stored)
    assert taken(type_, stored, mapping) <= most


@BY_MAPPING
@pytest.mark.parametrize("kind", ["varint", "decimal", "inet", "duration", "boolean", "text", "custom"])
@given(data=st.data())
def test_so_do_lists_sets_and_maps_of_what_grows(kind: str, mapping: TypeMapping, data: st.DataObject) -> None:
    inner = CqlType(kind)
    for type_ in (CqlType("list", (inner,)), CqlType("map", (INT, CqlType("list", (inner,))))):
        stored = data.draw(columns(type_, mapping))
        assert taken(type_, stored, mapping) <= sum(said(type_, value, mapping) for value in stored)


EXACT = {
    "int": (INT, 1),
    "text": (TEXT, "abc"),
    "tuple": (CqlType("tuple", (INT, UUID)), (None, None)),
    "list of int": (CqlType("list", (INT,)), [1, 2, 3]),
    "list of double": (CqlType("list", (DOUBLE,)), [1.0] * 9),
    "vector of double": (CqlType("vector", (DOUBLE,), dimension=3), [1.0] * 3),
}


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
@pytest.mark.parametrize("name", EXACT)
def test_of_ordinary_values_it_is_what_they_take(name: str, mapping: TypeMapping) -> None:
    type_, value = EXACT[name]
    stored = encode(type_, value)
    assert said(type_, stored, mapping) == taken(type_, [stored], mapping)


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
def test_vectors_within_vectors_take_offsets_too(mapping: TypeMapping) -> None:
    """Stored, the inner ones are nothing but their elements."""
    inner = CqlType("vector", (CqlType("bigint"),), dimension=1)
    type_ = CqlType("vector", (CqlType("vector", (inner,), dimension=1),), dimension=1)
    stored = encode(type_, [[[0]]])
    within = bound_within(type_, mapping)
    assert taken(type_, [stored], mapping) <= within.width + within.growth * len(stored)


def test_of_lists_of_text_it_is_a_few_bytes_more() -> None:
    type_ = CqlType("list", (TEXT,))
    stored = encode(type_, ["a", "bcd", ""])
    assert said(type_, stored) == taken(type_, [stored]) + 4


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
def test_many_short_elements_are_counted_wherever_they_are(mapping: TypeMapping) -> None:
    """An empty tuple of 12 decimals takes 4 bytes where it is stored, and 192, or 240, in Arrow."""
    tuples = CqlType("list", (CqlType("tuple", (CqlType("decimal"),) * 12),))
    type_ = CqlType("list", (tuples,))
    stored = encode(type_, [[EMPTY] * 1000])
    assert len(stored) < 4_100
    assert taken(type_, [stored], mapping) > 40_000
    assert taken(type_, [stored], mapping) <= said(type_, stored, mapping)
