"""The tables in which Cassandra keeps its schema: how they look themselves, and schemas from their rows.

Their own schemas are fixed here, as the union of what 3.0 to 5.0 have; a file may lack some of these columns and have
others. Their directories end in a version-3 UUID made of the table's name.

Sources: org.apache.cassandra.schema.SchemaKeyspace; TableId.forSystemTable.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from flightsrv.cql.ddl import parse_tables
from flightsrv.cql.grammar import parse_type_name
from flightsrv.cql.schema import (
    COMPOUND,
    DENSE,
    Column,
    ColumnKind,
    DroppedColumn,
    TableSchema,
    has_strict_liveness,
    in_storage_order,
    select_order,
)
from flightsrv.cql.types import CqlType
from flightsrv.cql.user_types import resolve_type, resolve_user_types
from flightsrv.errors import SchemaError

KEYSPACE: Final = "system_schema"

TABLE_OPTIONS: Final = """
    additional_write_policy text, allow_auto_snapshot boolean, bloom_filter_fp_chance double,
    caching frozen<map<text, text>>, cdc boolean, comment text, compaction frozen<map<text, text>>,
    compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double,
    default_time_to_live int, extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid,
    incremental_backups boolean, max_index_interval int, memtable text, memtable_flush_period_in_ms int,
    min_index_interval int, read_repair text, read_repair_chance double, speculative_retry text
"""
DDL: Final = f"""
CREATE TABLE keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean, replication frozen<map<text, text>>);
CREATE TABLE tables (
    keyspace_name text, table_name text, flags frozen<set<text>>, {TABLE_OPTIONS},
    PRIMARY KEY (keyspace_name, table_name)
);
CREATE TABLE columns (
    keyspace_name text, table_name text, column_name text,
    clustering_order text, column_name_bytes blob, kind text, position int, type text,
    PRIMARY KEY (keyspace_name, table_name, column_name)
);
CREATE TABLE types (
    keyspace_name text, type_name text, field_names frozen<list<text>>, field_types frozen<list<text>>,
    PRIMARY KEY (keyspace_name, type_name)
);
CREATE TABLE dropped_columns (
    keyspace_name text, table_name text, column_name text, dropped_time timestamp, kind text, type text,
    PRIMARY KEY (keyspace_name, table_name, column_name)
);
CREATE TABLE views (
    keyspace_name text, view_name text, base_table_id uuid, base_table_name text, include_all_columns boolean,
    where_clause text, {TABLE_OPTIONS},
    PRIMARY KEY (keyspace_name, view_name)
);
CREATE TABLE indexes (
    keyspace_name text, table_name text, index_name text, kind text, options frozen<map<text, text>>,
    PRIMARY KEY (keyspace_name, table_name, index_name)
);
"""

Row = Mapping[str, Any]
"""A row, its values as flightsrv.cql.values gives them. A column that its SSTable does not have may be missing."""
TableName = tuple[str, str]
"""Keyspace and table."""

MAX_TIME_US: Final = (1 << 63) - 1


@cache
def system_schema_tables() -> Mapping[str, TableSchema]:
    """The schemas of these tables themselves, by name."""
    tables = parse_tables(DDL, KEYSPACE)
    return {name: replace(schema, id=system_table_id(KEYSPACE, name)) for name, schema in tables.items()}


def system_table_id(keyspace: str, table: str) -> UUID:
    """The id of one of Cassandra's own tables, the same on every node."""
    return UUID(bytes=hashlib.md5((keyspace + table).encode(), usedforsecurity=False).digest(), version=3)


def tables_from_rows(
    tables: Iterable[Row],
    columns: Iterable[Row],
    types: Iterable[Row] = (),
    dropped_columns: Iterable[Row] = (),
    views: Iterable[Row] = (),
) -> tuple[dict[TableName, TableSchema], dict[TableName, SchemaError]]:
    """The schemas of all tables and materialized views, and what is wrong with those that have none.

    Of tables this needs keyspace_name, table_name, id and flags; of views keyspace_name, view_name,
    base_table_name and id; of the other three all columns.
    """
    columns_of = grouped(columns, "keyspace_name", "table_name")
    dropped_of = grouped(dropped_columns, "keyspace_name", "table_name")
    types_of = grouped(types, "keyspace_name")
    user_types_of: dict[str, Mapping[str, CqlType]] = {}
    schemas: dict[TableName, TableSchema] = {}
    errors: dict[TableName, SchemaError] = {}
    for row in [*tables, *views]:
        name = keyspace, table = row["keyspace_name"], row.get("table_name") or row["view_name"]
        try:
            if keyspace not in user_types_of:
                user_types_of[keyspace] = user_types_from_rows(keyspace, types_of[keyspace,])
            schema = table_from_rows(row, columns_of[name], dropped_of[name], user_types_of[keyspace])
            if schema.is_view:
                base = columns_of[keyspace, row["base_table_name"]]
                key = {each["column_name"] for each in base if each["kind"] in ("partition_key", "clustering")}
                schema = replace(schema, strict_liveness=has_strict_liveness(schema, key))
            schemas[name] = schema
        except SchemaError as error:
            errors[name] = SchemaError(f"schema of {keyspace}.{table}: {error}")
    return schemas, errors


def grouped(rows: Iterable[Row], *names: str) -> Mapping[tuple[str, ...], list[Row]]:
    """Rows by the values of these columns; a key that no row has gives no rows."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def user_types_from_rows(keyspace: str, rows: Iterable[Row]) -> dict[str, CqlType]:
    definitions = {}
    for row in rows:
        names, texts = row["field_names"] or [], row["field_types"] or []
        if len(names) != len(texts):
            raise SchemaError(f"type {row['type_name']} has {len(names)} field names and {len(texts)} field types")
        definitions[row["type_name"]] = [(name, parse_type_name(text)) for name, text in zip(names, texts, strict=True)]
    return resolve_user_types(keyspace, definitions)


def table_from_rows(
    row: Row, columns: Iterable[Row], dropped: Iterable[Row], user_types: Mapping[str, CqlType]
) -> TableSchema:
    """One table. Raises SchemaError when its columns make no sense."""
    by_kind: dict[str, list[Column]] = {kind: [] for kind in ("partition_key", "clustering", "static", "regular")}
    for column in (column_from_row(row, user_types) for row in columns):
        by_kind[column.kind].append(column)
    partition_key, clustering = (key_columns(by_kind[kind]) for kind in ("partition_key", "clustering"))
    if not partition_key:
        raise SchemaError("no column of the partition key is known")
    is_view = "view_name" in row
    if row["id"] is None or (not is_view and row["flags"] is None):
        raise SchemaError("its id, or its flags, are not known")
    flags = frozenset({COMPOUND}) if is_view else frozenset(row["flags"])
    schema = TableSchema(
        keyspace=row["keyspace_name"],
        table=row["view_name"] if is_view else row["table_name"],
        id=row["id"],
        partition_key=partition_key,
        clustering=clustering,
        static=in_storage_order(by_kind["static"]),
        regular=in_storage_order(by_kind["regular"]),
        dropped={row["column_name"]: dropped_from_row(row, user_types) for row in dropped},
        flags=flags,
        knows_dropped=True,
        is_view=is_view,
    )
    return replace(schema, column_order=select_order(schema.static, shown_regular(schema)))


def shown_regular(schema: TableSchema) -> Iterable[Column]:
    """Regular columns that CQL shows: in a compact table not those that Cassandra added, for want of any."""
    if schema.is_static_compact:
        return ()
    return (column for column in schema.regular if column.type.kind != "empty" or DENSE not in schema.flags)


def key_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    in_order = tuple(sorted(columns, key=attrgetter("position")))
    if [column.position for column in in_order] != list(range(len(in_order))):
        raise SchemaError("positions of key columns are missing or double")
    return in_order


def column_from_row(row: Row, user_types: Mapping[str, CqlType]) -> Column:
    name, stored, kind = row["column_name"], row.get("column_name_bytes"), row["kind"]
    if kind not in ("partition_key", "clustering", "static", "regular") or not row["type"]:
        raise SchemaError(f"column {name} is of kind {kind!r} and type {row['type']!r}")
    return Column(
        name,
        resolve_type(parse_type_name(row["type"]), user_types),
        kind,
        -1 if row["position"] is None else row["position"],
        reversed=row.get("clustering_order") == "desc",
        stored_name=None if stored == name.encode() else stored,
    )


def dropped_from_row(row: Row, user_types: Mapping[str, CqlType]) -> DroppedColumn:
    """A dropped column; its time is in milliseconds, as far as these go in microseconds."""
    if row["dropped_time"] is None or not row["type"]:
        raise SchemaError(f"dropped column {row['column_name']} is of type {row['type']!r} and has no time")
    type_ = resolve_type(parse_type_name(row["type"]), user_types)
    kind: ColumnKind = "static" if row.get("kind") == "static" else "regular"
    return DroppedColumn(row["column_name"], type_, kind, min(row["dropped_time"] * 1000, MAX_TIME_US))
