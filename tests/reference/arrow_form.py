"""Rows of Arrow batches, with Flight's type mapping, in the JSON form of expected.json; and what that mapping loses.

| CQL                 | Arrow                                                | back to JSON                   |
| ------------------- | ---------------------------------------------------- | ------------------------------ |
| uuid, timeuuid      | FixedSizeBinary(16)                                  | text                           |
| timestamp           | Timestamp(ms, "UTC")                                 | text                           |
| date, time          | Date32, Time64(ns)                                   | text                           |
| decimal             | Decimal128(38, 9)                                    | text, always with 9 decimals   |
| varint              | Decimal128(38, 0)                                    | number                         |
| inet, duration      | Utf8, `1mo2d3ns`                                     | text, {months, days, ...}      |
| list, set, vector   | List                                                 | array                          |
| map                 | Map                                                  | array of [key, value]          |
| tuple, UDT          | Struct `field_0` ...; Struct of the fields' names    | array; object                  |
"""

from __future__ import annotations

import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
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
        case "decimal":
            return json_of_decimal(int(Fraction(scalar.as_py()) * 10**DECIMAL_SCALE), DECIMAL_SCALE)
        case "varint":
            return int(scalar.as_py())
        case "duration":
            return _json_of_duration(scalar.as_py())
        case "list" | "set" | "vector":
            return [json_of_scalar(type_.args[0], element) for element in scalar.values]
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


def comparable(row: Mapping[str, Any], types: Mapping[str, CqlType]) -> dict[str, Any]:
    """An expected row without what Arrow cannot tell:

    - a decimal's scale: 1.50 and 1.5 are both 1.500000000;
    - empty from null, for types whose values are never empty in CQL. (The peer reads an empty decimal as 0.)
    """
    return {name: _walked(types[name], value, _without_losses) for name, value in row.items()}


def _without_losses(type_: CqlType, value: Any) -> Any:
    if value == EMPTY:
        return None
    if type_.name != "decimal":
        return value
    unscaled = _fraction(value) * 10**DECIMAL_SCALE
    return json_of_decimal(unscaled.numerator, DECIMAL_SCALE) if unscaled.denominator == 1 else value


def beyond_arrow(rows: Iterable[Mapping[str, Any]], types: Mapping[str, CqlType]) -> list[str]:
    """The columns that hold a decimal or varint which Decimal128 cannot: more than 9 decimals or 38 digits."""
    found: dict[str, None] = {}

    def check(type_: CqlType, value: Any) -> Any:
        if value != EMPTY and type_.name in ("decimal", "varint"):
            unscaled = _fraction(value) * 10 ** (DECIMAL_SCALE if type_.name == "decimal" else 0)
            if unscaled.denominator != 1 or abs(unscaled) >= 10**MAX_DIGITS:
                found[name] = None
        return value

    for row in rows:
        for name, value in row.items():
            _walked(types[name], value, check)
    return list(found)


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
