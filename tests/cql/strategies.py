"""Hypothesis strategies for CQL types and for values of them, in the form that flightsrv.cql.values gives."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def durations() -> st.SearchStrategy[tuple[int, int, int]]:
    parts = st.tuples(*[st.integers(0, (1 << bits - 1) - 1) for bits in (32, 32, 64)])
    return st.tuples(st.sampled_from([1, -1]), parts).map(lambda drawn: tuple(drawn[0] * part for part in drawn[1]))


def decimals() -> st.SearchStrategy[decimal.Decimal]:
    return st.builds(
        lambda unscaled, exponent: decimal.Decimal(unscaled).scaleb(exponent, decimal.Context(prec=1000)),
        st.integers(-(10**50), 10**50),
        st.integers(-3000, 3000),
    )


SIMPLE: dict[str, st.SearchStrategy[Any]] = {
    "ascii": st.text(st.characters(codec="ascii")),
    "text": st.text(),
    "blob": st.binary(),
    "boolean": st.booleans(),
    "tinyint": integers(8),
    "smallint": integers(16),
    "int": integers(32),
    "bigint": integers(64),
    "varint": st.integers(),
    "decimal": decimals(),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "date": st.integers(-(1 << 31), (1 << 31) - 1),
    "time": st.integers(0, 86_400_000_000_000 - 1),
    "timestamp": integers(64),
    "uuid": st.uuids(),
    "timeuuid": st.uuids(version=1),
    "inet": st.ip_addresses(),
    "duration": durations(),
}
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


def compound(elements: st.SearchStrategy[CqlType]) -> st.SearchStrategy[CqlType]:
    fields = st.dictionaries(NAMES, elements, min_size=1, max_size=4)
    return st.one_of(
        st.builds(lambda kind, element: CqlType(kind, (element,)), st.sampled_from(["list", "set"]), elements),
        st.builds(lambda key, value: CqlType("map", (key, value)), elements, elements),
        st.builds(lambda types: CqlType("tuple", tuple(types)), st.lists(elements, min_size=1, max_size=4)),
        st.builds(lambda named: CqlType("udt", tuple(named.values()), tuple(named), "ks", "u"), fields),
        st.builds(lambda element, size: CqlType("vector", (element,), dimension=size), elements, st.integers(1, 4)),
    )


def types(kinds: Iterable[str] = SIMPLE) -> st.SearchStrategy[CqlType]:
    """Types made of these simple kinds."""
    return st.recursive(st.sampled_from(sorted(kinds)).map(CqlType), compound, max_leaves=5)


def values(type_: CqlType, simple: Mapping[str, st.SearchStrategy[Any]] = SIMPLE) -> st.SearchStrategy[Any]:
    """Values as `decode` gives them: sets and maps are in order, so they hold at most one element here."""
    arguments = type_.arguments
    match type_.kind:
        case "list":
            return st.lists(values(arguments[0], simple), max_size=3)
        case "set":
            return st.lists(values(arguments[0], simple), max_size=1)
        case "map":
            return st.lists(st.tuples(values(arguments[0], simple), values(arguments[1], simple)), max_size=1)
        case "vector":
            return st.lists(values(arguments[0], simple), min_size=type_.dimension, max_size=type_.dimension)
        case "tuple":
            return st.tuples(*[st.none() | values(argument, simple) for argument in arguments])
        case "udt":
            fields = st.tuples(*[st.none() | values(argument, simple) for argument in arguments])
            return fields.map(lambda drawn: dict(zip(type_.field_names, drawn, strict=True)))
        case _:
            return simple[type_.kind]


def typed_values(kinds: Iterable[str] = SIMPLE) -> st.SearchStrategy[tuple[CqlType, Any]]:
    return types(kinds).flatmap(lambda type_: st.tuples(st.just(type_), values(type_)))


def same(a: Any, b: Any) -> bool:
    """Equal, with the sign of zeros and the scale of decimals."""
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, decimal.Decimal):
        return a.compare_total(b) == 0
    return a is b if a is EMPTY or a is None else a == b
