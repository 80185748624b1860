"""Arrow values in forms that JSON and CSV can hold.

uuid                          "50554d6e-29bb-11e5-b345-feff819cdc9f"
binary                        "0x00ff"
decimal                       "1.250000000": as text, for a JSON number would lose digits
date, time, timestamp         "2024-02-29", "23:59:59.999999999", "2024-02-29 12:00:00.000Z"
NaN and the infinities        "NaN", "Infinity", "-Infinity"
list                          array
map                           object; an array of [key, value] when its keys are no text
struct                        object
"""

from __future__ import annotations

import json
import math
from itertools import islice, pairwise
from typing import Any
from uuid import UUID

import pyarrow as pa

UUID_BYTES = 16


def json_values(array: pa.Array) -> list[Any]:
    """The values of an array as what json.dumps takes; null is None."""
    type_ = array.type
    if isinstance(type_, pa.BaseExtensionType):
        return json_values(array.storage)
    if pa.types.is_fixed_size_binary(type_) and type_.byte_width == UUID_BYTES:
        return [None if value is None else str(UUID(bytes=value)) for value in array.to_pylist()]
    if pa.types.is_binary(type_):
        return [None if value is None else f"0x{value.hex()}" for value in array.to_pylist()]
    if pa.types.is_decimal(type_) or pa.types.is_temporal(type_):
        texts: list[Any] = array.cast(pa.string()).to_pylist()
        return texts
    if pa.types.is_floating(type_):
        return [_finite(value) for value in array.to_pylist()]
    if pa.types.is_map(type_):
        return _spread(array, _entries(array))
    if pa.types.is_fixed_size_list(type_):
        return _arrays(array)
    if pa.types.is_list(type_):
        return _spread(array, json_values(array.values))
    if pa.types.is_struct(type_):
        return _structs(array)
    values: list[Any] = array.to_pylist()
    return values


def csv_array(array: pa.Array) -> pa.Array:
    """An array that a CSV file can hold: uuid, binary and nested values as texts, the latter in JSON."""
    type_ = array.type
    if pa.types.is_nested(type_):
        values = [None if value is None else json.dumps(value, ensure_ascii=False) for value in json_values(array)]
        return pa.array(values, pa.string())
    if isinstance(type_, pa.BaseExtensionType) or pa.types.is_fixed_size_binary(type_) or pa.types.is_binary(type_):
        return pa.array(json_values(array), pa.string())
    return array


def csv_type(type_: pa.DataType) -> pa.DataType:
    """The type that `csv_array` gives an array of `type_`."""
    return csv_array(pa.array([], type_)).type


def _finite(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _spread(array: pa.Array, elements: list[Any]) -> list[Any]:
    """The elements of all lists, list by list; those of a map with text keys as objects."""
    bounds, valid = array.offsets.to_pylist(), array.is_valid().to_pylist()
    lists = [
        elements[start:stop] if there else None for (start, stop), there in zip(pairwise(bounds), valid, strict=True)
    ]
    if not (pa.types.is_map(array.type) and pa.types.is_string(array.type.key_type)):
        return lists
    return [None if entries is None else dict(entries) for entries in lists]


def _arrays(array: pa.FixedSizeListArray) -> list[Any]:
    """The elements of lists that all have as many; `flatten` leaves those of nulls away."""
    elements = iter(json_values(array.flatten()))
    return [list(islice(elements, array.type.list_size)) if there else None for there in array.is_valid().to_pylist()]


def _entries(array: pa.MapArray) -> list[Any]:
    return [list(entry) for entry in zip(json_values(array.keys), json_values(array.items), strict=True)]


def _structs(array: pa.StructArray) -> list[Any]:
    names = [field.name for field in array.type]
    columns = [json_values(array.field(index)) for index in range(len(names))]
    valid = array.is_valid().to_pylist()
    rows = zip(*columns, strict=True) if columns else iter([()] * len(array))
    return [dict(zip(names, row, strict=True)) if there else None for row, there in zip(rows, valid, strict=True)]
