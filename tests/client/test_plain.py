"""Arrow values as JSON and CSV hold them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from flightsrv.client.plain import csv_array, csv_type, json_values

UUID_TEXT = "50554d6e-29bb-11e5-b345-feff819cdc9f"
UUID_BYTES = UUID(UUID_TEXT).bytes

CASES = [
    (pa.array([1, None], pa.int32()), [1, None]),
    (pa.array(["a", None, ""]), ["a", None, ""]),
    (pa.array([True, None]), [True, None]),
    (pa.array([UUID_BYTES, None], pa.uuid()), [UUID_TEXT, None]),
    (pa.array([UUID_BYTES, None], pa.binary(16)), [UUID_TEXT, None]),
    (pa.array([b"\x00\xff", b"", None]), ["0x00ff", "0x", None]),
    (pa.array([Decimal("1.25"), None], pa.decimal128(38, 9)), ["1.250000000", None]),
    (pa.array([10**37], pa.decimal128(38, 0)), ["1" + "0" * 37]),
    (pa.array([0, -800_000, None], pa.date32()), ["1970-01-01", "-0221-09-04", None]),
    (pa.array([86_399_999_999_999], pa.time64("ns")), ["23:59:59.999999999"]),
    (pa.array([1_709_208_000_000, 10**17], pa.timestamp("ms", "UTC")), ["2024-02-29 12:00:00.000Z", "25115-11-07"]),
    (pa.array([1.5, float("nan"), float("inf"), float("-inf"), None]), [1.5, "NaN", "Infinity", "-Infinity", None]),
    (pa.array([[1, None], [], None]), [[1, None], [], None]),
    (pa.array([[[b"\x01"]], [[]]]), [[["0x01"]], [[]]]),
    (pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2)), [[1, 2], None, [3, None]]),
    (pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32())), [{"a": 1}, None, {}]),
    (pa.array([[(1, "a"), (2, None)]], pa.map_(pa.int32(), pa.string())), [[[1, "a"], [2, None]]]),
    (
        pa.array([{"x": 1, "y": [UUID_BYTES]}, None], pa.struct([("x", pa.int32()), ("y", pa.list_(pa.binary(16)))])),
        [{"x": 1, "y": [UUID_TEXT]}, None],
    ),
    (pa.array([{}, None], pa.struct([])), [{}, None]),
]


@pytest.mark.parametrize(("array", "expected"), CASES, ids=lambda case: str(getattr(case, "type", "")))
def test_every_type_has_a_form_in_json(array: pa.Array, expected: list[Any]) -> None:
    values = json_values(array)
    for value, wanted in zip(values, expected, strict=True):
        if pa.types.is_temporal(array.type) and wanted is not None:
            assert value.startswith(wanted)
        else:
            assert value == wanted
    json.dumps(values, allow_nan=False)


@pytest.mark.parametrize(("array", "expected"), CASES, ids=lambda case: str(getattr(case, "type", "")))
def test_a_part_of_an_array_has_the_same_form(array: pa.Array, expected: list[Any]) -> None:
    assert json_values(array.slice(1)) == json_values(array)[1:]
    assert len(expected[1:]) == len(array.slice(1))


@pytest.mark.parametrize(("array", "_expected"), CASES, ids=lambda case: str(getattr(case, "type", "")))
def test_csv_gets_arrays_of_the_type_that_was_told_and_flat_ones(array: pa.Array, _expected: list[Any]) -> None:
    flat = csv_array(array)
    assert flat.type == csv_type(array.type)
    assert not pa.types.is_nested(flat.type)
    assert flat.is_valid().equals(array.is_valid())


def test_nested_values_are_json_in_csv() -> None:
    assert csv_array(pa.array([[1, 2], None])).to_pylist() == ["[1, 2]", None]
