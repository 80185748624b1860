"""schema.cql: the statements that Cassandra puts into a snapshot of a table, of which not all can be taken as they are.

- From 4.0 on, a table WITH COMPACT STORAGE stands in a comment.
- A view stands alone, without the base table that tells the types of its columns.
- User types that are used within tuples are left out, and 3.11 writes names of fields without the quotes they need.

Source: org.apache.cassandra.db.SchemaCQLHelper (ColumnFamilyStoreCQLHelper in 3.11).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from flightsrv.cql.ddl import DDL_CACHE_SIZE, parse_ddl, statements_of
from flightsrv.cql.grammar import READ, line_and_column, parse_statements, statement_texts
from flightsrv.cql.schema import Column, TableSchema, select_order
from flightsrv.cql.statements import AlterTable, CreateTable, CreateView
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError

_CASSANDRAS: Final = "IF NOT EXISTS"
"""In every statement that creates something; people leave it out, and the last semicolon too."""
_INDEX: Final = re.compile(r"CREATE (?:CUSTOM )?INDEX\b")
_COMMENTED: Final = re.compile(
    r"/\*\s*Warning: Table [^\n]* omitted because it has constructs not compatible with CQL"
    r".*?(?P<statement>CREATE TABLE.*?)\*/",
    re.DOTALL,
)


def parse_schema_file(text: str, keyspace: str, table: str) -> TableSchema:
    """The schema of the table, or view, that a schema.cql is of; user types that it leaves out are custom ones in it.

    Raises SchemaError when it is not there or cannot be parsed, or is not as Cassandra writes it; LimitError.
    """
    text = _COMMENTED.sub(r"\g<statement>", text)
    if _CASSANDRAS in text:
        _refuse_damaged(text)
    return parse_ddl(text, keyspace, table)


@lru_cache(maxsize=DDL_CACHE_SIZE)
def _refuse_damaged(text: str) -> None:
    """Make sure that no statement is lost, cut off, or passed over for what it begins with or is about."""
    if not text.rstrip().endswith((";", "*/")):
        raise SchemaError("it does not end with a semicolon: it is cut off")
    for start, statement in statement_texts(text):
        if statement and not (READ.match(statement) or _INDEX.match(statement)):
            line, column = line_and_column(text, start)
            raise SchemaError(
                f"CQL, line {line}, column {column}: Cassandra begins no statement with {statement[:20]!r}"
            )
    statements = list(parse_statements(text))
    created = {(each.keyspace, each.name) for each in statements if isinstance(each, CreateTable)}
    for each in statements:
        if isinstance(each, AlterTable) and (each.keyspace, each.name) not in created:
            place = f"CQL, line {each.line}, column {each.column}"
            raise SchemaError(f"{place}: table {each.keyspace}.{each.name} is altered, but not created")


def is_whole(schema: TableSchema) -> bool:
    """Whether all types are native, defined, or classes of Java."""
    columns = schema.partition_key + schema.clustering + schema.static + schema.regular
    return not any(is_left_out(part) for column in columns for part in column.type.parts())


def is_left_out(type_: CqlType) -> bool:
    return type_.kind == "custom" and "." not in type_.class_name


def made_whole(schema: TableSchema, header: TableSchema) -> TableSchema:
    """The schema with the user types that SSTables' headers have by these names. One that no SSTable has a value of
    stays as it is."""
    columns = header.partition_key + header.clustering + header.static + header.regular
    user_types = {part.name: part for column in columns for part in column.type.parts() if part.kind == "udt"}

    def whole(type_: CqlType) -> CqlType:
        if is_left_out(type_):
            return user_types.get(type_.class_name, type_)
        return replace(type_, arguments=tuple(map(whole, type_.arguments)))

    def all_whole(columns: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(replace(column, type=whole(column.type)) for column in columns)

    return replace(
        schema,
        partition_key=all_whole(schema.partition_key),
        clustering=all_whole(schema.clustering),
        static=all_whole(schema.static),
        regular=all_whole(schema.regular),
    )


def view_with_types(text: str, keyspace: str, table: str, header: TableSchema) -> TableSchema | None:
    """A view, by its own statement and what its SSTables' headers tell together; None when the text has no such view.

    Raises SchemaError when the two do not go together, or a selected column is in no SSTable.
    """
    for statement in statements_of(text, keyspace):
        if isinstance(statement, CreateView) and statement.name == table:
            return _view_with_types(statement, header)
    return None


def _view_with_types(statement: CreateView, header: TableSchema) -> TableSchema:
    key = statement.primary_key
    if (len(key.partition), len(key.clustering)) != (len(header.partition_key), len(header.clustering)):
        raise SchemaError(f"the primary key of view {statement.name} has other columns in its SSTables")
    known = {column.name: column for column in header.regular}
    names = [name for name in statement.selected or known if name not in key.partition + key.clustering]
    if unknown := [name for name in names if name not in known]:
        raise SchemaError(f"nothing tells the type of {', '.join(unknown)} in view {statement.name}")
    regular = tuple(column for column in header.regular if column.name in names)
    return replace(
        header,
        id=statement.options.id,
        partition_key=_named(header.partition_key, key.partition),
        clustering=_named(header.clustering, key.clustering),
        regular=regular,
        column_order=select_order((), regular),
        is_view=True,
        strict_liveness=True,  # nothing here tells the key of its table
    )


def _named(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
