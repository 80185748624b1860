"""Values of CQL types: bytes to plain Python and back, one at a time.

    ascii, text           str              tinyint smallint int bigint varint   int
    blob, custom          bytes            counter        int, the total (8 bytes, as on the wire: no counter context)
    boolean               bool             decimal        decimal.Decimal with its scale kept
    float, double         float            date           int, days since 1970-01-01
    uuid, timeuuid        uuid.UUID        time           int, nanoseconds of the day
    inet                  ipaddress        timestamp      int, milliseconds since 1970-01-01T00:00Z
    list, set             list             duration       (months, days, nanoseconds)
    map                   list of pairs    tuple          tuple, None for null fields
    vector                list             udt            dict in the order of its fields, None for null ones
    empty                 EMPTY

No bytes at all are EMPTY, except for ascii, text, blob and custom, where they are a value like others, and for tuple
and udt, whose fields are all null then.

Sources: org.apache.cassandra.serializers; org.apache.cassandra.db.marshal.TupleType, VectorType.
"""

from __future__ import annotations

import ipaddress
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cmp_to_key
from typing import Any, Final

from flightsrv.cql.elements import (
    collection_elements,
    join_collection,
    join_vector,
    tuple_fields,
    vector_elements,
    write_sized,
)
from flightsrv.cql.numbers import read_decimal, read_varint, write_decimal, write_varint
from flightsrv.cql.ordering import compare
from flightsrv.cql.types import CqlType
from flightsrv.cql.vint import read_signed_vint, write_signed_vint


class Empty(Enum):
    EMPTY = "empty"

    def __repr__(self) -> str:
        return self.name


EMPTY: Final = Empty.EMPTY
"""A stored value of zero bytes, of a type whose values in CQL all have some. It is not null."""

EPOCH_DAY: Final = 1 << 31
"""1970-01-01 in a stored date."""


def decode(type_: CqlType, data: bytes) -> Any:
    """The value that `data` holds. Raises ValueError when it holds none of this type."""
    try:
        if type_.kind in DECODERS:
            return DECODERS[type_.kind](data) if data or type_.kind in MAY_BE_EMPTY else EMPTY
        return decode_compound(type_, data)
    except (ValueError, struct.error) as error:
        raise ValueError(f"not a value of type {type_}: {error}") from None


def decode_compound(type_: CqlType, data: bytes) -> Any:
    arguments = type_.arguments
    if type_.kind in ("tuple", "udt"):
        fields = zip(arguments, tuple_fields(data, len(arguments)), strict=True)
        values = tuple(decode_element(field, element) for field, element in fields)
        return values if type_.kind == "tuple" else dict(zip(type_.field_names, values, strict=True))
    if not data:
        return EMPTY
    if type_.kind == "map":
        elements = iter(collection_elements(data, per_entry=2))
        pairs = zip(elements, elements, strict=True)
        return [(decode_element(arguments[0], key), decode_element(arguments[1], value)) for key, value in pairs]
    if type_.kind == "vector":
        return [decode(arguments[0], element) for element in vector_elements(type_, data)]
    return [decode_element(arguments[0], element) for element in collection_elements(data)]


def decode_element(type_: CqlType, data: bytes | None) -> Any:
    return None if data is None else decode(type_, data)


def encode(type_: CqlType, value: Any) -> bytes:
    """The bytes CQL would store for a value of the form that `decode` gives: sets and maps sorted, without duplicates.

    Raises ValueError when the value is not one of the type.
    """
    if value is EMPTY:
        return b""
    try:
        return ENCODERS[type_.kind](value) if type_.kind in ENCODERS else encode_compound(type_, value)
    except (ValueError, TypeError, AttributeError, OverflowError, struct.error) as error:
        raise ValueError(f"not a value of type {type_}: {error}") from None


def encode_compound(type_: CqlType, value: Any) -> bytes:
    arguments = type_.arguments
    if type_.kind == "udt":
        return encode_fields(type_, field_values(type_, value))
    if type_.kind == "tuple":
        return encode_fields(type_, value)
    if type_.kind == "vector":
        return join_vector(type_, [encode(arguments[0], element) for element in value])
    if type_.kind == "map":
        pairs = value.items() if isinstance(value, Mapping) else value
        entries = {encode(arguments[0], key): encode_element(arguments[1], element) for key, element in pairs}
        return join_collection([part for key in in_order(type_, entries) for part in (key, entries[key])], per_entry=2)
    if type_.kind == "set":
        return join_collection(in_order(type_, {encode(arguments[0], element) for element in value}))
    return join_collection([encode_element(arguments[0], element) for element in value])


def encode_fields(type_: CqlType, values: Iterable[Any]) -> bytes:
    """Fields missing at the end are left out, as CQL does for values that are older than their type."""
    values = list(values)
    if len(values) > len(type_.arguments):
        raise ValueError(f"{len(values)} fields, the type has {len(type_.arguments)}")
    pairs = zip(type_.arguments, values, strict=False)
    return write_sized(encode_element(field, element) for field, element in pairs)


def field_values(type_: CqlType, value: Mapping[str, Any]) -> list[Any]:
    if unknown := value.keys() - set(type_.field_names):
        raise ValueError(f"no fields {sorted(unknown)}")
    return [value.get(name) for name in type_.field_names]


def encode_element(type_: CqlType, value: Any) -> bytes | None:
    return None if value is None else encode(type_, value)


def in_order(type_: CqlType, elements: Iterable[bytes]) -> list[bytes]:
    """Elements of a set, or keys of a map, sorted by their type."""
    element_type = type_.arguments[0]

    def compare_two(a: bytes, b: bytes) -> int:
        return compare(element_type, a, b)

    return sorted(elements, key=cmp_to_key(compare_two))


def integer_decoder(size: int) -> Callable[[bytes], int]:
    def decode_integer(data: bytes) -> int:
        if len(data) != size:
            raise ValueError(f"{len(data)} bytes instead of {size}")
        return int.from_bytes(data, "big", signed=True)

    return decode_integer


def integer_encoder(size: int) -> Callable[[int], bytes]:
    return lambda value: value.to_bytes(size, "big", signed=True)


def decode_boolean(data: bytes) -> bool:
    if len(data) != 1:
        raise ValueError(f"{len(data)} bytes instead of 1")
    return data != b"\x00"


def decode_duration(data: bytes) -> tuple[int, int, int]:
    months, at = read_signed_vint(data, 0)
    days, at = read_signed_vint(data, at)
    nanoseconds, at = read_signed_vint(data, at)
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes after the nanoseconds")
    return months, days, nanoseconds


def encode_duration(value: tuple[int, int, int]) -> bytes:
    months, days, nanoseconds = value
    return write_signed_vint(months) + write_signed_vint(days) + write_signed_vint(nanoseconds)


def decode_empty(data: bytes) -> Empty:
    if data:
        raise ValueError(f"{len(data)} bytes instead of none")
    return EMPTY


def encode_empty(value: Any) -> bytes:
    raise ValueError(f"{value!r} is not EMPTY")


MAY_BE_EMPTY: Final = frozenset({"ascii", "text", "blob", "custom", "empty"})

DECODERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "ascii": lambda data: data.decode("ascii"),
    "text": lambda data: data.decode("utf-8"),
    "blob": bytes,
    "custom": bytes,
    "empty": decode_empty,
    "boolean": decode_boolean,
    "tinyint": integer_decoder(1),
    "smallint": integer_decoder(2),
    "int": integer_decoder(4),
    "bigint": integer_decoder(8),
    "counter": integer_decoder(8),
    "time": integer_decoder(8),
    "timestamp": integer_decoder(8),
    "date": lambda data: struct.unpack(">I", data)[0] - EPOCH_DAY,
    "float": lambda data: struct.unpack(">f", data)[0],
    "double": lambda data: struct.unpack(">d", data)[0],
    "varint": read_varint,
    "decimal": read_decimal,
    "uuid": lambda data: uuid.UUID(bytes=data),
    "timeuuid": lambda data: uuid.UUID(bytes=data),
    "inet": ipaddress.ip_address,
    "duration": decode_duration,
}

ENCODERS: Final[dict[str, Callable[[Any], bytes]]] = {
    "ascii": lambda value: value.encode("ascii"),
    "text": lambda value: value.encode("utf-8"),
    "blob": lambda value: bytes(memoryview(value)),
    "custom": lambda value: bytes(memoryview(value)),
    "empty": encode_empty,
    "boolean": lambda value: b"\x01" if value else b"\x00",
    "tinyint": integer_encoder(1),
    "smallint": integer_encoder(2),
    "int": integer_encoder(4),
    "bigint": integer_encoder(8),
    "counter": integer_encoder(8),
    "time": integer_encoder(8),
    "timestamp": integer_encoder(8),
    "date": lambda value: struct.pack(">I", value + EPOCH_DAY),
    "float": lambda value: struct.pack(">f", value),
    "double": lambda value: struct.pack(">d", value),
    "varint": write_varint,
    "decimal": write_decimal,
    "uuid": lambda value: value.bytes,
    "timeuuid": lambda value: value.bytes,
    "inet": lambda value: value.packed,
    "duration": encode_duration,
}
