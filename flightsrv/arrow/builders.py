"""Arrow columns, grown by whole selections of values: one builder for each level of a column's type."""

from __future__ import annotations

from flightsrv.arrow.buffers import Builder
from flightsrv.arrow.fixed import (
    FIXED_WIDTHS,
    BooleanBuilder,
    DecimalBuilder,
    DurationBuilder,
    FixedBuilder,
    TimeBuilder,
)
from flightsrv.arrow.nested import ArrayBuilder, ListBuilder, MapBuilder, StructBuilder, VectorBuilder
from flightsrv.arrow.types import COMPATIBLE, TypeMapping, arrow_type
from flightsrv.arrow.variable import (
    BytesBuilder,
    DurationTextBuilder,
    HexBuilder,
    InetBuilder,
    NumeralBuilder,
    TextBuilder,
)
from flightsrv.cql.types import CqlType


def builder_of(cql: CqlType, mapping: TypeMapping = COMPATIBLE) -> Builder:
    """The builder of a column of a type. Non-frozen collections come as frozen ones, counters as their totals."""
    return _nested_builder(cql, mapping) if cql.arguments else _simple_builder(cql, mapping)


def _simple_builder(cql: CqlType, mapping: TypeMapping) -> Builder:
    into = arrow_type(cql, mapping)
    match cql.kind:
        case "custom":
            return BytesBuilder(into, cql) if mapping.native else HexBuilder(into, cql)
        case "boolean":
            return BooleanBuilder(into, cql)
        case "time":
            return TimeBuilder(into, cql, mapping)
        case "decimal" | "varint":
            return (NumeralBuilder if mapping.numbers_are_text else DecimalBuilder)(into, cql, mapping)
        case "duration":
            return DurationBuilder(into, cql) if mapping.native else DurationTextBuilder(into, cql)
        case "inet":
            return InetBuilder(into, cql, mapping)
        case "blob":
            return BytesBuilder(into, cql)
        case kind if kind in FIXED_WIDTHS:
            return FixedBuilder(into, cql)
    return TextBuilder(into, cql, mapping)


def _nested_builder(cql: CqlType, mapping: TypeMapping) -> Builder:
    into = arrow_type(cql, mapping)
    children = [builder_of(argument, mapping) for argument in cql.arguments]
    match cql.kind:
        case "map":
            return MapBuilder(into, cql, children, mapping)
        case "vector":
            return ArrayBuilder(into, cql, children) if mapping.native else VectorBuilder(into, cql, children)
        case "list" | "set":
            return ListBuilder(into, cql, children)
    return StructBuilder(into, cql, children)
