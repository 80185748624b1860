"""Scans without a server: what tests of the engine share."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from flightsrv.arrow.types import COMPATIBLE, TypeMapping
from flightsrv.config import Settings
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import TableSchema
from flightsrv.scan.flow import Pools
from flightsrv.scan.plan import plan_scan
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.run import Scan
from flightsrv.scan.schemas import schema_from_sstables
from flightsrv.scan.sstables import SSTable, open_sstable
from flightsrv.slab import ABSENT, BufferPool, Selection
from flightsrv.sstable.descriptor import Descriptor, parse_name
from flightsrv.sstable.version import version_of
from tests.reference.fixtures import FixtureSet

SETTINGS = Settings()


@cache
def pools() -> Pools:
    return Pools(4, 2)


def open_file(data_file: Path) -> SSTable:
    """The SSTable that a Data.db belongs to."""
    name = parse_name(data_file.name)
    assert name is not None
    prefix = data_file.name.removesuffix("Data.db")
    components = frozenset(each.name.removeprefix(prefix) for each in data_file.parent.glob(f"{prefix}*"))
    version = version_of(name.format, name.letters, str(data_file))
    return open_sstable(Descriptor(str(data_file.parent), version, name.id), components)


def schema_of(fixture: FixtureSet, sstables: tuple[SSTable, ...]) -> TableSchema:
    """The schema that a set's DDL tells, or its first SSTable's header where it has none."""
    if fixture.expected is None or not fixture.schema.get("cql"):
        return schema_from_sstables("ks", "t", sstables)
    keyspace, table = fixture.schema.get("keyspace") or "ks", fixture.schema.get("table") or "t"
    text = fixture.schema["cql"]
    if text.startswith("CREATE MATERIALIZED VIEW"):
        return replace(parse_ddl(_table_like(fixture, table), keyspace, table), is_view=True, strict_liveness=True)
    return parse_ddl(text, keyspace, table)


def _table_like(fixture: FixtureSet, table: str) -> str:
    """A table with the columns of a view: the statement of a view alone does not tell their types."""
    columns = ", ".join(f"{name} {type_}" for name, type_ in fixture.schema["columns"].items())
    key = ", ".join(fixture.schema["partition_key"])
    clustering = "".join(f", {name}" for name, _ in fixture.schema["clustering"])
    return f"CREATE TABLE {table} ({columns}, PRIMARY KEY (({key}){clustering}))"


@contextmanager
def scan_of(
    schema: TableSchema,
    sstables: tuple[SSTable, ...],
    settings: Settings = SETTINGS,
    mapping: TypeMapping = COMPATIBLE,
    **request: Any,
) -> Iterator[Scan]:
    plan = plan_scan(schema, sstables, ScanRequest(schema.keyspace, schema.table, **request), mapping)
    with closing(Scan(plan, settings, pools(), BufferPool())) as scan:
        yield scan


def copied(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch over memory of its own, checked to be well formed."""
    batch.validate(full=True)
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return pa.ipc.open_stream(sink.getvalue()).read_next_batch()


def batches_of(fixture: FixtureSet, **request: Any) -> list[pa.RecordBatch]:
    """All batches of a fixture's table, at the second its expected rows were read at."""
    sstables = tuple(open_file(data_file) for data_file in fixture.data_files)
    request.setdefault("now_s", fixture.read_at or 0)
    with scan_of(schema_of(fixture, sstables), sstables, **request) as scan:
        return [copied(batch) for batch in scan.batches()]


SelectedRow = tuple[bytes | None, ...]
"""The partition key, then the values of clustering, static and regular columns, in storage order."""


def selected(scan: Scan) -> Iterator[SelectedRow]:
    """What merge yields: nothing is lost that Arrow could not hold."""
    with closing(scan.selections()) as selections:
        for selection in selections:
            for row in range(selection.start, selection.stop):
                yield tuple(_value(selection, value, row) for value in range(len(selection.size)))


def _value(selection: Selection, value: int, row: int) -> bytes | None:
    size = int(selection.size[value, row])
    return None if size == ABSENT else ctypes.string_at(int(selection.at[value, row]), size)


def selected_of(fixture: FixtureSet, **request: Any) -> list[SelectedRow]:
    """All rows of a fixture's table, as `batches_of`."""
    sstables = tuple(open_file(data_file) for data_file in fixture.data_files)
    request.setdefault("now_s", fixture.read_at or 0)
    with scan_of(schema_of(fixture, sstables), sstables, **request) as scan:
        return list(selected(scan))
