"""Types as the programs by which kernels compare their values: see kernels/compounds.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from flightsrv.cql.marshal import MarshalType, parse_marshal
from flightsrv.cql.ordering import comparator_of, is_composite
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.compounds import COLLECTION, COMPOSITE, FRAME_FIELDS, REVERSED, TUPLE, VECTOR, Orders
from flightsrv.kernels.decimals import COMPARED_LIMBS
from flightsrv.kernels.scalars import SCALARS
from flightsrv.slab import Array

_KINDS: Final = {
    "list": COLLECTION,
    "set": COLLECTION,
    "map": COLLECTION,
    "tuple": TUPLE,
    "udt": TUPLE,
    "vector": VECTOR,
}


def comparators_of(types: Sequence[CqlType]) -> tuple[Array, Orders]:
    """A comparator for each of the types, int64 (types,), and what comparing by them takes.

    Raises SchemaError for a type whose order is unknown: see `unordered_type`.
    """
    program = _Program()
    comparators = [program.comparator(type_, 1) for type_ in types]
    orders = Orders(
        program=np.array(program.words, np.int64),
        stack=np.zeros((max(program.levels, 1), FRAME_FIELDS), np.int64),
        limbs=np.zeros((2, COMPARED_LIMBS), np.int64),
        undecided=np.zeros(1, np.int64),
    )
    return np.array(comparators, np.int64), orders


def path_type(type_: CqlType) -> CqlType:
    """The type by which the cells of a non-frozen collection or UDT sort."""
    match type_.kind:
        case "list":
            return CqlType("timeuuid")
        case "udt":
            return CqlType("blob")  # the field's number, two bytes
        case _:
            return type_.arguments[0]


def unordered_type(type_: CqlType) -> CqlType | None:
    """The type itself, or one inside of it, whose order this reader does not know."""
    if type_.kind == "counter" or (type_.kind == "custom" and not is_composite(type_)):
        return type_
    inner = parse_marshal(type_.class_name).components if is_composite(type_) else type_.arguments
    return next((found for each in inner if (found := unordered_type(each)) is not None), None)


class _Program:
    """Grows by a node for each type that is asked for."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.levels = 0
        """How deep types are nested."""

    def comparator(self, type_: CqlType, level: int) -> int:
        """The comparator of a type that stands `level` levels deep, from 1."""
        if type_.kind in _KINDS:
            arguments = [self.comparator(each, level + 1) for each in type_.arguments]
            width = type_.arguments[0].fixed_size if type_.kind == "vector" else -1
            return self._node(level, _KINDS[type_.kind], arguments, type_.dimension, width)
        if is_composite(type_):
            return self._node(level, COMPOSITE, self._components(parse_marshal(type_.class_name), level))
        if type_.kind == "custom":
            raise SchemaError(f"the order of values of type {type_} is not known")
        return comparator_of(type_)

    def _components(self, composite: MarshalType, level: int) -> list[int]:
        comparators = [self.comparator(each, level + 1) for each in composite.components]
        return [
            self._node(level, REVERSED, [comparator]) if is_reversed else comparator
            for comparator, is_reversed in zip(comparators, composite.reversed_components, strict=True)
        ]

    def _node(self, level: int, kind: int, arguments: list[int], dimension: int = 0, width: int = -1) -> int:
        self.levels = max(self.levels, level)
        at = len(self.words)
        self.words += [kind, len(arguments), dimension, width, *arguments]
        return SCALARS + at
