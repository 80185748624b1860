"""The tables that are served: their folders, schemas and SSTables.

Each request lists the folders it needs anew, in a millisecond or two, so that it always sees what a node would.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from flightsrv.cql.ddl import find_table
from flightsrv.cql.schema import TableSchema
from flightsrv.cql.system_schema import TableName
from flightsrv.errors import FlightsrvError, NotServedError, SchemaError
from flightsrv.io.buffered import file_stamp
from flightsrv.scan.disk_schemas import DiskSchemas, ReadRows, Schemas
from flightsrv.scan.folders import SNAPSHOTS, TableFolder, find_table_folders, listed_folders, snapshot_folders
from flightsrv.scan.live import MAX_LISTINGS, Listing, live_sstables, settled
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.schemas import schema_from_files, schema_from_request, schema_from_sstables
from flightsrv.scan.sstables import SSTable, open_sstable
from flightsrv.sstable.descriptor import Descriptor

NOT_IN_SYSTEM_SCHEMA: Final = ("system", "system_schema")
"""Keyspaces whose tables Cassandra has without writing down their schemas, in some versions."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, as it was found at one time."""

    keyspace: str
    name: str
    folders: tuple[TableFolder, ...]
    """One a data folder; not those of a table of the same name that was dropped."""
    known: TableSchema | FlightsrvError | None = None
    """What system_schema says of it, or what is wrong with that."""

    @property
    def schema(self) -> TableSchema | None:
        """What system_schema says, None when that is not there. Raises SchemaError, SSTableError."""
        if isinstance(self.known, FlightsrvError):
            raise self.known
        return self.known


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
        self._named = _named_tables(tables)
        self._ddl = [_read_ddl(path) for path in ddl]
        self._schemas = DiskSchemas(data, read_rows)
        self._opened: dict[Path, dict[Descriptor, _Opened]] = {}

    def tables(self) -> list[Table]:
        """All tables, by keyspace and name. Raises SSTableError when a folder cannot be listed."""
        found = {**self._found(), **self._named}
        return [table for _, table in sorted(found.items()) if table is not None]

    def table(self, keyspace: str, name: str) -> Table:
        """One table. Raises NotServedError."""
        found = self._named if (keyspace, name) in self._named else self._found(keyspace)
        if (keyspace, name) not in found:
            raise NotServedError(f"table {keyspace}.{name} is not served here")
        table = found[keyspace, name]
        if table is None:
            raise NotServedError(
                f"table {keyspace}.{name} was dropped: system_schema does not know it. "
                "A folder of it is served when it is named by itself"
            )
        return table

    def listing(self, table: Table, snapshot: str | None = None) -> Listing:
        """The table's live SSTables by folder, not opened. Raises NotServedError, SSTableError."""
        return live_sstables(self.sstable_folders(table, snapshot))

    def sstables(self, table: Table, snapshot: str | None = None) -> tuple[SSTable, ...]:
        """The table's SSTables as they are now, opened where they were not yet.

        Raises NotServedError for a snapshot that is not there, SSTableError for an SSTable that cannot be used.
        """
        return settled(lambda: self.listing(table, snapshot), self.opened)

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

    def forget_gone(self) -> None:
        """Forget what was opened in folders that are gone since: of dropped tables, and of cleared snapshots."""
        for folder in list(self._opened):
            if not folder.is_dir():
                self._opened.pop(folder, None)

    def watched_folders(self) -> frozenset[Path]:
        """The folders that tell by what they list which tables and SSTables there are. Raises SSTableError."""
        found = {folder.path for table in self._named.values() if table is not None for folder in table.folders}
        for root in self._data:
            found |= listed_folders(root)
        return frozenset(found)

    def sstable_folders(self, table: Table, snapshot: str | None) -> list[Path]:
        """The folders whose SSTables make up the table, or a snapshot of it. Raises NotServedError, SSTableError."""
        if isinstance(table.known, FlightsrvError):
            raise table.known  # nothing tells which of its folders are those of a dropped table
        if snapshot is None:
            return [folder.path for folder in table.folders]
        found = snapshot_folders(table.folders, snapshot)
        if not found:
            raise NotServedError(f"table {table.keyspace}.{table.name} has no snapshot {snapshot!r}")
        return found

    def schema(self, table: Table, snapshot: str | None = None) -> TableSchema:
        """The table's schema: of the DDL files given, of a snapshot's schema.cql, of system_schema, of a schema.cql
        beside other SSTables, of their headers, in this order. Raises SchemaError, SSTableError, NotServedError."""
        for text in self._ddl:
            if (found := find_table(text, table.keyspace, table.name)) is not None:
                return found
        folders = self.sstable_folders(table, snapshot)
        if table.schema is not None and not any(folder.parent.name == SNAPSHOTS for folder in folders):
            return table.schema
        found = schema_from_files(
            folders, table.keyspace, table.name, table.schema, lambda: self._header_schema(table, snapshot)
        )
        found = found or table.schema or self._header_schema(table, snapshot)
        if found is None:
            raise SchemaError(f"table {table.keyspace}.{table.name} has neither a schema nor an SSTable to tell one")
        return found

    def request_schema(self, request: ScanRequest, table: Table | None = None) -> TableSchema:
        """The schema of what a request asks for; no look at the disk when it brings its own DDL."""
        schema = schema_from_request(request)
        if schema is None:
            schema = self.schema(table or self.table(request.keyspace, request.table), request.snapshot)
        return schema

    def _header_schema(self, table: Table, snapshot: str | None) -> TableSchema | None:
        sstables = self.sstables(table, snapshot)
        return schema_from_sstables(table.keyspace, table.name, sstables) if sstables else None

    def _found(self, keyspace: str | None = None) -> dict[TableName, Table | None]:
        """The tables of one keyspace, or of all, in the data folders; None for one that was dropped."""
        folders: dict[TableName, dict[Path, TableFolder]] = {}
        for root in self._data:
            for folder in find_table_folders(root, keyspace):
                folders.setdefault((folder.keyspace, folder.table), {})[folder.path] = folder
        schemas: Schemas | FlightsrvError
        try:
            schemas = self._schemas.now()
        except FlightsrvError as error:
            schemas = error
        return {name: _table(*name, found.values(), schemas) for name, found in folders.items()}


def _table(keyspace: str, name: str, folders: Iterable[TableFolder], schemas: Schemas | FlightsrvError) -> Table | None:
    """A table of these folders, some of which may be those of one that was dropped; None when all of them are."""
    known: TableSchema | FlightsrvError | None
    try:
        if isinstance(schemas, FlightsrvError):
            raise schemas
        known = schemas.get(keyspace, name)
    except FlightsrvError as error:
        known = error
    table = Table(keyspace, name, tuple(folders), known)
    if isinstance(known, TableSchema) and known.id is not None:
        return replace(table, folders=tuple(each for each in table.folders if each.id in (None, known.id)))
    if known is None and keyspace not in NOT_IN_SYSTEM_SCHEMA and isinstance(schemas, Schemas) and schemas.is_there:
        return None if any(folder.is_of_node for folder in table.folders) else table
    return table


def _named_tables(named: Iterable[tuple[str, str, Path]]) -> dict[TableName, Table | None]:
    """Tables by decree, each of one folder or several; whatever lies in the data folders by that name is another."""
    tables: dict[TableName, Table | None] = {}
    for keyspace, name, path in named:
        before = tables.get((keyspace, name)) or Table(keyspace, name, ())
        folder = TableFolder(path.resolve(), keyspace, name, None)
        tables[keyspace, name] = replace(before, folders=(*before.folders, folder))
    return tables


def _read_ddl(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"the DDL file {path.name} cannot be read") from error


def table_statistics(catalog: Catalog, table: Table, snapshot: str | None) -> dict[str, Any]:
    """What Statistics.db files say together of a table: the answer of the action `table_stats`.

    Sums before reconciling, so upper bounds. An SSTable that cannot be read is skipped and makes the answer incomplete.
    """
    listing = catalog.listing(table, snapshot)
    for _ in range(MAX_LISTINGS):
        answer = _statistics_of(catalog, listing)
        now = listing if answer["complete"] else catalog.listing(table, snapshot)
        if now == listing:
            break
        listing = now  # an SSTable went away before it was open
    return answer


def _statistics_of(catalog: Catalog, listing: Listing) -> dict[str, Any]:
    live_rows = partition_count = sstable_count = skipped = 0
    for folder, found in listing.items():
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
