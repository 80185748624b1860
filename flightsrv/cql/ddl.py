"""A table's schema from CQL text: a snapshot's schema.cql, DESCRIBE's output, or what a client sends.

Sources: org.apache.cassandra.cql3.statements.schema.CreateTableStatement, CreateViewStatement;
org.apache.cassandra.db.SchemaCQLHelper, which writes schema.cql.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import Final

from flightsrv.cql.alterations import UserTypes, altered, altered_type, plain_column, with_columns
from flightsrv.cql.grammar import parse_statements
from flightsrv.cql.schema import COMPOUND, COUNTER, DENSE, Column, TableSchema, default_names, has_strict_liveness
from flightsrv.cql.statements import (
    AlterTable,
    AlterType,
    Create,
    CreateTable,
    CreateType,
    CreateView,
    Options,
    PrimaryKey,
    Statement,
    Use,
)
from flightsrv.cql.types import CqlType
from flightsrv.cql.user_types import Fields, resolve_type, resolve_user_types
from flightsrv.errors import SchemaError

DDL_CACHE_SIZE: Final = 128
"""How many texts' tables are remembered."""


def parse_ddl(text: str, keyspace: str, table: str) -> TableSchema:
    """The schema of one table, or materialized view, that the statements of a text describe.

    Names without a keyspace are in `keyspace`; `table` may be a folder's name with upper case where the text has it
    without quotes. Statements of other tables are read; those that say nothing about columns are passed over. Raises
    SchemaError, with line and column, when a statement cannot be parsed or makes no sense, or the table is not there;
    LimitError when the text is too long.
    """
    schema = find_table(text, keyspace, table)
    if schema is None:
        raise SchemaError(f"no CREATE TABLE of {keyspace}.{table} in the DDL")
    return schema


def find_table(text: str, keyspace: str, table: str) -> TableSchema | None:
    """As parse_ddl, but None when the table is not there."""
    tables = parse_tables(text, keyspace)
    schema = tables.get(table) or tables.get(table.lower())
    return schema if schema is None or schema.table == table else replace(schema, table=table)


@lru_cache(maxsize=DDL_CACHE_SIZE)
def parse_tables(text: str, keyspace: str) -> Mapping[str, TableSchema]:
    """All tables and views of a keyspace in a text, by name."""
    statements = statements_of(text, keyspace)
    user_types = resolve_user_types(keyspace, type_definitions(statements))
    tables: dict[str, TableSchema] = {}
    for statement in statements:
        with placed_at(statement):
            apply(statement, keyspace, tables, user_types)
    return tables


def statements_of(text: str, keyspace: str) -> list[Statement]:
    """The statements about one keyspace. Names without one are in it until a USE says otherwise."""
    used: str | None = None
    found: list[Statement] = []
    for statement in parse_statements(text):
        if isinstance(statement, Use):
            used = statement.name
        elif is_in(statement.keyspace or used, keyspace):
            found.append(statement)
    return found


def type_definitions(statements: Iterable[Statement]) -> dict[str, Fields]:
    """The user types as they are in the end: a type that is altered is another one in all tables."""
    definitions: dict[str, Fields] = {}
    for statement in statements:
        match statement:
            case CreateType() if not (statement.if_not_exists and statement.name in definitions):
                definitions[statement.name] = statement.fields
            case AlterType() if statement.name in definitions:
                with placed_at(statement):
                    definitions[statement.name] = altered_type(definitions[statement.name], statement)
    return definitions


@contextmanager
def placed_at(statement: Statement) -> Iterator[None]:
    """A SchemaError tells where its statement stands."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"CQL, line {statement.line}, column {statement.column}: {error}") from None


def is_in(qualifier: str | None, keyspace: str) -> bool:
    """Whether a name belongs to a keyspace. Case does not count: folders are named by people who forgot the quotes."""
    return qualifier is None or qualifier.lower() == keyspace.lower()


def apply(statement: Statement, keyspace: str, tables: dict[str, TableSchema], user_types: UserTypes) -> None:
    match statement:
        case Create() if statement.if_not_exists and statement.name in tables:
            pass
        case CreateTable():
            tables[statement.name] = created(statement, keyspace, user_types)
        case CreateView():
            tables[statement.name] = created_view(statement, keyspace, tables)
        case AlterTable() if statement.name in tables:
            tables[statement.name] = altered(tables[statement.name], statement, user_types)


def created(statement: CreateTable, keyspace: str, user_types: UserTypes) -> TableSchema:
    types = {definition.name: resolve_type(definition.type, user_types) for definition in statement.columns}
    if len(types) < len(statement.columns):
        raise SchemaError("two columns have the same name")
    inline = tuple(PrimaryKey((definition.name,), ()) for definition in statement.columns if definition.is_key)
    keys = statement.primary_keys + inline
    if len(keys) != 1:
        raise SchemaError(f"{len(keys)} primary keys instead of one")
    partition_key, clustering = key_columns(keys[0], types, statement.options)
    id = statement.options.id
    # Who writes the table's id into a DDL, Cassandra, writes the columns that were dropped as well.
    schema = TableSchema(keyspace, statement.name, id, partition_key, clustering, knows_dropped=id is not None)
    key_names = keys[0].partition + keys[0].clustering
    rest = (definition for definition in statement.columns if definition.name not in key_names)
    schema = with_columns(schema, [plain_column(definition, user_types) for definition in rest])
    return as_compact(schema) if statement.options.compact_storage else schema


def key_columns(
    key: PrimaryKey, types: Mapping[str, CqlType], options: Options
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """Partition key and clustering columns."""
    names = key.partition + key.clustering
    if missing := [name for name in names if name not in types]:
        raise SchemaError(f"the primary key has columns that are not defined: {', '.join(missing)}")
    if len(set(names)) < len(names):
        raise SchemaError("the primary key has a column twice")
    if stray := options.descending - set(key.clustering):
        raise SchemaError(f"CLUSTERING ORDER BY columns that are not clustering columns: {', '.join(sorted(stray))}")
    partition = (Column(name, types[name], "partition_key", at) for at, name in enumerate(key.partition))
    clustering = (
        Column(name, types[name], "clustering", at, reversed=name in options.descending)
        for at, name in enumerate(key.clustering)
    )
    return tuple(partition), tuple(clustering)


def as_compact(schema: TableSchema) -> TableSchema:
    """The schema of a table WITH COMPACT STORAGE: how it is stored, with columns that CQL does not show.

    Without clustering, the columns are static ones of a table with clustering `column1` and regular `value`. With
    clustering but no other column there is a `value` of type empty.
    """
    taken = {column.name for column in schema.visible}
    value_name = default_names("value", taken, 1)[0]
    counter = schema.flags & {COUNTER}
    if schema.clustering:
        flags = {DENSE, COMPOUND} if len(schema.clustering) > 1 else {DENSE}
        hidden = () if schema.regular else (Column(value_name, CqlType("empty"), "regular"),)
        return replace(schema, regular=schema.regular + hidden, flags=frozenset(flags) | counter)
    value = Column(value_name, CqlType("counter" if counter else "blob"), "regular")
    return replace(
        schema,
        clustering=(Column(default_names("column", taken, 1)[0], CqlType("text"), "clustering", 0),),
        static=tuple(replace(column, kind="static") for column in schema.regular),
        regular=(value,),
        flags=counter,
    )


def created_view(statement: CreateView, keyspace: str, tables: Mapping[str, TableSchema]) -> TableSchema:
    """A materialized view, whose columns have the types they have in its base table."""
    base = tables.get(statement.base_name)
    if base is None or not is_in(statement.base_keyspace, keyspace):
        raise SchemaError(f"the base table {statement.base_name} of view {statement.name} is not in the DDL")
    types = {column.name: column.type for column in base.visible}
    key = statement.primary_key
    names = statement.selected or tuple(types)
    if missing := [name for name in names if name not in types]:
        raise SchemaError(f"view {statement.name} selects columns its base table does not have: {', '.join(missing)}")
    partition_key, clustering = key_columns(key, types, statement.options)
    id = statement.options.id
    view = TableSchema(
        keyspace,
        statement.name,
        id,
        partition_key,
        clustering,
        knows_dropped=id is not None,
        is_view=True,
    )
    base_key = {column.name for column in base.partition_key + base.clustering}
    view = replace(view, strict_liveness=has_strict_liveness(view, base_key))
    rest = (name for name in names if name not in key.partition + key.clustering)
    return with_columns(view, [Column(name, types[name], "regular") for name in rest])
