"""With tombstones, a scan tells the times that the node's writetime() and ttl() told, and what was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa
import pytest

from flightsrv.scan.history import CELLS, ROW
from tests.reference.arrow_form import beyond_arrow
from tests.reference.fixtures import FixtureSet, params
from tests.reference.types import CqlType
from tests.scan.scanning import batches_of

Record = dict[str, Any]


@pytest.mark.parametrize("fixture", params(lambda fixture: fixture.expected and fixture.expected_times()))
def test_cells_have_the_times_the_node_gave(fixture: FixtureSet) -> None:
    lost = beyond_arrow(fixture.expected_rows() or [], fixture.types)
    columns = tuple(name for name in fixture.types if name not in lost)
    records = [
        record for batch in batches_of(fixture, tombstones=True, columns=columns) for record in _records(batch, fixture)
    ]
    is_view = bool((fixture.schema.get("cql") or "").startswith("CREATE MATERIALIZED VIEW"))
    found = _times_of_rows(records, fixture, is_view)
    # Cassandra 4.0 tells no times of collections.
    for times, known in zip(found, fixture.expected_times() or [], strict=True):
        assert _kept(times, known) == _kept(known, columns)


def _records(batch: pa.RecordBatch, fixture: FixtureSet) -> list[Record]:
    """The times and the partition keys; times of day and days of any year as numbers."""
    names = [*fixture.schema["partition_key"], ROW, CELLS]
    columns = {name: batch.column(name) for name in names if name in batch.schema.names}
    for name, column in columns.items():
        if pa.types.is_temporal(column.type):
            columns[name] = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    return pa.RecordBatch.from_pydict(columns).to_pylist()


def _kept(times: Record, names: Iterable[str]) -> Record:
    return {name: value for name, value in times.items() if name in names}


def _times_of_rows(records: list[Record], fixture: FixtureSet, is_view: bool) -> Iterator[Record]:
    """The times of the rows that are seen, as expected.json has them."""
    now_s = fixture.read_at or 0
    key = fixture.schema["partition_key"]
    for _, group in groupby(records, key=lambda record: repr([record.get(name) for name in key])):
        partition = list(group)
        statics = [record for record in partition if record[ROW]["kind"] == "static"]
        static = _live_times(statics[0], fixture.types, now_s) if statics else {}
        rows = [record for record in partition if record[ROW]["kind"] == "row"]
        seen = [row for row in rows if _is_seen(row, fixture.types, now_s, is_view)]
        for row in seen:
            yield {**static, **_live_times(row, fixture.types, now_s)}
        if static and not seen:
            yield static


def _is_seen(row: Record, types: dict[str, CqlType], now_s: int, is_view: bool) -> bool:
    written = row[ROW]["writetime"] is not None and now_s < (row[ROW]["expires"] or now_s + 1)
    return bool(written or (not is_view and _live_times(row, types, now_s)))


def _live_times(record: Record, types: dict[str, CqlType], now_s: int) -> Record:
    times = {name: _column_times(value, types[name], now_s) for name, value in record[CELLS].items() if value}
    return {name: value for name, value in times.items() if value}


def _column_times(value: Record, type_: CqlType, now_s: int) -> Record | None:
    """{"writetime": …, "expires": …} of what is live; lists for the elements of a complex column."""
    if "cells" not in value:
        if not _is_live(value, now_s):
            return None
        return {"writetime": value["writetime"]} | ({"expires": value["expires"]} if value["expires"] else {})
    live = {repr(cell["path"]): cell for cell in value["cells"] if _is_live(cell, now_s)}
    if not live:
        return None
    paths = map(repr, range(len(type_.args))) if type_.name == "udt" else live
    cells = [live.get(path, {"writetime": None, "expires": None}) for path in paths]
    times = {"writetime": [cell["writetime"] for cell in cells]}
    expires = [cell["expires"] for cell in cells]
    return times | ({"expires": expires} if any(expires) else {})


def _is_live(cell: Record, now_s: int) -> bool:
    return cell["deleted_at"] is None and now_s < (cell["expires"] or now_s + 1)
