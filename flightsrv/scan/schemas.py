"""Where a table's schema comes from, and the tables of system_schema read with this very reader."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import TableSchema, schema_from_header
from flightsrv.cql.system_schema import KEYSPACE, TableName, system_schema_tables, tables_from_rows
from flightsrv.cql.values import decode
from flightsrv.errors import SchemaError
from flightsrv.scan.folders import TableFolder
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.sstables import SSTable
from flightsrv.slab import Selection

ReadRows = Callable[[TableSchema, list[TableFolder]], list[dict[str, Any]]]
"""All rows of a table in some folders, as Python values."""

SCHEMA_TABLES = ("tables", "columns", "types", "dropped_columns", "views")
SCHEMA_FILE = "schema.cql"


def read_system_schema(
    folders: Mapping[str, list[TableFolder]], read_rows: ReadRows
) -> tuple[dict[TableName, TableSchema], dict[TableName, SchemaError]]:
    """All schemas that the SSTables of system_schema describe, and what is wrong with those that make no sense.

    folders: of each of its tables. Raises SSTableError when they cannot be read.
    """
    rows = {name: read_rows(system_schema_tables()[name], folders.get(name, [])) for name in SCHEMA_TABLES}
    return tables_from_rows(**rows)


def rows_of(schema: TableSchema, selection: Selection) -> list[dict[str, Any]]:
    """A selection's rows as Python values: for the few rows of a schema."""
    columns = schema.clustering + schema.static + schema.regular
    rows = []
    for row in range(selection.start, selection.stop):
        values: dict[str, Any] = {schema.partition_key[0].name: _value(schema.partition_key[0].type, selection, 0, row)}
        for value, column in enumerate(columns, 1):
            values[column.name] = _value(column.type, selection, value, row)
        rows.append(values)
    return rows


def _value(type_: Any, selection: Selection, value: int, row: int) -> Any:
    size = int(selection.size[value, row])
    if size < 0:
        return None
    try:
        return decode(type_, ctypes.string_at(int(selection.at[value, row]), size))
    except ValueError as error:
        raise SchemaError(f"{KEYSPACE} holds a value that is not a {type_}: {error}") from error


def schema_from_file(folder: Path, keyspace: str, table: str) -> TableSchema | None:
    """The schema.cql that a snapshot has beside its SSTables. Raises SchemaError."""
    path = folder / SCHEMA_FILE
    if not path.is_file():
        return None
    try:
        return parse_ddl(path.read_text(encoding="utf-8"), keyspace, table)
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{SCHEMA_FILE} of {keyspace}.{table} cannot be read") from error


def schema_from_sstable(keyspace: str, table: str, sstable: SSTable) -> TableSchema:
    """The schema that one SSTable's serialization header tells."""
    header = sstable.statistics.header
    return schema_from_header(
        keyspace,
        table,
        header.key_type,
        header.clustering_types,
        [(name.encode("utf-8", "surrogateescape"), text) for name, text in header.static_columns],
        [(name.encode("utf-8", "surrogateescape"), text) for name, text in header.regular_columns],
    )


def schema_from_request(request: ScanRequest) -> TableSchema | None:
    """The schema that the client says it is."""
    return None if request.ddl is None else parse_ddl(request.ddl, request.keyspace, request.table)
