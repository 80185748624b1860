"""What pandas, Polars and DuckDB make of native columns, as docs/protocol.md says they do."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.frames import FrameWriter
from flightsrv.arrow.types import NATIVE, arrow_field
from flightsrv.cql.schema import Column
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from tests.arrow.test_frames import batch_of
from tests.kernels.places import places_of

UUID_TYPE, DECIMAL, VARINT, DURATION = (CqlType(kind) for kind in ("uuid", "decimal", "varint", "duration"))
ID = uuid.UUID("50554d6e-29bb-11e5-b345-feff819cdc9f")
EXACT = decimal.Decimal("-0.000123456789012345678901234567890")
INTERVAL = {"months": -14, "days": -3, "nanoseconds": -4_000_000_001}


def sent(**columns: tuple[CqlType, list[Any]]) -> pa.Table:
    """Columns as a client gets them; a null row is the last."""
    parts, fields, kept = [], [], []
    for name, (type_, values) in columns.items():
        places = places_of([*(encode(type_, value) for value in values), None])
        builder = builder_of(type_, NATIVE)
        builder.append(places.at, places.size, 0, places.count)
        parts.append(builder.parts())
        fields.append(arrow_field(Column(name, type_, "regular"), NATIVE))
        kept.append(places)
    schema = pa.schema(fields)
    frame = FrameWriter().write(parts)
    as_read = pa.ipc.read_schema(schema.serialize())
    return pa.Table.from_batches([batch_of(frame, as_read)])


def in_duckdb(rows: pa.Table, expression: str) -> list[Any]:  # noqa: ARG001 (DuckDB finds it by its name)
    return [row[0] for row in duckdb.sql(f"SELECT {expression} FROM rows").fetchall()]


def test_decimals_and_varints_are_texts_that_become_numbers() -> None:
    table = sent(d=(DECIMAL, [EXACT, decimal.Decimal("1.50")]), v=(VARINT, [10**30, -1]))
    frame = table.to_pandas()
    assert frame["d"].dropna().map(decimal.Decimal).tolist() == [EXACT, decimal.Decimal("1.50")]
    assert [str(value) for value in frame["d"].dropna()] == [str(EXACT), "1.50"]
    assert frame["v"].dropna().map(int).tolist() == [10**30, -1]
    polars = pl.DataFrame(pl.from_arrow(table))
    assert polars["d"].cast(pl.Decimal(38, 33)).to_list() == [EXACT, decimal.Decimal("1.5"), None]
    assert polars["v"].cast(pl.Int128).to_list() == [10**30, -1, None]
    assert in_duckdb(table, "d::DECIMAL(38, 33)") == [EXACT, decimal.Decimal("1.5"), None]
    assert in_duckdb(table, "v::HUGEINT") == [10**30, -1, None]


def test_a_duration_is_a_struct_with_all_its_nanoseconds() -> None:
    table = sent(d=(DURATION, [tuple(INTERVAL.values())]))
    assert table.to_pandas()["d"].tolist() == [INTERVAL, None]
    assert pl.DataFrame(pl.from_arrow(table))["d"].to_list() == [INTERVAL, None]
    assert in_duckdb(table, "d") == [INTERVAL, None]
    made = "to_months(d.months) + to_days(d.days) + to_microseconds(d.nanoseconds // 1000)"
    assert in_duckdb(table, f"({made})::VARCHAR") == ["-1 year -2 months -3 days -00:00:04", None]


def test_a_vector_is_an_array() -> None:
    type_ = CqlType("vector", (CqlType("float"),), dimension=3)
    table = sent(v=(type_, [[1.0, 2.5, -0.5]]))
    assert table.column(0).chunk(0).values.to_pylist()[:3] == [1.0, 2.5, -0.5]
    first, second = table.to_pandas()["v"]
    assert (first.tolist(), second) == ([1.0, 2.5, -0.5], None)
    series = pl.DataFrame(pl.from_arrow(table))["v"]
    assert series.dtype == pl.Array(pl.Float32, 3)
    assert series.to_list() == [[1.0, 2.5, -0.5], None]
    assert in_duckdb(table, "array_distance(v, [1, 2.5, -0.5]::FLOAT[3])") == [0.0, None]
    assert in_duckdb(table, "typeof(v)") == ["FLOAT[3]", "FLOAT[3]"]


def test_a_uuid_is_one_inside_of_others_too() -> None:
    table = sent(
        u=(UUID_TYPE, [ID]),
        us=(CqlType("list", (UUID_TYPE,)), [[ID]]),
        m=(CqlType("map", (UUID_TYPE, UUID_TYPE)), [[(ID, ID)]]),
    )
    assert table.to_pydict() == {"u": [ID, None], "us": [[ID], None], "m": [[(ID, ID)], None]}
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert (frame["u"][0], frame["us"][0], frame["m"][0]) == (ID, [ID], [(ID, ID)])
    polars = pl.DataFrame(pl.from_arrow(table))
    assert (polars["u"].to_list(), polars["us"].to_list()) == ([ID.bytes, None], [[ID.bytes], None])
    assert in_duckdb(table, "us") == [[ID], None]
    assert in_duckdb(table, "m[u]") == [ID, None]


@pytest.mark.parametrize("element", [pa.uuid(), pa.binary(16)])
def test_pandas_reads_lists_of_uuids_as_arrow_only(element: pa.DataType) -> None:
    table = pa.table({"us": pa.array([[ID.bytes]], pa.list_(pa.binary(16))).cast(pa.list_(element))})
    with pytest.raises(pa.ArrowNotImplementedError, match="Arrow list to pandas"):
        table.to_pandas()


def test_an_interval_cannot_be_read_by_polars_and_loses_nanoseconds_in_duckdb() -> None:
    """Why a duration is none. When this fails, it can be."""
    table = pa.table({"d": pa.array([pa.MonthDayNano([0, 0, 1001])], pa.month_day_nano_interval())})
    with pytest.raises(pl.exceptions.ComputeError):
        pl.from_arrow(table)
    assert in_duckdb(table, "d") == [datetime.timedelta(microseconds=1)]


def test_a_time_has_nanoseconds_and_pandas_reads_it_as_arrow() -> None:
    last = 86_399_999_999_999
    table = sent(t=(CqlType("time"), [last]))
    with pytest.raises(pa.ArrowInvalid, match="non-zero nanoseconds"):
        table.to_pandas()
    assert table.to_pandas(types_mapper=pd.ArrowDtype)["t"].astype("int64[pyarrow]").tolist()[0] == last
    assert pl.DataFrame(pl.from_arrow(table))["t"].cast(pl.Int64).to_list() == [last, None]
    assert in_duckdb(table, "t::VARCHAR") == ["23:59:59.999999999", None]


def test_timestamps_of_far_away_are_read_as_long_as_nobody_prints_them() -> None:
    table = sent(t=(CqlType("timestamp"), [2**63 - 1]))
    assert table.to_pandas()["t"].astype("int64[pyarrow]").tolist()[0] == 2**63 - 1
    assert pl.DataFrame(pl.from_arrow(table))["t"].cast(pl.Int64).to_list() == [2**63 - 1, None]
    with pytest.raises(duckdb.ConversionException):
        in_duckdb(table, "t")


def test_the_types_in_cql_are_told_at_every_level() -> None:
    inner = CqlType("map", (CqlType("timeuuid"), CqlType("set", (DECIMAL,), frozen=True)), frozen=True)
    field = arrow_field(
        Column("c", CqlType("tuple", (inner, CqlType("custom", class_name="com.example.Own"))), "regular"), NATIVE
    )
    entries = field.type.field(0).type
    told = [field, field.type.field(0), entries.key_field, entries.item_field, entries.item_type.value_field]
    assert [each.metadata[b"cql:type"].decode() for each in told] == [
        "frozen<tuple<frozen<map<timeuuid, frozen<set<decimal>>>>, 'com.example.Own'>>",
        "frozen<map<timeuuid, frozen<set<decimal>>>>",
        "timeuuid",
        "frozen<set<decimal>>",
        "decimal",
    ]
