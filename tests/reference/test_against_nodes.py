"""The reference reads every SSTable there is as Cassandra, or whoever else knows, says it reads."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.reference.counters import shards_of
from tests.reference.fixtures import FixtureSet, params
from tests.reference.merge import Shown, path_key
from tests.reference.model import (
    LIVE,
    Cell,
    Complex,
    Deletion,
    Liveness,
    Marker,
    Partition,
    Row,
)
from tests.reference.ordering import murmur3_token
from tests.reference.render import key_columns, line_of, rows_of, sha256_of
from tests.reference.sstables import SSTable, read, sstables_of
from tests.reference.types import CqlType
from tests.reference.values import json_of

HALF = "derived-recompressed/nb_test3_lz4_raw_padded"
"""Holds one of the two SSTables that its expected rows are of: the only difference there is, and it is explained."""


@pytest.mark.parametrize("fixture", params(lambda fixture: fixture.has_expected_rows and fixture.id != HALF))
def test_the_reference_reads_the_rows_that_are_known(fixture: FixtureSet) -> None:
    rows = rows_of(read(fixture), fixture)
    known = fixture.expected_rows()
    if known is not None:
        assert _in_order(rows, fixture) == _in_order(known, fixture)
        rows = known if fixture.schema["rows_order"].startswith("unspecified") else rows
    assert sha256_of(rows, fixture.types) == fixture.schema["rows_sha256"]


@pytest.mark.parametrize("fixture", params(lambda fixture: fixture.id == HALF))
def test_an_sstable_alone_lacks_the_column_of_the_other(fixture: FixtureSet) -> None:
    assert rows_of(read(fixture), fixture) == [{**row, "col2": None} for row in fixture.schema["rows"]]


def _in_order(rows: list[dict[str, Any]], fixture: FixtureSet) -> list[str]:
    """The rows' lines, sorted when the set does not say in which order it gives them."""
    lines = [line_of(row, fixture.types) for row in rows]
    return sorted(lines) if fixture.schema["rows_order"].startswith("unspecified") else lines


@pytest.mark.parametrize("fixture", params(lambda fixture: fixture.expected and fixture.expected_times()))
def test_the_reference_knows_when_each_value_was_written_and_expires(fixture: FixtureSet) -> None:
    known = fixture.expected_times() or []
    for row, times in zip(read(fixture), known, strict=True):
        shown = {name: _times(fixture.types[name], row.columns[name]) for name in row.columns if name in fixture.types}
        assert {name: time for name, time in shown.items() if name in times} == times


def _times(type_: CqlType, shown: Shown) -> dict[str, Any]:
    if isinstance(shown, Cell):
        cells: list[Cell | None] = [shown]
    elif type_.name == "udt":
        by_index = {int.from_bytes(cell.path or b"", "big"): cell for cell in shown}
        cells = [by_index.get(i) for i in range(len(type_.args))]
    else:
        cells = list(shown)
    written = [cell.timestamp_us if cell else None for cell in cells]
    expiring = [cell.local_s if cell else None for cell in cells]
    times: dict[str, Any] = {"writetime": written[0] if isinstance(shown, Cell) else written}
    if any(expiring):
        times["expires"] = expiring[0] if isinstance(shown, Cell) else expiring
    return times


@pytest.mark.parametrize("fixture", params(lambda fixture: fixture.expected and "fragments" in fixture.expected))
def test_the_reference_decodes_what_another_reader_decoded(fixture: FixtureSet) -> None:
    for sstable in sstables_of(fixture):
        known = fixture.schema["fragments"][sstable.data_file.name.removesuffix("-Data.db")]
        names = fixture.schema.get("partition_key") or [str(i) for i in range(len(sstable.header.key.args) or 1)]
        decoded = [_partition(partition, sstable, names, fixture) for partition in sstable.partitions()]
        assert _without_overflow(decoded) == _without_overflow(known)


def _without_overflow(read: Any) -> Any:
    """Local deletion times past 2038 in files before oa: the other reader computes in 32 bits and keeps negative ones,
    the reference computes in 64 bits and takes what is still negative for invalid, as Cassandra 5.0 does."""
    if isinstance(read, list):
        return [_without_overflow(item) for item in read]
    if not isinstance(read, dict):
        return read
    times = {name for name in ("local", "expires") if isinstance(read.get(name), int)}
    overflowed = {name for name in times if not 0 <= read[name] < 2**31}
    return {name: "overflowed" if name in overflowed else _without_overflow(item) for name, item in read.items()}


KIND_NAMES = {0: "EXCL_END", 1: "INCL_START", 6: "INCL_END", 7: "EXCL_START"}


def _partition(partition: Partition, sstable: SSTable, names: list[str], fixture: FixtureSet) -> dict[str, Any]:
    header = sstable.header
    key_types = header.key.args if header.key.name == "composite" else (header.key,)
    types = {**header.static, **header.regular, **(fixture.types if fixture.has_expected_rows else {})}
    keys = key_columns(partition.key, names).values()
    made: dict[str, Any] = {"key": [json_of(type_, value) for type_, value in zip(key_types, keys, strict=True)]}
    if partition.deletion != LIVE:
        made["deletion"] = _deletion(partition.deletion)
    if partition.static and partition.static.columns:
        made["static"] = {"cells": {name: _column(types[name], c) for name, c in partition.static.columns.items()}}
    made["unfiltered"] = [_unfiltered(unfiltered, header.clustering, types) for unfiltered in partition.unfiltered]
    return made


def _unfiltered(unfiltered: Row | Marker, clustering: tuple[CqlType, ...], types: dict[str, CqlType]) -> dict[str, Any]:
    if isinstance(unfiltered, Marker):
        values = [json_of(type_, value) for type_, value in zip(clustering, unfiltered.values, strict=False)]
        deletion = _deletion(unfiltered.starts or unfiltered.ends or LIVE)
        return {"type": "range_tombstone", "kind": KIND_NAMES[unfiltered.kind], "values": values, "deletion": deletion}
    values = [json_of(type_, value) for type_, value in zip(clustering, unfiltered.clustering, strict=True)]
    made: dict[str, Any] = {"type": "row", "clustering": values}
    if unfiltered.liveness:
        made["liveness"] = _liveness(unfiltered.liveness)
    if unfiltered.deletion != LIVE:
        made["deletion"] = _deletion(unfiltered.deletion)
    made["cells"] = {name: _column(types[name], column) for name, column in unfiltered.columns.items()}
    return made


def _deletion(deletion: Deletion) -> dict[str, int]:
    return {"marked_at": deletion.marked_at_us, "local": deletion.local_s}


def _liveness(liveness: Liveness) -> dict[str, Any]:
    expiry = {"ttl": liveness.ttl_s, "expires": liveness.expires_s} if liveness.ttl_s else {}
    return {"ts": liveness.timestamp_us, **expiry}


def _column(type_: CqlType, column: Cell | Complex) -> dict[str, Any]:
    if isinstance(column, Cell):
        return _cell(type_, column)
    made: dict[str, Any] = {"deletion": _deletion(column.deletion)} if column.deletion != LIVE else {}
    path_type = {"list": CqlType("timeuuid"), "udt": CqlType("smallint")}.get(type_.name) or type_.args[0]
    made["cells"] = []
    for cell in sorted(column.cells, key=lambda cell: path_key(type_, cell.path)):
        shown = _cell(type_.args[-1], cell)
        if type_.name == "set":
            shown.pop("value", None)
        made["cells"].append({"path": json_of(path_type, cell.path), **shown})
    return made


def _cell(type_: CqlType, cell: Cell) -> dict[str, Any]:
    made: dict[str, Any] = {"ts": cell.timestamp_us}
    if cell.is_tombstone:
        return {**made, "deleted": True, "local": cell.local_s}
    made["value"] = _counter(cell.value) if type_.name == "counter" else json_of(type_, cell.value)
    return {**made, **({"ttl": cell.ttl_s, "expires": cell.local_s} if cell.ttl_s else {})}


def _counter(context: bytes) -> dict[str, Any]:
    shards = [{"id": str(uuid.UUID(bytes=s.id)), "clock": s.clock, "count": s.count} for s in shards_of(context)]
    count = int.from_bytes(context[:2], "big", signed=True)
    header = [int.from_bytes(context[2 + 2 * i : 4 + 2 * i], "big", signed=True) for i in range(abs(count))]
    return {"value": json_of(CqlType("counter"), context), "shards": shards, "header": header}


@pytest.mark.parametrize(
    ("key", "token"),
    [
        ("", -(2**63)),
        ("30", 3083240331115144064),
        ("313233", -7468325962851647638),
        ("61" * 16, -954455200256842034),
        ("80", -5284281814142962636),
        ("ffffffff", 7297452126230313552),
        ("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff8101", 3992328536181576592),
    ],
)
def test_tokens_are_cassandras(key: str, token: int) -> None:
    assert murmur3_token(bytes.fromhex(key)) == token
