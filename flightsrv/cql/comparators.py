"""Types as the programs by which kernels compare their values: see kernels/compounds.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from flightsrv.cql.marshal import SIMPLE_CLASSES, Alias, parse_marshal
from flightsrv.cql.ordering import comparator_of
from flightsrv.cql.partitioners import PARTITIONERS
from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.classes import NAME
from flightsrv.kernels.compounds import (
    COLLECTION,
    COMPOSITE,
    DYNAMIC,
    FRAME_FIELDS,
    KEY,
    REVERSED,
    TUPLE,
    VECTOR,
    Orders,
)
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
_KEY_CLASSES: Final = frozenset({"PartitionerDefinedOrder", "LocalByPartionerType"})
_ORDERED_CLASSES: Final = _KEY_CLASSES | {"CompositeType", "DynamicCompositeType"}
"""Of custom types."""


def comparators_of(types: Sequence[CqlType]) -> tuple[Array, Orders]:
    """A comparator for each of the types, int64 (types,), and what comparing by them takes.

    Raises SchemaError for a type whose order is unknown: see `unordered_type`.
    """
    program = _Program()
    comparators = [program.comparator(type_) for type_ in types]
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
    if type_.kind == "counter" or (type_.kind == "custom" and _class(type_) not in _ORDERED_CLASSES):
        return type_
    inner: Iterable[CqlType] = type_.arguments
    if type_.kind == "custom":
        parsed = parse_marshal(type_.class_name)
        inner = (*parsed.components, *(alias.type.type for alias in parsed.aliases))
        if _class(type_) in _KEY_CLASSES and _key_tokens(type_) is None:
            return type_
    return next((found for each in inner if (found := unordered_type(each)) is not None), None)


def _class(type_: CqlType) -> str:
    """The class of a custom type, without its package where that is Cassandra's."""
    return type_.class_name.removeprefix(MARSHAL_PACKAGE).partition("(")[0]


def _key_tokens(type_: CqlType) -> int | None:
    """Whose tokens the keys have that are values of a PartitionerDefinedOrder(<partitioner>[:<type>])."""
    partitioner = re.split("[(:)]", type_.class_name)[1:2]
    return PARTITIONERS[partitioner[0]].tokens if partitioner and partitioner[0] in PARTITIONERS else None


class _Program:
    """Grows by a node for each type that is asked for."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.levels = 0
        """How deep types are nested."""

    def comparator(self, type_: CqlType, level: int = 1) -> int:
        """The comparator of a type that stands `level` levels deep."""
        self.levels = max(self.levels, level)
        if type_.kind in _KINDS:
            arguments = [self.comparator(each, level + 1) for each in type_.arguments]
            width = type_.arguments[0].fixed_size if type_.kind == "vector" else -1
            return self._node(_KINDS[type_.kind], arguments, type_.dimension, width)
        if type_.kind == "custom":
            return self._custom(type_, level)
        return comparator_of(type_)

    def _custom(self, type_: CqlType, level: int) -> int:
        if unordered_type(type_) is not None:
            raise SchemaError(f"the order of values of type {type_} is not known")
        parsed = parse_marshal(type_.class_name)
        match _class(type_):
            case "CompositeType":
                components = zip(parsed.components, parsed.reversed_components, strict=True)
                return self._node(COMPOSITE, [self._directed(*each, level + 1) for each in components])
            case "DynamicCompositeType":
                return self._dynamic(parsed.aliases, level)
            case _:
                return self._node(KEY, [], _key_tokens(type_) or 0)

    def _directed(self, type_: CqlType, is_reversed: bool, level: int) -> int:
        comparator = self.comparator(type_, level)
        return self._node(REVERSED, [comparator]) if is_reversed else comparator

    def _dynamic(self, aliases: tuple[Alias, ...], level: int) -> int:
        """A node whose entries are the aliases, then the classes that take no arguments, by either name."""
        classes = [Alias("", (name,), parse_marshal(name)) for name in SIMPLE_CLASSES if name != "CounterColumnType"]
        entries = [(each, "") for each in aliases]
        entries += [(each, package + each.class_names[0]) for each in classes for package in ("", MARSHAL_PACKAGE)]
        ranks = sorted({each.class_names for each, _ in entries})
        words: list[int] = []
        for each, name in entries:
            padded = name.encode().ljust(-(-len(name) // 8) * 8, b"\0")
            words += [
                NAME + len(padded) // 8,
                self._directed(each.type.type, each.type.reversed, level + 1),
                ranks.index(each.class_names),
                ord(each.letter) if each.letter else -1,
                len(name),
                *np.frombuffer(padded, np.int64).tolist(),
            ]
        return self._node(DYNAMIC, words, count=len(entries))

    def _node(self, kind: int, words: list[int], dimension: int = 0, width: int = -1, count: int | None = None) -> int:
        """words: its arguments, `count` of them; else each is one."""
        at = len(self.words)
        self.words += [kind, len(words) if count is None else count, dimension, width, *words]
        return SCALARS + at
