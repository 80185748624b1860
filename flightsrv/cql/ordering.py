"""In which order values of a type sort within a partition.

An empty value sorts before all others of its type; null before empty. Descending columns turn all of that round, which
is the caller's business.

Source: compareCustom of each type in org.apache.cassandra.db.marshal.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, Final

from flightsrv.cql.elements import collection_elements, tuple_fields, vector_elements
from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.numbers import read_decimal, read_varint
from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.scalars import (
    BOOLEAN,
    BYTES,
    DECIMAL,
    DOUBLE,
    FLOAT,
    LEXICAL_UUID,
    SIGNED,
    TIMEUUID,
    UUID,
    VARINT,
)

COMPARATORS: Final = {
    "ascii": BYTES,
    "text": BYTES,
    "blob": BYTES,
    "inet": BYTES,
    "date": BYTES,
    "time": BYTES,
    "duration": BYTES,
    "empty": BYTES,
    "tinyint": SIGNED,
    "smallint": SIGNED,
    "int": SIGNED,
    "bigint": SIGNED,
    "timestamp": SIGNED,
    "boolean": BOOLEAN,
    "float": FLOAT,
    "double": DOUBLE,
    "varint": VARINT,
    "decimal": DECIMAL,
    "uuid": UUID,
    "timeuuid": TIMEUUID,
}
BY_CLASS: Final = {"DateType": BYTES, "LexicalUUIDType": LEXICAL_UUID}


def comparator_of(type_: CqlType) -> int:
    """Which of the orders above a type has that holds no others; a custom one counts as BYTES.

    Raises SchemaError for counters, which have no order.
    """
    if type_.kind == "custom":
        return BYTES
    if type_.kind == "counter":
        raise SchemaError("values of type counter have no order")
    return BY_CLASS.get(type_.class_name, COMPARATORS[type_.kind])


def is_composite(type_: CqlType) -> bool:
    return type_.class_name.removeprefix(MARSHAL_PACKAGE).startswith("CompositeType")


def compare(type_: CqlType, a: bytes, b: bytes) -> int:
    """-1, 0 or 1: how two values of a type sort. Plain and slow, for all types.

    Raises ValueError on bytes that are no value of the type, SchemaError for counters.
    """
    if not a or not b:
        return sign_of(a, b)
    if type_.arguments or is_composite(type_):
        return compare_elements(elements_of(type_, a), elements_of(type_, b))
    comparator = comparator_of(type_)
    if comparator == BYTES:
        return sign_of(a, b)
    key = SORT_KEYS[comparator]
    return sign_of(key(a), key(b))


def sign_of(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


Element = tuple[CqlType, bytes | None]


def elements_of(type_: CqlType, data: bytes) -> list[Element]:
    """What decides the order of a compound value, element by element."""
    if type_.kind in ("list", "set"):
        return [(type_.arguments[0], element) for element in collection_elements(data)]
    if type_.kind == "map":
        elements = collection_elements(data, per_entry=2)
        return [(type_.arguments[index % 2], element) for index, element in enumerate(elements)]
    if type_.kind == "vector":
        return [(type_.arguments[0], element) for element in vector_elements(type_, data)]
    if type_.kind == "custom":
        return composite_elements(parse_marshal(type_.class_name).components, data)
    return list(zip(type_.arguments, tuple_fields(data, len(type_.arguments)), strict=True))


def composite_elements(components: Sequence[CqlType], data: bytes) -> list[Element]:
    """A CompositeType's components, each followed by its end-of-component byte: u16 length, bytes, i8."""
    elements: list[Element] = []
    at = 0
    for component in components:
        if at == len(data):
            break
        size = int.from_bytes(data[at : at + 2], "big")
        end = at + 2 + size
        if end >= len(data):
            raise ValueError(f"a component of {size} bytes at byte {at}, {len(data)} bytes in all")
        elements += [(component, data[at + 2 : end]), (CqlType("tinyint"), data[end : end + 1])]
        at = end + 1
    return elements


def compare_elements(left: list[Element], right: list[Element]) -> int:
    """The first element that differs decides, null before all; then the one with fewer."""
    for a, b in zip_longest(left, right):
        if a is None or b is None:
            return 1 if b is None else -1
        if a[1] is None or b[1] is None:
            result = (a[1] is not None) - (b[1] is not None)
        else:
            result = compare(a[0], a[1], b[1])
        if result:
            return result
    return 0


def signed(data: bytes) -> int:
    if len(data) not in (1, 2, 4, 8):
        raise ValueError(f"an integer of {len(data)} bytes")
    return int.from_bytes(data, "big", signed=True)


def java_float_key(data: bytes, float_format: str) -> tuple[bool, float, bool]:
    """Sorts as Float.compare and Double.compare: by value, -0.0 first among equals, NaN after everything."""
    if len(data) != struct.calcsize(float_format):
        raise ValueError(f"a float of {len(data)} bytes")
    value: float = struct.unpack(float_format, data)[0]
    return (True, 0.0, False) if value != value else (False, value, not data[0] & 0x80)


def halves(data: bytes) -> tuple[int, int]:
    if len(data) != 16:
        raise ValueError(f"a UUID of {len(data)} bytes")
    return int.from_bytes(data[:8], "big"), int.from_bytes(data[8:], "big")


def timestamp_of(high: int) -> int:
    """The first half of a UUID with its time fields in order: version and high, middle, low."""
    return (high & 0xFFFF) << 48 | (high >> 16 & 0xFFFF) << 32 | high >> 32


def uuid_key(data: bytes) -> tuple[int, int, int]:
    high, low = halves(data)
    version = high >> 12 & 0xF
    return version, timestamp_of(high) if version == 1 else high, low


def timeuuid_key(data: bytes) -> tuple[int, bytes]:
    high, _ = halves(data)
    return timestamp_of(high), bytes(byte ^ 0x80 for byte in data[8:])


def lexical_uuid_key(data: bytes) -> tuple[int, int]:
    halves(data)
    return int.from_bytes(data[:8], "big", signed=True), int.from_bytes(data[8:], "big", signed=True)


SORT_KEYS: Final[dict[int, Callable[[bytes], Any]]] = {
    SIGNED: signed,
    BOOLEAN: lambda data: data != b"\x00",
    FLOAT: lambda data: java_float_key(data, ">f"),
    DOUBLE: lambda data: java_float_key(data, ">d"),
    VARINT: read_varint,
    DECIMAL: read_decimal,
    UUID: uuid_key,
    TIMEUUID: timeuuid_key,
    LEXICAL_UUID: lexical_uuid_key,
}
