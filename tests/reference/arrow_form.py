"""Rows of Arrow batches, in either of Flight's type mappings, in the JSON form of expected.json; and what is lost.

| CQL                 | Arrow; native, where it is another                   | back to JSON                   |
| ------------------- | ---------------------------------------------------- | ------------------------------ |
| uuid, timeuuid      | FixedSizeBinary(16)                                  | text                           |
| timestamp           | Timestamp(ms, "UTC")                                 | text                           |
| date, time          | Date32, Time64(ns)                                   | text                           |
| decimal             | Decimal128(38, 9); Utf8                              | text, with 9 decimals; as it is |
| varint              | Decimal128(38, 0); Utf8                              | number                         |
| inet                | Utf8                                                 | text                           |
| duration            | Utf8, `1mo2d3ns`; Struct                             | {months, days, nanoseconds}    |
| custom              | Utf8; Binary                                         | 0x...                          |
| list, set, vector   | List; a vector FixedSizeList                         | array                          |
| map                 | Map                                                  | array of [key, value]          |
| tuple, UDT          | Struct `field_0` ...; Struct of the fields' names    | array; object                  |
"""

from __future__ import annotations

import ipaddress
import re
import struct
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tests.reference.types import CqlType, types_of_schema
from tests.reference.values import (
    EMPTY,
    json_of_date,
    json_of_decimal,
    json_of_float,
    json_of_time,
    json_of_timestamp,
)

NATIVE_KEEPS = ("decimal", "inet")
DECIMAL_SCALE = 9
MAX_DIGITS = 38
DURATION_UNITS = {
    "y": ("months", 12),
    "mo": ("months", 1),
    "w": ("days", 7),
    "d": ("days", 1),
    "h": ("nanoseconds", 3600 * 10**9),
    "m": ("nanoseconds", 60 * 10**9),
    "s": ("nanoseconds", 10**9),
    "ms": ("nanoseconds", 10**6),
    "us": ("nanoseconds", 10**3),
    "µs": ("nanoseconds", 10**3),
    "ns": ("nanoseconds", 1),
}


def rows_of_arrow(batches: Iterable[pa.RecordBatch], expected: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows with the columns that the batches have, in the order of `expected["columns"]`."""
    types = types_of_schema(expected)
    rows = []
    for batch in batches:
        names = [name for name in types if name in batch.schema.names]
        columns = [[json_of_scalar(types[name], scalar) for scalar in batch.column(name)] for name in names]
        rows += [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return rows


def json_of_scalar(type_: CqlType, scalar: pa.Scalar) -> Any:
    """One value, of a column or inside of another."""
    if not scalar.is_valid:
        return None
    match type_.name:
        case "float" | "double":
            return json_of_float(struct.pack(">f" if type_.name == "float" else ">d", scalar.as_py()))
        case "blob":
            return "0x" + scalar.as_py().hex()
        case "timestamp" | "legacy_timestamp":
            return json_of_timestamp(scalar.value)
        case "date":
            return json_of_date(scalar.value)
        case "time":
            return json_of_time(scalar.value)
        case "uuid" | "timeuuid" | "lexical_uuid":
            value = scalar.as_py()  # pyarrow gives UUIDs for top-level columns, which have the extension type
            return str(value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=value))
        case "inet":
            return str(ipaddress.ip_address(scalar.as_py()))
        case "custom":
            return f"0x{scalar.as_py().hex()}" if isinstance(scalar.as_py(), bytes) else scalar.as_py()
        case "decimal" if isinstance(scalar.as_py(), str):
            sign, digits, exponent = Decimal(scalar.as_py()).as_tuple()
            assert isinstance(exponent, int)
            return json_of_decimal(int("".join(map(str, digits))) * (-1 if sign else 1), -exponent)
        case "decimal":
            return json_of_decimal(int(Fraction(scalar.as_py()) * 10**DECIMAL_SCALE), DECIMAL_SCALE)
        case "varint":
            return int(scalar.as_py())
        case "duration":
            return scalar.as_py() if isinstance(scalar.as_py(), dict) else _json_of_duration(scalar.as_py())
        case "list" | "set" | "vector":
            return [json_of_scalar(type_.args[0], element) for element in scalar]
        case "map":
            key_type, item_type = type_.args
            return [
                [json_of_scalar(key_type, pair["key"]), json_of_scalar(item_type, pair["value"])]
                for pair in scalar.values
            ]
        case "tuple":
            return [json_of_scalar(arg, scalar[f"field_{i}"]) for i, arg in enumerate(type_.args)]
        case "udt":
            return {name: json_of_scalar(arg, scalar[name]) for name, arg in zip(type_.fields, type_.args, strict=True)}
        case _:
            return scalar.as_py()


def _json_of_duration(text: str) -> dict[str, int]:
    made = {"months": 0, "days": 0, "nanoseconds": 0}
    for count, unit in re.findall(r"(\d+)([a-zµ]+)", text):
        field, factor = DURATION_UNITS[unit]
        made[field] += int(count) * factor * (-1 if text.startswith("-") else 1)
    return made


def comparable(row: Mapping[str, Any], types: Mapping[str, CqlType], keeps: Collection[str] = ()) -> dict[str, Any]:
    """An expected row without what Arrow cannot tell:

    - empty from null, for types whose values are never empty in CQL. (The peer reads an empty decimal as 0.)

    and, unless it `keeps` them, as the native mapping keeps NATIVE_KEEPS:

    - a decimal's scale: 1.50 and 1.5 are both 1.500000000;
    - an inet of 16 bytes that is a mapped IPv4 address from that.
    """
    return {
        name: _walked(types[name], value, lambda type_, value: _without_losses(type_, value, keeps))
        for name, value in row.items()
    }


def _without_losses(type_: CqlType, value: Any, keeps: Collection[str]) -> Any:
    if value == EMPTY:
        return None
    if type_.name in keeps:
        return value
    if type_.name == "inet":
        address = ipaddress.ip_address(value)
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return str(mapped or address)
    if type_.name != "decimal":
        return value
    unscaled = _fraction(value) * 10**DECIMAL_SCALE
    return json_of_decimal(unscaled.numerator, DECIMAL_SCALE) if unscaled.denominator == 1 else value


def beyond_arrow(
    rows: Iterable[Mapping[str, Any]], types: Mapping[str, CqlType], keeps: Collection[str] = ()
) -> list[str]:
    """The columns that hold what Arrow cannot: a map with an empty key, and, unless it `keeps` decimals, numbers with
    more decimals or digits than Decimal128 has.
    """
    values = [(name, value) for row in rows for name, value in row.items()]
    return list(dict.fromkeys(name for name, value in values if _is_beyond(types[name], value, keeps)))


def _is_beyond(type_: CqlType, value: Any, keeps: Collection[str]) -> bool:
    if value is None or value == EMPTY:
        return False
    match type_.name:
        case "decimal" | "varint":
            unscaled = _fraction(value) * 10 ** (DECIMAL_SCALE if type_.name == "decimal" else 0)
            return "decimal" not in keeps and (unscaled.denominator != 1 or abs(unscaled) >= 10**MAX_DIGITS)
        case "list" | "set" | "vector":
            parts = [(type_.args[0], element) for element in value]
        case "map":
            if any(key == EMPTY for key, _ in value):
                return True
            parts = [(arg, part) for pair in value for arg, part in zip(type_.args, pair, strict=True)]
        case "tuple":
            parts = list(zip(type_.args, value, strict=True))
        case "udt":
            parts = [(arg, value[name]) for name, arg in zip(type_.fields, type_.args, strict=True)]
        case _:
            return False
    return any(_is_beyond(arg, part, keeps) for arg, part in parts)


def _fraction(value: Any) -> Fraction:
    if isinstance(value, dict):
        return Fraction(int(value["unscaled"])) * Fraction(10) ** -int(value["scale"])
    return Fraction(value)


def _walked(type_: CqlType, value: Any, change: Callable[[CqlType, Any], Any]) -> Any:
    """A value with `change` done to each scalar in it that is not null."""
    if value is None:
        return None
    match type_.name:
        case _ if value == EMPTY:
            return change(type_, value)
        case "list" | "set" | "vector":
            return [_walked(type_.args[0], element, change) for element in value]
        case "map":
            return [[_walked(arg, part, change) for arg, part in zip(type_.args, pair, strict=True)] for pair in value]
        case "tuple":
            return [_walked(arg, part, change) for arg, part in zip(type_.args, value, strict=True)]
        case "udt":
            fields = zip(type_.fields, type_.args, strict=True)
            return {name: _walked(arg, value[name], change) for name, arg in fields}
        case _:
            return change(type_, value)
