"""The tables that are served: their folders, schemas and SSTables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flightsrv.cql.ddl import find_table
from flightsrv.cql.schema import TableSchema
from flightsrv.cql.system_schema import KEYSPACE as SYSTEM_SCHEMA
from flightsrv.cql.system_schema import TableName, system_schema_tables
from flightsrv.errors import FlightsrvError, NotServedError, SchemaError
from flightsrv.io.buffered import file_stamp
from flightsrv.scan.folders import TableFolder, find_table_folders, list_names, live_sstables, snapshot_folders
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.schemas import (
    ReadRows,
    read_system_schema,
    schema_from_file,
    schema_from_request,
    schema_from_sstable,
)
from flightsrv.scan.sstables import SSTable, open_sstable
from flightsrv.sstable.descriptor import Descriptor


@dataclass(frozen=True, slots=True)
class Schemas:
    """What the system_schema of one data folder says, and the listing it was read from."""

    listing: tuple[tuple[str, ...], ...]
    tables: Mapping[TableName, TableSchema]
    errors: Mapping[TableName, SchemaError]


@dataclass(slots=True)
class Table:
    """A table and the folders that hold it, of all data folders."""

    keyspace: str
    name: str
    folders: list[TableFolder] = field(default_factory=list)
    roots: set[Path] = field(default_factory=set)
    """The given folders it was found in."""


Listing = Mapping[Path, Mapping[Descriptor, frozenset[str]]]
"""Folders, their SSTables, and the components each of those has."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """An SSTable, and what says that it is still the same."""

    components: frozenset[str]
    stamp: tuple[int, int, int]
    sstable: SSTable


class Catalog:
    """Finds tables in the folders it was given. Any thread may use it."""

    def __init__(
        self,
        data: tuple[Path, ...],
        tables: tuple[tuple[str, str, Path], ...],
        ddl: tuple[Path, ...],
        read_rows: ReadRows,
    ) -> None:
        """data: folders to look in; tables: (keyspace, table, folder) by decree; ddl: files that win over the disk."""
        self._data = data
        self._named = tables
        self._read_rows = read_rows
        self._ddl = [_read_ddl(path) for path in ddl]
        self._opened: dict[Path, dict[Descriptor, _Opened]] = {}
        self._schemas: dict[Path, Schemas] = {}

    def tables(self) -> list[Table]:
        """All tables, by keyspace and name. Raises SSTableError when a folder cannot be listed."""
        return sorted(self._find().values(), key=lambda table: (table.keyspace, table.name))

    def table(self, keyspace: str, name: str) -> Table:
        """One table. Raises NotServedError."""
        table = self._find().get((keyspace, name))
        if table is None:
            raise NotServedError(f"table {keyspace}.{name} is not served here")
        return table

    def sstables(self, table: Table, snapshot: str | None = None) -> tuple[SSTable, ...]:
        """The table's SSTables as they are now, opened where they were not yet.

        Raises NotServedError for a snapshot that is not there, SSTableError for an SSTable that cannot be used.
        """
        return self.opened(self.listing(table, snapshot))

    def listing(self, table: Table, snapshot: str | None = None) -> Listing:
        """The table's SSTables by folder, not opened. Raises NotServedError, SSTableError."""
        return {folder: live_sstables(folder) for folder in self.sstable_folders(table, snapshot)}

    def opened(self, listing: Listing) -> tuple[SSTable, ...]:
        """The SSTables of a listing; others of its folders are forgotten. Raises SSTableError."""
        for folder, found in listing.items():
            known = self._opened.setdefault(folder, {})
            for descriptor in [each for each in list(known) if each not in found]:
                known.pop(descriptor, None)
        return tuple(
            self.open(folder, descriptor, components)
            for folder, found in listing.items()
            for descriptor, components in found.items()
        )

    def open(self, folder: Path, descriptor: Descriptor, components: frozenset[str]) -> SSTable:
        """One SSTable, opened unless it is already and its files are the same. Raises SSTableError."""
        known = self._opened.setdefault(folder, {})
        stamp = file_stamp(descriptor.path("Data.db"))
        before = known.get(descriptor)
        if before is not None and (before.components, before.stamp) == (components, stamp):
            return before.sstable
        sstable = open_sstable(descriptor, components)
        known[descriptor] = _Opened(components, stamp, sstable)
        return sstable

    def sstable_folders(self, table: Table, snapshot: str | None) -> list[Path]:
        """The folders whose SSTables make up the table, or a snapshot of it."""
        folders = self._live_folders(table)
        if snapshot is None:
            return [folder.path for folder in folders]
        found = snapshot_folders(folders, snapshot)
        if not found:
            raise NotServedError(f"table {table.keyspace}.{table.name} has no snapshot {snapshot!r}")
        return found

    def schema(self, table: Table, snapshot: str | None = None) -> TableSchema:
        """The table's schema: of the DDL files given, of the snapshot, of system_schema, of schema.cql beside the
        SSTables, of an SSTable's header, in this order. Raises SchemaError, SSTableError, NotServedError."""
        for text in self._ddl:
            if (found := find_table(text, table.keyspace, table.name)) is not None:
                return found
        folders = self.sstable_folders(table, snapshot)
        if snapshot is not None and (found := self._schema_file(table, folders)) is not None:
            return found
        if (found := self._system_schema(table)) is not None:
            return found
        if (found := self._schema_file(table, folders)) is not None:
            return found
        sstables = self.sstables(table, snapshot)
        if not sstables:
            raise SchemaError(f"table {table.keyspace}.{table.name} has neither a schema nor an SSTable to tell one")
        return schema_from_sstable(table.keyspace, table.name, sstables[-1])

    def request_schema(self, request: ScanRequest) -> TableSchema:
        """The schema of what a request asks for; no look at the disk when it brings its own DDL."""
        schema = schema_from_request(request)
        if schema is None:
            schema = self.schema(self.table(request.keyspace, request.table), request.snapshot)
        return schema

    def _find(self) -> dict[TableName, Table]:
        found: dict[TableName, Table] = {}
        for root in self._data:
            for folder in find_table_folders(root):
                self._add(found, folder, root)
        for keyspace, name, path in self._named:
            found[keyspace, name] = Table(keyspace, name, [TableFolder(path, keyspace, name, None)], {path})
        return found

    def _add(self, found: dict[TableName, Table], folder: TableFolder, root: Path) -> None:
        table = found.setdefault((folder.keyspace, folder.table), Table(folder.keyspace, folder.table))
        table.folders.append(folder)
        table.roots.add(root)

    def _live_folders(self, table: Table) -> list[TableFolder]:
        """Those of the table's folders that are of its id: others are of a table of the same name, dropped since."""
        schema = self._system_schema(table)
        if schema is None or schema.id is None:
            return table.folders
        return [folder for folder in table.folders if folder.id in (None, schema.id)]

    def _schema_file(self, table: Table, folders: list[Path]) -> TableSchema | None:
        found = (schema_from_file(folder, table.keyspace, table.name) for folder in folders)
        return next((schema for schema in found if schema is not None), None)

    def _system_schema(self, table: Table) -> TableSchema | None:
        """What the system_schema next to the table says of it, if there is one."""
        if table.keyspace == SYSTEM_SCHEMA:
            return system_schema_tables().get(table.name)
        for root in sorted(table.roots):
            schemas = self._schemas_of(root)
            if (table.keyspace, table.name) in schemas.errors:
                raise schemas.errors[table.keyspace, table.name]
            if (table.keyspace, table.name) in schemas.tables:
                return schemas.tables[table.keyspace, table.name]
        return None

    def _schemas_of(self, root: Path) -> Schemas:
        """The schemas of a data folder, read again when the files of its system_schema are others."""
        folders: dict[str, list[TableFolder]] = {}
        for folder in find_table_folders(root):
            known = system_schema_tables().get(folder.table) if folder.keyspace == SYSTEM_SCHEMA else None
            if known is not None and folder.id in (None, known.id):
                folders.setdefault(folder.table, []).append(folder)
        listing = tuple(tuple(list_names(each.path)) for name in sorted(folders) for each in folders[name])
        known_schemas = self._schemas.get(root)
        if known_schemas is None or known_schemas.listing != listing:
            tables, errors = read_system_schema(folders, self._read_rows) if folders else ({}, {})
            known_schemas = self._schemas[root] = Schemas(listing, tables, errors)
        return known_schemas


def _read_ddl(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"the DDL file {path.name} cannot be read") from error


def table_statistics(catalog: Catalog, table: Table, snapshot: str | None) -> dict[str, Any]:
    """What Statistics.db files say together of a table: the answer of the action `table_stats`.

    Sums before reconciling, so upper bounds. An SSTable that cannot be read is skipped and makes the answer incomplete.
    """
    live_rows = partition_count = sstable_count = skipped = 0
    for folder, found in catalog.listing(table, snapshot).items():
        for descriptor, components in found.items():
            sstable_count += 1
            try:
                stats = catalog.open(folder, descriptor, components).statistics.stats
            except FlightsrvError:
                skipped += 1
                continue
            live_rows += stats.total_rows
            partition_count += stats.partition_count
    return {
        "live_rows": live_rows,
        "partition_count": partition_count,
        "sstable_count": sstable_count,
        "complete": skipped == 0,
        "skipped_sstables": skipped,
    }
