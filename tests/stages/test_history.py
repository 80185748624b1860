"""What a scan with tombstones tells of k runs is all that they said: merged again, alone, it shows the same rows."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.schema import TableSchema
from flightsrv.cql.values import decode
from flightsrv.scan.history import history_columns
from flightsrv.slab import NOT_IN_BOUND, Selection
from tests.reference.model import LIVE, Cell, Complex, Deletion, Liveness, Marker, Partition, Row
from tests.reference.schema import Schema
from tests.reference.streams import SCHEMAS, runs
from tests.reference.text import NOW_S, parse_run
from tests.reference.types import CqlType
from tests.stages.merging import LARGE, Sizes, encoded, selections, shown
from tests.stages.tables import engine_table

pytestmark = pytest.mark.kernel

Record = dict[str, Any]
TABLES = st.sampled_from(SCHEMAS).flatmap(lambda schema: st.tuples(st.just(schema), runs(schema, 4)))
SMALL = st.builds(Sizes, slab_rows=st.sampled_from([2, 3, 5]), window_bytes=st.integers(1, 80))
START_KINDS, END_KINDS = {True: 1, False: 7}, {True: 6, False: 0}
"""ClusteringPrefix.Kind by whether the bound is inclusive."""


@given(TABLES, st.one_of(st.just(LARGE), SMALL), st.integers(NOW_S - 2, NOW_S + 3))
def test_the_history_of_runs_merged_again_shows_the_same_rows(
    table: tuple[Schema, list[str]], sizes: Sizes, now_s: int
) -> None:
    schema, texts = table
    parsed = [parse_run(text, schema) for text in texts]
    retold = list(partitions_of(told(texts, schema, sizes), schema))
    assert shown([retold], schema, now_s) == shown(parsed, schema, now_s)


def test_what_a_stronger_deletion_covers_is_not_told() -> None:
    schema = Schema({"a": "text", "b": "text"}, ("int",), {"s": "text"})
    texts = [
        "k/static: s=1@1 ; k/1: @1 a=1@1 b=2@4 ; k/2: @1",
        "k del@2 ; k/[1..3] del@1 ; k/1: del@3 ; k/2: del@2 ; k/3: del@5",
    ]
    (partition,) = partitions_of(told(texts, schema, LARGE), schema)
    assert partition.deletion.marked_at_us == 2
    assert partition.static is None
    assert [(row.deletion.marked_at_us, list(row.columns)) for row in partition.unfiltered if isinstance(row, Row)] == [
        (3, ["b"]),
        (5, []),
    ]
    assert not any(isinstance(item, Marker) for item in partition.unfiltered)


@pytest.mark.parametrize(
    ("texts", "bounds"),
    [
        (["k/[1..3] del@1"], ["range_start [1", "range_end 3]"]),
        (["k/(1..3) del@1"], ["range_start (1", "range_end 3)"]),
        (["k/[1..5] del@1", "k/[2..3] del@2"], ["range_start [1", "range_end 2)", "range_start [2", "range_end 3]",
                                                "range_start (3", "range_end 5]"]),
        (["k/[1..5] del@2", "k/[2..3] del@1"], ["range_start [1", "range_end 5]"]),
        (["k/(..) del@1"], ["range_start [", "range_end ]"]),
    ],
)  # fmt: skip
def test_ranges_are_told_without_overlaps(texts: list[str], bounds: list[str]) -> None:
    found = []
    for record in told(texts, Schema({"a": "text"}, ("int",)), LARGE):
        row = record["row"]
        value = str(int.from_bytes(record["clustering"][0], "big")) if record["clustering"] else ""
        is_start = row["kind"] == "range_start"
        mark = ("[" if row["inclusive"] else "(") if is_start else ("]" if row["inclusive"] else ")")
        found.append(f"{row['kind']} {mark}{value}" if is_start else f"{row['kind']} {value}{mark}")
    assert found == bounds


def told(texts: list[str], schema: Schema, sizes: Sizes) -> list[Record]:
    """The records of a scan with tombstones, as if nothing had expired."""
    table = engine_table(schema)
    data = [encoded(text, schema) for text in texts]
    found = selections(data, schema, 0, sizes=sizes, with_times=True)
    return [record for selection in found for record in records_of(selection, table)]


def records_of(selection: Selection, table: TableSchema) -> Iterator[Record]:
    cells = table.static + table.regular
    row_column, cells_column = history_columns(table, [column.name for column in cells])
    first_cell = 1 + len(table.clustering)
    for row in range(selection.start, selection.stop):
        sizes = selection.size[:, row].tolist()
        places = zip(selection.at[:, row].tolist(), sizes, strict=True)
        values = [None if size < 0 else ctypes.string_at(at, size) for at, size in places]
        yield {
            "key": values[0],
            "clustering": tuple(
                v for v, size in zip(values[1:first_cell], sizes[1:], strict=False) if size != NOT_IN_BOUND
            ),
            "values": dict(zip([column.name for column in cells], values[first_cell:-2], strict=True)),
            "row": decode(row_column.type, values[-2] or b""),
            "cells": decode(cells_column.type, values[-1] or b""),
        }


def partitions_of(records: Iterable[Record], schema: Schema) -> Iterator[Partition]:
    """The records as one run."""
    for key, group in groupby(records, key=lambda record: record["key"]):
        partition = list(group)
        deletions = [_deletion(record["row"]) for record in partition if record["row"]["kind"] == "partition"]
        statics = [_row(record, schema) for record in partition if record["row"]["kind"] == "static"]
        others = [record for record in partition if record["row"]["kind"] not in ("partition", "static")]
        yield Partition(
            key,
            deletions[0] if deletions else LIVE,
            statics[0] if statics else None,
            tuple(_row(record, schema) if record["row"]["kind"] == "row" else _marker(record) for record in others),
        )


def _deletion(times: Record) -> Deletion:
    return LIVE if times["deleted"] is None else Deletion(times["deleted"], times["deleted_at"])


def _marker(record: Record) -> Marker:
    row = record["row"]
    if row["kind"] == "range_start":
        return Marker(START_KINDS[row["inclusive"]], record["clustering"], starts=_deletion(row))
    return Marker(END_KINDS[row["inclusive"]], record["clustering"], ends=_deletion(row))


def _row(record: Record, schema: Schema) -> Row:
    row = record["row"]
    liveness = None
    if row["writetime"] is not None:
        liveness = Liveness(row["writetime"], row["ttl"] or 0, row["expires"])
    columns: dict[str, Cell | Complex] = {}
    for name, times in record["cells"].items():
        if times is not None:
            columns[name] = _column(schema.column_types[name], times, record["values"][name])
    return Row(record["clustering"] if row["kind"] == "row" else (), columns, liveness, _deletion(row))


def _column(type_: CqlType, times: Record, value: bytes | None) -> Cell | Complex:
    if not type_.is_multi_cell:
        return _cell(times, value)
    per_entry = 2 if type_.name == "map" else 1
    parts = iter(_elements(value, per_entry))
    cells = []
    for each in times["cells"]:
        is_dead = each["deleted_at"] is not None
        entry = (b"",) if is_dead else next(parts)
        cells.append(_cell(each, b"" if type_.name == "set" else entry[-1], _path(type_, each["path"])))
    return Complex(_deletion(times), tuple(cells))


def _cell(times: Record, value: bytes | None, path: bytes | None = None) -> Cell:
    if times["deleted_at"] is not None:
        return Cell(times["writetime"], b"", 0, times["deleted_at"], path)
    return Cell(times["writetime"], value or b"", times["ttl"] or 0, times["expires"], path)


def _elements(value: bytes | None, per_entry: int) -> list[tuple[bytes, ...]]:
    """A collection's entries: i32 count, then i32 size and bytes of each part."""
    parts, at = [], 4
    while value is not None and at < len(value):
        size = int.from_bytes(value[at : at + 4], "big")
        parts.append(value[at + 4 : at + 4 + size])
        at += 4 + size
    return list(zip(*[iter(parts)] * per_entry, strict=True))


def _path(type_: CqlType, path: Any) -> bytes:
    if type_.name == "list":
        return path.bytes
    element = type_.args[0].name
    return path.encode() if element == "text" else path.to_bytes(4, "big", signed=True)
