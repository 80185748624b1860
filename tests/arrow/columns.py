"""Values of any type, and what the reference says that their Arrow columns show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from flightsrv.arrow.parts import Parts, array_of
from flightsrv.arrow.types import COMPATIBLE, NATIVE, TypeMapping
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY, encode
from tests.cql import strategies
from tests.reference.arrow_form import NATIVE_KEEPS, comparable, json_of_scalar
from tests.reference.types import CqlType as ReferenceType
from tests.reference.values import json_of

MAPPINGS = {
    "compatible": COMPATIBLE,
    "native": NATIVE,
    "or-null": TypeMapping(on_unrepresentable="null"),
    "or-text": TypeMapping(on_unrepresentable="text"),
}
VALUES = strategies.SIMPLE | {"custom": st.binary(), "counter": strategies.integers(64), "empty": st.just(EMPTY)}
HELD_BY_DECIMAL128 = {
    "decimal": st.decimals(-(10**20), 10**20, places=9) | st.decimals(-(10**28), 10**28, places=0),
    "varint": st.integers(-(10**38) + 1, 10**38 - 1),
}


def columns(type_: CqlType, mapping: TypeMapping = COMPATIBLE) -> st.SearchStrategy[list[bytes | None]]:
    """Stored values of a column that Arrow can hold, null and empty ones among them."""
    simple = VALUES if mapping.numbers_are_text else VALUES | HELD_BY_DECIMAL128
    stored = strategies.values(type_, simple).map(lambda value: encode(type_, value))
    return st.lists(
        st.one_of(st.none(), stored, stored, stored if _is_never_empty(type_) else st.just(b"")), max_size=12
    )


def _is_never_empty(type_: CqlType) -> bool:
    """Of a compound, nothing is the same as null to Arrow, not so to the reference."""
    return bool(type_.arguments)


def typed_columns(mapping: TypeMapping = COMPATIBLE) -> st.SearchStrategy[tuple[CqlType, list[bytes | None]]]:
    """Columns of all types but counter and empty, which are never part of others."""
    kinds = strategies.SIMPLE.keys() | {"custom"}
    return strategies.types(kinds).flatmap(lambda type_: st.tuples(st.just(type_), columns(type_, mapping)))


def reference_type(type_: CqlType) -> ReferenceType:
    arguments = tuple(map(reference_type, type_.arguments))
    kind = "bigint" if type_.kind == "counter" else type_.kind  # a counter comes as its total
    return ReferenceType(kind, arguments, type_.field_names, type_.dimension, is_frozen=True)


def expected(type_: CqlType, stored: Sequence[bytes | None], mapping: TypeMapping = COMPATIBLE) -> list[Any]:
    """What the reference makes of stored values, less what Arrow cannot tell."""
    known = {"c": reference_type(type_)}
    keeps = NATIVE_KEEPS if mapping.native else ("decimal",) * mapping.numbers_are_text
    return [comparable({"c": json_of(known["c"], value)}, known, keeps)["c"] for value in stored]


def found(type_: CqlType, column: pa.Array | Parts) -> list[Any]:
    """What a column shows, in the same form."""
    array = column if isinstance(column, pa.Array) else array_of(column)
    array.validate(full=True)
    known = reference_type(type_)
    return [json_of_scalar(known, scalar) for scalar in array]
