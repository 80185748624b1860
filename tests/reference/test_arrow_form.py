"""Arrow batches come back as the rows they were made of."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.reference.arrow_form import NATIVE_KEEPS, beyond_arrow, comparable, rows_of_arrow
from tests.reference.types import of_cql, types_of_schema

ID = "123e4567-e89b-42d3-a456-426614174000"
MAP = pa.map_(pa.string(), pa.int32())
PAIR = pa.struct([("field_0", pa.int32()), ("field_1", pa.string())])
ADDR = pa.struct([("street", pa.string()), ("zip", pa.int32())])
DURATION = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())])
CASES = [
    ("int", pa.int32(), -1, -1),
    ("counter", pa.int64(), 2**62, 2**62),
    ("boolean", pa.bool_(), False, False),
    ("float", pa.float32(), 0.1, 0.1),
    ("double", pa.float64(), float("nan"), "NaN"),
    ("double", pa.float64(), -0.0, -0.0),
    ("text", pa.string(), "", ""),
    ("blob", pa.binary(), b"\x00\xff", "0x00ff"),
    (
        "timestamp",
        pa.timestamp("ms", "UTC"),
        datetime(1969, 12, 31, 23, 59, 59, 999000, UTC),
        "1969-12-31T23:59:59.999Z",
    ),
    ("timestamp", pa.timestamp("ms", "UTC"), 2**62, {"ms": 2**62}),
    ("date", pa.date32(), date(2024, 2, 29), "2024-02-29"),
    ("date", pa.date32(), -(2**31), {"days": -(2**31)}),
    ("time", pa.time64("ns"), 45296000000001, "12:34:56.000000001"),
    ("uuid", pa.binary(16), uuid.UUID(ID).bytes, ID),
    ("inet", pa.string(), "::1", "::1"),
    ("decimal", pa.decimal128(38, 9), Decimal("-1.5"), "-1.500000000"),
    ("varint", pa.decimal128(38, 0), Decimal(10**37), 10**37),
    ("duration", pa.string(), "1mo2d3ns", {"months": 1, "days": 2, "nanoseconds": 3}),
    ("decimal", pa.string(), "-1.50", "-1.50"),
    ("decimal", pa.string(), "1.23E+7", {"unscaled": "123", "scale": -5}),
    ("decimal", pa.string(), "0E-10", "0.0000000000"),
    ("varint", pa.string(), str(10**60), 10**60),
    ("custom", pa.string(), "0x00ff", "0x00ff"),
    ("custom", pa.binary(), b"\x00\xff", "0x00ff"),
    ("duration", DURATION, {"months": 1, "days": 2, "nanoseconds": 3}, {"months": 1, "days": 2, "nanoseconds": 3}),
    ("vector<int, 2>", pa.list_(pa.int32(), 2), [1, 2], [1, 2]),
    ("duration", pa.string(), "-1y2mo3w1h", {"months": -14, "days": -21, "nanoseconds": -3600 * 10**9}),
    ("list<int>", pa.list_(pa.int32()), [1, None], [1, None]),
    ("vector<float, 2>", pa.list_(pa.float32()), [0.5, 0.1], [0.5, 0.1]),
    ("map<text, int>", MAP, [("k", 1), ("l", None)], [["k", 1], ["l", None]]),
    ("frozen<tuple<int, text>>", PAIR, {"field_0": 1, "field_1": None}, [1, None]),
    ("frozen<addr>", ADDR, {"street": "s", "zip": 7}, {"street": "s", "zip": 7}),
    ("list<frozen<addr>>", pa.list_(ADDR), [{"street": None, "zip": 1}], [{"street": None, "zip": 1}]),
]


@pytest.mark.parametrize(("cql", "arrow", "value", "json"), CASES)
def test_each_type_comes_back_from_arrow(cql: str, arrow: pa.DataType, value: Any, json: Any) -> None:
    batch = pa.record_batch({"c": pa.array([value, None], arrow)})
    expected = {"cql": "CREATE TYPE ks.addr (\n    street text,\n    zip int\n);", "columns": {"c": cql}}
    rows = rows_of_arrow([batch, batch.slice(1)], expected)
    assert repr(rows) == repr([{"c": json}, {"c": None}, {"c": None}])
    keeps = NATIVE_KEEPS if pa.types.is_string(arrow) else ()
    assert repr(comparable(rows[0], types_of_schema(expected), keeps)) == repr(rows[0])


def test_the_scale_of_decimals_and_what_is_empty_or_null_cannot_be_compared() -> None:
    types = {"d": of_cql("decimal"), "i": of_cql("int"), "l": of_cql("list<decimal>"), "t": of_cql("text")}
    row = {"d": {"unscaled": "12", "scale": -2}, "i": {"$empty": True}, "l": ["1.50", {"$empty": True}], "t": ""}
    assert comparable(row, types) == {"d": "1200.000000000", "i": None, "l": ["1.500000000", None], "t": ""}


def test_numbers_that_decimal128_cannot_hold_are_found() -> None:
    types = {"d": of_cql("decimal"), "l": of_cql("frozen<list<varint>>"), "v": of_cql("varint")}
    small = {"d": "0.1000000000", "l": [10**37, None], "v": -(10**38) + 1}
    assert beyond_arrow([small], types) == []
    assert beyond_arrow([small, {"d": "0.0000000001", "l": [10**38], "v": None}], types) == ["d", "l"]
    assert beyond_arrow([{"d": "0.0000000001", "l": [10**38], "v": None}], types, NATIVE_KEEPS) == []


@pytest.mark.parametrize("keeps", [(), NATIVE_KEEPS])
def test_maps_with_an_empty_key_are_found(keeps: tuple[str, ...]) -> None:
    types = {"l": of_cql("list<frozen<map<int, int>>>"), "m": of_cql("map<int, int>"), "t": of_cql("map<text, int>")}
    empty = {"$empty": True}
    assert beyond_arrow([{"l": [[[1, empty]]], "m": [[1, None]], "t": [["", 1]]}], types, keeps) == []
    assert beyond_arrow([{"l": [[[1, 2]], [[empty, 2]]], "m": [[empty, 1]], "t": None}], types, keeps) == ["l", "m"]


def test_what_the_native_mapping_keeps_can_be_compared() -> None:
    types = {"d": of_cql("decimal"), "i": of_cql("inet")}
    row = {"d": "1.50", "i": "::ffff:1.2.3.4"}
    assert comparable(row, types) == {"d": "1.500000000", "i": "1.2.3.4"}
    assert comparable(row, types, NATIVE_KEEPS) == row
