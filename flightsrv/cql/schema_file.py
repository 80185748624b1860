"""schema.cql: the statements that Cassandra puts into a snapshot of a table, of which not all can be taken as they are.

- From 4.0 on, a table WITH COMPACT STORAGE stands in a comment.
- A view stands alone, without the base table that tells the types of its columns.
- 3.11 leaves out user types that are used within tuples, and writes names of fields without the quotes they need.

Source: org.apache.cassandra.db.SchemaCQLHelper (ColumnFamilyStoreCQLHelper in 3.11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from flightsrv.cql.ddl import parse_ddl, statements_of
from flightsrv.cql.schema import Column, TableSchema, select_order
from flightsrv.cql.statements import CreateView
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError

_COMMENTED: Final = re.compile(
    r"/\*\s*Warning: Table [^\n]* omitted because it has constructs not compatible with CQL"
    r".*?(?P<statement>CREATE TABLE.*?)\*/",
    re.DOTALL,
)


def parse_schema_file(text: str, keyspace: str, table: str) -> TableSchema:
    """The schema of the table, or view, that a schema.cql is of.

    Raises SchemaError when it is not there, cannot be parsed, or uses a type that it does not define; LimitError.
    """
    schema = parse_ddl(_COMMENTED.sub(r"\g<statement>", text), keyspace, table)
    for column in schema.partition_key + schema.clustering + schema.static + schema.regular:
        for name in _undefined(column.type):
            raise SchemaError(f"{table} has a column {column.name} of type {name}, which is not defined")
    return schema


def _undefined(type_: CqlType) -> Iterator[str]:
    """The names in a type that are neither native, nor defined, nor a class of Java."""
    if type_.kind == "custom" and "." not in type_.class_name:
        yield type_.class_name
    for argument in type_.arguments:
        yield from _undefined(argument)


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
    )


def _named(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, name=name) for column, name in zip(columns, names, strict=True))
