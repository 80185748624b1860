"""Byte-comparable forms: byte strings that sort, as unsigned bytes, as what they stand for. Trie indexes are made of
them, so they are what a partition or a clustering is looked up by.

    clustering       for each value 0x40 and its form, or 0x3E if it is null, or 0x3F (0x41 in descending order) if its
                     type has no form for an empty value; then the end
    end              0x38 of a row; 0x20 of a bound before all rows that start with these values, 0x60 behind them
    descending       a form with all bits inverted
    partition key    0x40 token 0x40 key 0x38
    bytes            escaped: each run of zeros, and the end; what follows tells it from longer ones

This is version OSS50. Source: org.apache.cassandra.utils.bytecomparable.ByteSource, db.ClusteringComparator,
db.DecoratedKey, asComparableBytes of types in org.apache.cassandra.db.marshal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from flightsrv.cql import comparable_numbers as numbers
from flightsrv.cql.elements import collection_elements, tuple_fields, vector_elements
from flightsrv.cql.marshal import MarshalType
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.slab import (
    CLUSTERING,
    EXCL_END_BOUND,
    EXCL_END_INCL_START_BOUNDARY,
    EXCL_START_BOUND,
    INCL_END_BOUND,
    INCL_END_EXCL_START_BOUNDARY,
    INCL_START_BOUND,
)

NEXT_COMPONENT: Final = b"\x40"
NEXT_COMPONENT_NULL: Final = b"\x3e"
NEXT_COMPONENT_EMPTY: Final = b"\x3f"
NEXT_COMPONENT_EMPTY_REVERSED: Final = b"\x41"
TERMINATOR: Final = b"\x38"
LT_NEXT_COMPONENT: Final = b"\x20"
GT_NEXT_COMPONENT: Final = b"\x60"

_ENDS: Final = {
    EXCL_END_BOUND: LT_NEXT_COMPONENT,
    INCL_START_BOUND: LT_NEXT_COMPONENT,
    EXCL_END_INCL_START_BOUNDARY: LT_NEXT_COMPONENT,
    CLUSTERING: TERMINATOR,
    INCL_END_EXCL_START_BOUNDARY: GT_NEXT_COMPONENT,
    INCL_END_BOUND: GT_NEXT_COMPONENT,
    EXCL_START_BOUND: GT_NEXT_COMPONENT,
}
_ZEROS: Final = re.compile(b"\x00+")


def clustering_form(types: Sequence[MarshalType], kind: int, values: Sequence[bytes | None]) -> bytes:
    """The form of a row's clustering or of a bound, by its kind (slab.CLUSTERING and so on).

    types: those of the clustering columns. values: of all of them for a row, of the first ones for a bound; None is
    null. Raises ValueError when a value is none of its type, SchemaError when a type has no form.
    """
    parts = [_component(type_, value) for type_, value in zip(types, values, strict=False)]
    return b"".join(parts) + _ENDS[kind]


def key_form(token_form: bytes, key: bytes) -> bytes:
    """The form of a partition key. token_form: that of its token."""
    return NEXT_COMPONENT + token_form + NEXT_COMPONENT + escaped(key) + TERMINATOR


def token_bound(token_form: bytes) -> bytes:
    """A form that is above those of all keys with a token, and below those of all greater tokens."""
    return NEXT_COMPONENT + token_form + GT_NEXT_COMPONENT


def escaped(data: bytes) -> bytes:
    """The form of a string of bytes."""
    form = _ZEROS.sub(lambda zeros: b"\x00" + b"\xfe" * (len(zeros[0]) - 1) + b"\xff", data)
    if data.endswith(b"\x00"):
        return form[:-1] + b"\xfe"
    return form + b"\x00"


def value_form(type_: CqlType, data: bytes) -> bytes | None:
    """The form of a value; None when an empty one has none.

    Raises ValueError when the bytes are no value of the type, SchemaError when the type has no form.
    """
    if type_.kind in _ESCAPED_KINDS:
        return escaped(data)
    if type_.kind in ("custom", "counter"):
        raise SchemaError(f"values of type {type_} have no byte-comparable form")
    if not data and type_.kind != "vector":
        return None
    if type_.class_name in _BY_CLASS:
        return _BY_CLASS[type_.class_name](data)
    if type_.kind in _FORMS:
        if 0 <= type_.fixed_size != len(data):
            raise ValueError(f"a value of type {type_} has {len(data)} bytes")
        return _FORMS[type_.kind](data)
    return b"".join(_elements(type_, data)) + TERMINATOR


def _component(type_: MarshalType, value: bytes | None) -> bytes:
    if value is None:
        return NEXT_COMPONENT_NULL
    form = value_form(type_.type, value)
    if form is None:
        return NEXT_COMPONENT_EMPTY_REVERSED if type_.reversed else NEXT_COMPONENT_EMPTY
    return NEXT_COMPONENT + (numbers.inverted(form) if type_.reversed else form)


def _elements(type_: CqlType, data: bytes) -> Iterable[bytes]:
    """The components that a compound value is made of."""
    arguments = type_.arguments
    if type_.kind in ("list", "set"):
        return [_element(arguments[0], element) for element in collection_elements(data)]
    if type_.kind == "map":
        return [_element(arguments[i & 1], element) for i, element in enumerate(collection_elements(data, per_entry=2))]
    if type_.kind == "vector":
        return [_element(arguments[0], element) for element in vector_elements(type_, data)]
    fields = tuple_fields(data, len(arguments))
    while fields and fields[-1] is None:
        fields.pop()
    return [_element(field_type, field) for field_type, field in zip(arguments, fields, strict=False)]


def _element(type_: CqlType, data: bytes | None) -> bytes:
    form = None if data is None else value_form(type_, data)
    return NEXT_COMPONENT_NULL if form is None else NEXT_COMPONENT + form


def _as_stored(data: bytes) -> bytes:
    return data


_ESCAPED_KINDS: Final = frozenset({"ascii", "text", "blob", "inet", "duration"})
_BY_CLASS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "DateType": _as_stored,
    "LexicalUUIDType": numbers.lexical_uuid,
}
_FORMS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "boolean": lambda data: b"\x00" if data == b"\x00" else b"\x01",
    "tinyint": numbers.signed,
    "smallint": numbers.signed,
    "int": numbers.signed,
    "bigint": lambda data: numbers.variable_length(int.from_bytes(data, signed=True)),
    "timestamp": numbers.signed,
    "float": numbers.signed_float,
    "double": numbers.signed_float,
    "date": _as_stored,
    "time": _as_stored,
    "varint": numbers.varint,
    "decimal": numbers.decimal,
    "uuid": numbers.uuid,
    "timeuuid": numbers.timeuuid,
}
