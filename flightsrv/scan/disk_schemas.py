"""The schemas in the data folders: the tables of system_schema, read with this very reader."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flightsrv.cql.schema import TableSchema
from flightsrv.cql.system_schema import KEYSPACE, TableName, system_schema_tables, tables_from_rows
from flightsrv.cql.values import decode
from flightsrv.errors import SchemaError
from flightsrv.scan.folders import Stamps, find_table_folders, list_stamps
from flightsrv.slab import Selection

ReadRows = Callable[[TableSchema, list[Path]], list[dict[str, Any]]]
"""All rows of a table whose SSTables are in some folders, as Python values."""

SCHEMA_TABLES: Final = ("tables", "columns", "types", "dropped_columns", "views")


@dataclass(frozen=True, slots=True)
class Schemas:
    """What system_schema says, and the files it was read from."""

    files: Mapping[Path, Stamps]
    tables: Mapping[TableName, TableSchema]
    errors: Mapping[TableName, SchemaError]

    @property
    def is_there(self) -> bool:
        """Whether there is a system_schema, so that a table it does not know is none."""
        return bool(self.tables or self.errors)

    def get(self, keyspace: str, table: str) -> TableSchema | None:
        """A table's schema, None when it is not known. Raises SchemaError when it makes no sense."""
        if (keyspace, table) in self.errors:
            raise self.errors[keyspace, table]
        known = self.tables.get((keyspace, table))
        return system_schema_tables().get(table) if known is None and keyspace == KEYSPACE else known


class DiskSchemas:
    """system_schema, read again when its files are others. Any thread may use it."""

    def __init__(self, data: tuple[Path, ...], read_rows: ReadRows) -> None:
        """data: all data folders; a node of 3.x spreads each table of system_schema over them as it does others."""
        self._data = data
        self._read_rows = read_rows
        self._last = Schemas({}, {}, {})

    def now(self) -> Schemas:
        """What it says now. Raises SSTableError when it cannot be read."""
        folders = self._folders()
        files = {path: list_stamps(path) for paths in folders.values() for path in paths}
        last = self._last
        if files != last.files:
            rows = {
                name: self._read_rows(system_schema_tables()[name], folders.get(name, [])) for name in SCHEMA_TABLES
            }
            last = self._last = Schemas(files, *tables_from_rows(**rows))
        return last

    def _folders(self) -> dict[str, list[Path]]:
        """Where the SSTables of each of its tables are."""
        found: dict[str, list[Path]] = {}
        for root in self._data:
            for folder in find_table_folders(root, KEYSPACE):
                fixed = system_schema_tables().get(folder.table)
                if folder.table in SCHEMA_TABLES and fixed is not None and folder.id in (None, fixed.id):
                    found.setdefault(folder.table, []).append(folder.path)
        return found


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
