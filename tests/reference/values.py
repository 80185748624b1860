"""A value's bytes in the JSON form of the fixtures' expected.json.

Integers as numbers, float and double as numbers or "NaN"/"Infinity"/"-Infinity", decimal as text with its scale kept,
blob "0x...", timestamp "YYYY-MM-DDTHH:MM:SS.mmmZ", date, time, uuid and inet as text, duration as {months, days,
nanoseconds}, list, set, tuple and vector as arrays, map as an array of [key, value], UDT as an object, null as None,
a zero-length value of a type that is never empty in CQL as {"$empty": true}. What has no such text: decimals of a
scale below 0 or above 99 {"unscaled": "...", "scale": n}, timestamps outside the years 1000 to 9999 {"ms": n}, dates
outside the years 1 to 9999 {"days": n}.
"""

from __future__ import annotations

import ipaddress
import struct
import uuid
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.reference.counters import total
from tests.reference.ordering import collection_elements, tuple_fields, vector_elements
from tests.reference.reader import Reader
from tests.reference.types import CqlType

EMPTY = {"$empty": True}
MAY_BE_EMPTY = ("ascii", "text", "blob", "custom", "empty")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def json_of(type_: CqlType, value: bytes | None) -> Any:
    if value is None:
        return None
    if value == b"" and type_.name not in MAY_BE_EMPTY:
        return EMPTY
    match type_.name:
        case "ascii" | "text" | "empty":
            return value.decode()
        case "boolean":
            return value != b"\0"
        case "tinyint" | "smallint" | "int" | "bigint" | "varint":
            return int.from_bytes(value, "big", signed=True)
        case "counter":
            return total(value)
        case "float" | "double":
            return json_of_float(value)
        case "decimal":
            scale = struct.unpack(">i", value[:4])[0]
            return json_of_decimal(int.from_bytes(value[4:], "big", signed=True), scale)
        case "timestamp" | "legacy_timestamp":
            return json_of_timestamp(int.from_bytes(value, "big", signed=True))
        case "date":
            return json_of_date(int.from_bytes(value, "big") - 2**31)
        case "time":
            return json_of_time(int.from_bytes(value, "big"))
        case "uuid" | "timeuuid" | "lexical_uuid":
            return str(uuid.UUID(bytes=value))
        case "inet":
            return str(ipaddress.ip_address(value))
        case "duration":
            reader = Reader(value, "a duration")
            return {"months": reader.svint(), "days": reader.svint(), "nanoseconds": reader.svint()}
        case "list" | "set":
            return [json_of(type_.args[0], element) for element in collection_elements(value)]
        case "map":
            parts = collection_elements(value)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return [[json_of(type_.args[0], key), json_of(type_.args[1], item)] for key, item in pairs]
        case "tuple":
            return [json_of(arg, part) for arg, part in zip(type_.args, tuple_fields(type_, value), strict=True)]
        case "udt":
            parts = tuple_fields(type_, value)
            return {name: json_of(arg, part) for name, arg, part in zip(type_.fields, type_.args, parts, strict=True)}
        case "vector":
            return [json_of(type_.args[0], element) for element in vector_elements(type_, value)]
        case _:
            return "0x" + value.hex()


def json_of_float(value: bytes) -> float | str:
    form = ">f" if len(value) == 4 else ">d"
    number = struct.unpack(form, value)[0]
    if number != number:
        return "NaN"
    if abs(number) == float("inf"):
        return "Infinity" if number > 0 else "-Infinity"
    shortest = (float(f"{number:.{digits}g}") for digits in range(1, 18))
    return next(short for short in shortest if _same_bytes(form, short, value))


def _same_bytes(form: str, number: float, value: bytes) -> bool:
    try:
        return struct.pack(form, number) == value
    except OverflowError:  # a float rounded up above the greatest one
        return False


def json_of_decimal(unscaled: int, scale: int) -> Any:
    if not 0 <= scale <= 99:
        return {"unscaled": str(unscaled), "scale": scale}
    sign, digits = "-" if unscaled < 0 else "", str(abs(unscaled)).rjust(scale + 1, "0")
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def json_of_timestamp(ms: int) -> Any:
    try:
        moment = EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return {"ms": ms}
    if moment.year < 1000:
        return {"ms": ms}
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


def json_of_date(days: int) -> Any:
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        return {"days": days}


def json_of_time(nanoseconds: int) -> str:
    seconds, fraction = divmod(nanoseconds, 10**9)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:09}"
