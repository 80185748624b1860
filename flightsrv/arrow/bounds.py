"""How many bytes of Arrow a value takes, before it is put there: so that a batch ends where it should.

A bound is never too low. It is exact for what is not nested, but that texts of numbers, addresses and durations count
as long as they can be, and for collections of such, but a few bytes. A collection inside of another type counts as if
its elements were as many and as short as its bytes allow. What a batch really takes is known once it is appended.
"""

from __future__ import annotations

from typing import NamedTuple

from flightsrv.arrow.fixed import DECIMAL_WIDTH, DURATION_WIDTH, FIXED_WIDTHS
from flightsrv.arrow.types import COMPATIBLE, TypeMapping
from flightsrv.arrow.variable import (
    OFFSET_WIDTH,
    BytesBuilder,
    DurationTextBuilder,
    HexBuilder,
    InetBuilder,
    NumeralBuilder,
    VariableBuilder,
)
from flightsrv.cql.types import CqlType
from flightsrv.kernels.gather import READ_COUNT
from flightsrv.kernels.utf8 import ESCAPED_BYTE_CHARS

SIZE_BYTES = 4
"""Stored before each element of a collection."""


class Bound(NamedTuple):
    """A value takes at most width + growth * its size + element * elements bytes, a null width. The fields are those of
    bounds in kernels.gather.rows_that_fit.
    """

    width: int
    growth: int
    element: int = 0
    elements: int = 0
    """How many, or READ_COUNT: as the value's first 4 bytes say."""


def bound_of(cql: CqlType, mapping: TypeMapping = COMPATIBLE) -> Bound:
    """The bound of a value that is a column's."""
    if cql.kind in ("list", "set", "map"):
        elements = [bound_within(argument, mapping) for argument in cql.arguments]
        growth = max(each.growth for each in elements)
        sizes = SIZE_BYTES * len(elements)
        return Bound(OFFSET_WIDTH, growth, sum(each.width for each in elements) - growth * sizes, READ_COUNT)
    if cql.kind == "vector" and not mapping.native:
        element = bound_within(cql.arguments[0], mapping)
        return Bound(OFFSET_WIDTH, element.growth, element.width, cql.dimension)
    return bound_within(cql, mapping)


def bound_within(cql: CqlType, mapping: TypeMapping) -> Bound:
    """The bound of a value inside of another: without a count of elements, which cannot be seen from outside."""
    arguments = [bound_within(argument, mapping) for argument in cql.arguments]
    widths, growth = [each.width for each in arguments], max((each.growth for each in arguments), default=0)
    match cql.kind:
        case "boolean":
            return Bound(1, 0)
        case "custom":
            return _of_variable(BytesBuilder if mapping.native else HexBuilder)
        case "decimal" | "varint":
            return _of_variable(NumeralBuilder) if mapping.numbers_are_text else Bound(DECIMAL_WIDTH, 0)
        case "ascii" | "text" if mapping.on_unrepresentable == "text":
            return Bound(OFFSET_WIDTH, ESCAPED_BYTE_CHARS)
        case "inet":
            return _of_variable(InetBuilder)
        case "duration":
            return Bound(DURATION_WIDTH, 0) if mapping.native else _of_variable(DurationTextBuilder)
        case "tuple" | "udt" if arguments:
            return Bound(sum(widths), growth)
        case "vector" if mapping.native:
            return Bound(cql.dimension * widths[0], growth)
        case "vector" if (size := cql.arguments[0].fixed_size) > 0:  # nothing but the elements is stored
            return Bound(OFFSET_WIDTH, growth + -(-widths[0] // size))
        case "list" | "set" | "map" | "vector":
            before_each = 1 if cql.kind == "vector" else SIZE_BYTES * len(widths)
            return Bound(OFFSET_WIDTH, max(growth, -(-sum(widths) // before_each)))
        case _:
            return Bound(FIXED_WIDTHS[cql.kind], 0) if cql.kind in FIXED_WIDTHS else _of_variable(BytesBuilder)


def _of_variable(builder: type[VariableBuilder]) -> Bound:
    return Bound(OFFSET_WIDTH + builder.WIDTH, builder.GROWTH)
