"""Tiny tables of the reference's notation as the engine sees them: its schema, header and plan."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from flightsrv.cql.schema import DroppedColumn, TableSchema, schema_from_header
from flightsrv.kernels.run import RunHeader
from flightsrv.scan.plan import plan_scan
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.runs import run_header
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.version import version_of
from tests.reference.schema import Schema, class_of
from tests.reference.statistics_header import Header

DHT = "org.apache.cassandra.dht."


def engine_header(schema: Schema, header: Header) -> SerializationHeader:
    """The reference's header as flightsrv parses it."""
    return SerializationHeader(
        header.min_timestamp_us,
        header.min_local_s,
        header.min_ttl_s,
        class_of(schema.key_type),
        tuple(class_of(type_) for type_ in schema.clustering_types),
        tuple((name, class_of(type_)) for name, type_ in schema.static_types.items()),
        tuple((name, class_of(type_)) for name, type_ in schema.regular_types.items()),
    )


def engine_table(
    schema: Schema, dropped_us: dict[str, int] | None = None, has_strict_liveness: bool = False
) -> TableSchema:
    """The schema as flightsrv has it; the options are those of the reference's merge.Table."""
    header = engine_header(schema, schema.header())
    table = schema_from_header(
        "ks",
        "t",
        header.key_type,
        header.clustering_types,
        [(name.encode(), type_) for name, type_ in header.static_columns],
        [(name.encode(), type_) for name, type_ in header.regular_columns],
    )
    columns = {column.name: column for column in table.static + table.regular}
    dropped = {
        name: DroppedColumn(name, columns[name].type, columns[name].kind, time_us)
        for name, time_us in (dropped_us or {}).items()
    }
    return replace(table, dropped=dropped, strict_liveness=has_strict_liveness)


def an_sstable(schema: Schema, header: Header) -> Any:
    """What planning and decoding ask of an SSTable, without one on disk."""
    return SimpleNamespace(
        statistics=SimpleNamespace(header=engine_header(schema, header), partitioner=DHT + header.partitioner),
        descriptor=Descriptor("/data", version_of("big", header.version, "Data.db"), "1"),
    )


def decode_header(
    schema: Schema,
    header: Header,
    table: TableSchema | None = None,
    wanted: TokenRange | None = None,
) -> RunHeader:
    """What the decode kernel knows of a run."""
    return run_header(an_sstable(schema, header), table or engine_table(schema), wanted)


_PREPARED: dict[str, tuple[TableSchema, RunHeader]] = {}


def prepared(
    schema: Schema, header: Header, table: Schema | None, options: dict[str, Any]
) -> tuple[TableSchema, RunHeader]:
    """A table and the header of its runs, made once: damage is tried thousands of times.

    schema and header: of the files; table: the table's where it is another; options: engine_table's.
    """
    key = repr((schema, header, table, options))
    if key not in _PREPARED:
        engine = engine_table(table or schema, **options)
        _PREPARED[key] = engine, decode_header(schema, header, engine)
    return _PREPARED[key]


def rules_of(
    table: TableSchema, schema: Schema, header: Header, runs: int, now_s: int, with_times: bool = False
) -> Any:
    """The MergeRules that a scan of so many runs has."""
    sstables = tuple(an_sstable(schema, header) for _ in range(runs))
    return plan_scan(
        table, sstables, ScanRequest(table.keyspace, table.table, now_s=now_s, tombstones=with_times)
    ).rules
