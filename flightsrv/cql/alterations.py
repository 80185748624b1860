"""What ALTER TABLE and ALTER TYPE make of a table's schema and a type's fields.

Source: org.apache.cassandra.cql3.statements.schema.AlterTableStatement, AlterTypeStatement; AlterTableStatement of 3.0
for types of columns that change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from flightsrv.cql.schema import (
    COMPOUND,
    COUNTER,
    Column,
    ColumnKind,
    DroppedColumn,
    TableSchema,
    in_storage_order,
)
from flightsrv.cql.statements import AlterTable, AlterType, ColumnDefinition, TypeName
from flightsrv.cql.types import CqlType
from flightsrv.cql.user_types import Fields, resolve_type
from flightsrv.errors import SchemaError

NEVER_AGAIN_US: Final = (1 << 63) - 1
"""When a column was dropped if the DROP does not say: no cell of it ever counts."""

UserTypes = Mapping[str, CqlType]


def plain_column(definition: ColumnDefinition, user_types: UserTypes, *, static: bool = False) -> Column:
    kind: ColumnKind = "static" if static or definition.static else "regular"
    return Column(definition.name, resolve_type(definition.type, user_types), kind)


def with_columns(schema: TableSchema, added: Sequence[Column]) -> TableSchema:
    """The schema with more static and regular columns, shown after those it has."""
    every = [*schema.static, *schema.regular, *added]
    names = [column.name for column in every + list(schema.partition_key + schema.clustering)]
    if len(set(names)) < len(names):
        raise SchemaError("two columns have the same name")
    counter = {COUNTER} if any(column.type.kind == "counter" for column in every) else set()
    return replace(
        schema,
        static=in_storage_order(column for column in every if column.kind == "static"),
        regular=in_storage_order(column for column in every if column.kind == "regular"),
        flags=schema.flags | counter,
        column_order=schema.column_order + tuple(column.name for column in added),
    )


def altered(schema: TableSchema, statement: AlterTable, user_types: UserTypes) -> TableSchema:
    """The schema after ALTER TABLE."""
    for name in statement.dropped:
        schema = without_column(schema, name, statement.dropped_time_us)
    for old, new in statement.renamed:
        schema = with_renamed_key(schema, old, new)
    if statement.drops_compact_storage:
        schema = without_compact_storage(schema)
    if statement.changed is not None:
        schema = with_changed_type(schema, *statement.changed, user_types)
    static = schema.is_static_compact
    added = [plain_column(definition, user_types, static=static) for definition in statement.added]
    for column in added:
        if column.name in schema.dropped and schema.dropped[column.name].dropped_time_us == NEVER_AGAIN_US:
            raise SchemaError(f"{column.name} is added again, but its DROP does not say USING TIMESTAMP")
    return with_columns(schema, added)


def without_column(schema: TableSchema, name: str, dropped_time_us: int | None) -> TableSchema:
    column = next((column for column in schema.static + schema.regular if column.name == name), None)
    if column is None:
        raise SchemaError(f"DROP of {name}, which is no static or regular column")
    time_us = NEVER_AGAIN_US if dropped_time_us is None else dropped_time_us
    return replace(
        schema,
        static=tuple(kept for kept in schema.static if kept is not column),
        regular=tuple(kept for kept in schema.regular if kept is not column),
        dropped={**schema.dropped, name: DroppedColumn(name, column.type, column.kind, time_us)},
        column_order=tuple(kept for kept in schema.column_order if kept != name),
    )


def with_renamed_key(schema: TableSchema, old: str, new: str) -> TableSchema:
    if schema.column(new) or old not in [column.name for column in schema.partition_key + schema.clustering]:
        raise SchemaError(f"RENAME of {old} to {new}: only key columns can be renamed, to names that are free")

    def renamed(columns: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(replace(column, name=new) if column.name == old else column for column in columns)

    return replace(schema, partition_key=renamed(schema.partition_key), clustering=renamed(schema.clustering))


def with_changed_type(schema: TableSchema, name: str, type_name: TypeName, user_types: UserTypes) -> TableSchema:
    """With ALTER ... TYPE, which Cassandra 3.0 still has."""
    if schema.column(name) is None:
        raise SchemaError(f"ALTER of {name}, which is no column")
    type_ = resolve_type(type_name, user_types)

    def changed(columns: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(replace(column, type=type_) if column.name == name else column for column in columns)

    return replace(
        schema,
        partition_key=changed(schema.partition_key),
        clustering=changed(schema.clustering),
        static=in_storage_order(changed(schema.static)),
        regular=in_storage_order(changed(schema.regular)),
    )


def without_compact_storage(schema: TableSchema) -> TableSchema:
    """The table as it is stored, with all columns to be seen: they come after those that CQL has shown before."""
    hidden = [column.name for column in schema.regular if column.name not in schema.column_order]
    return replace(
        schema,
        flags=frozenset({COMPOUND}) | schema.flags & {COUNTER},
        column_order=schema.column_order + tuple(hidden),
    )


def altered_type(fields: Fields, statement: AlterType) -> Fields:
    """The fields of a user type after ALTER TYPE."""
    renamed = dict(statement.renamed)
    changed = dict([statement.changed] if statement.changed else [])
    names = [name for name, _ in fields]
    if strangers := [name for name in (*renamed, *changed) if name not in names]:
        raise SchemaError(f"ALTER TYPE of {', '.join(strangers)}, which type {statement.name} does not have")
    kept = [(renamed.get(name, name), changed.get(name, type_name)) for name, type_name in fields]
    kept += [statement.added] if statement.added else []
    if len({name for name, _ in kept}) < len(kept):
        raise SchemaError(f"type {statement.name} has two fields of the same name")
    return tuple(kept)
