"""Stored values as CQL writes them, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flightsrv.cql.types import CqlType, quoted
from flightsrv.cql.values import EMPTY, EPOCH_DAY, decode


def literal(type_: CqlType, data: bytes | None) -> str:
    """A value in CQL; as a blob if it is empty, or none of the type. date, time and timestamp are numbers."""
    if data is None:
        return "null"
    try:
        return _text(type_, decode(type_, data))
    except ValueError:
        return f"0x{data.hex()}"


def _text(type_: CqlType, value: Any) -> str:
    arguments = type_.arguments
    match type_.kind:
        case _ if value is None:
            return "null"
        case _ if value is EMPTY:
            return "0x"
        case "ascii" | "text" | "inet":
            return "'" + str(value).replace("'", "''") + "'"
        case "blob" | "custom":
            return f"0x{value.hex()}"
        case "boolean":
            return str(value).lower()
        case "date":
            return str(value + EPOCH_DAY)
        case "duration":
            months, days, nanoseconds = (abs(part) for part in value)
            return f"{'-' if min(value) < 0 else ''}{months}mo{days}d{nanoseconds}ns"
        case "list" | "vector":
            return "[" + ", ".join(_text(arguments[0], element) for element in value) + "]"
        case "set":
            return "{" + ", ".join(_text(arguments[0], element) for element in value) + "}"
        case "map":
            return (
                "{" + ", ".join(f"{_text(arguments[0], key)}: {_text(arguments[1], item)}" for key, item in value) + "}"
            )
        case "tuple":
            return "(" + ", ".join(map(_text, arguments, value)) + ")"
        case "udt":
            return _udt_text(type_, value)
        case _:
            return str(value)


def _udt_text(type_: CqlType, value: Mapping[str, Any]) -> str:
    fields = zip(type_.field_names, type_.arguments, strict=True)
    return "{" + ", ".join(f"{quoted(name)}: {_text(argument, value[name])}" for name, argument in fields) + "}"
