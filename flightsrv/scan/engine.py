"""The engine as its server sees it: tables, schemas and scans, over the pools and the memory that all scans share."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from flightsrv.arrow.types import TypeMapping, arrow_schema
from flightsrv.config import ArrowTypes, Settings
from flightsrv.cql.schema import TableSchema
from flightsrv.errors import FlightsrvError
from flightsrv.scan.catalog import Catalog, Table, table_statistics
from flightsrv.scan.disk_schemas import rows_of
from flightsrv.scan.flow import Pools
from flightsrv.scan.history import result_schema
from flightsrv.scan.inventory import Inventory, take_inventory
from flightsrv.scan.live import Listing, live_sstables, settled
from flightsrv.scan.plan import plan_scan
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.run import Scan
from flightsrv.scan.runs import check_fit
from flightsrv.scan.sstables import open_sstable
from flightsrv.slab import BufferPool


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table that is there, whether or not it can be served."""

    keyspace: str
    table: str
    sstable_count: int
    bytes_on_disk: int
    """Of all Data.db."""
    partition_count: int
    row_count: int
    schema: pa.Schema | None
    problem: str | None
    """Why it cannot be served, or None."""


class Engine:
    """Everything that blocks. Any thread may call any of it."""

    def __init__(self, settings: Settings) -> None:
        """Raises SchemaError when a DDL file cannot be read."""
        self._settings = settings
        self._pools = Pools(settings.disk_threads, settings.cpu_threads)
        self._buffers = BufferPool()
        self.catalog = Catalog(settings.data, settings.tables, settings.ddl, self._rows)

    def tables(self) -> list[TableInfo]:
        """Every table there is. Raises SSTableError when a folder cannot be listed."""
        infos = [self._info(table) for table in self.catalog.tables()]
        return [info for info in infos if info is not None]

    def inventory(self) -> Inventory:
        """The tables and SSTables there are, not opened. Raises SSTableError when a folder cannot be listed."""
        return take_inventory(self.catalog)

    def arrow_schema(self, request: ScanRequest) -> pa.Schema:
        """The schema of what a scan would answer; no look at the disk when the request brings its DDL.

        Raises NotServedError, RequestError, SchemaError, SSTableError.
        """
        return result_schema(self.catalog.request_schema(request), request, self._mapping(request.types))

    def table_stats(self, keyspace: str, table: str, snapshot: str | None) -> dict[str, Any]:
        """The answer of the action `table_stats`. Raises NotServedError."""
        return table_statistics(self.catalog, self.catalog.table(keyspace, table), snapshot)

    def open_scan(self, request: ScanRequest) -> Scan:
        """A scan of the table as it is now. Raises NotServedError, RequestError, SchemaError, SSTableError."""
        catalog = self.catalog

        def see() -> tuple[Table, Listing]:
            table = catalog.table(request.keyspace, request.table)
            return table, catalog.listing(table, request.snapshot)

        def open_seen(seen: tuple[Table, Listing]) -> Scan:
            table, listing = seen
            schema = catalog.request_schema(request, table)
            sstables = catalog.opened(listing)
            for sstable in sstables:
                check_fit(sstable, schema)
            plan = plan_scan(schema, sstables, request, self._mapping(request.types))
            return Scan(plan, self._settings, self._pools, self._buffers)

        return settled(see, open_seen)

    def close(self) -> None:
        """End the threads; scans must be closed."""
        self._pools.close()

    def _info(self, table: Table) -> TableInfo | None:
        """None for a folder without SSTables of its own: what is left of a dropped table, or one not yet flushed."""
        try:
            sstables = self.catalog.sstables(table)
            if not sstables:
                return None
            schema = self.catalog.schema(table)
        except FlightsrvError as error:
            return TableInfo(table.keyspace, table.name, 0, 0, 0, 0, None, str(error))
        stats = [each.statistics.stats for each in sstables]
        return TableInfo(
            table.keyspace,
            table.name,
            len(sstables),
            sum(each.data_file_bytes for each in sstables),
            sum(each.partition_count for each in stats),
            sum(each.total_rows for each in stats),
            arrow_schema(schema, None, self._mapping(None)),
            None,
        )

    def _mapping(self, types: ArrowTypes | None) -> TypeMapping:
        """How a request that asks for these types, or for none, gets its values."""
        return TypeMapping((types or self._settings.arrow_types) == "native", self._settings.on_unrepresentable)

    def _rows(self, schema: TableSchema, folders: list[Path]) -> list[dict[str, Any]]:
        """All rows of a small table, as Python values."""
        return settled(lambda: live_sstables(folders), lambda listing: self._rows_of(schema, listing))

    def _rows_of(self, schema: TableSchema, listing: Listing) -> list[dict[str, Any]]:
        found = [item for sstables in listing.values() for item in sstables.items()]
        opened = tuple(open_sstable(descriptor, components) for descriptor, components in found)
        plan = plan_scan(schema, opened, ScanRequest(schema.keyspace, schema.table))
        scan = Scan(plan, self._settings, self._pools, self._buffers)
        with closing(scan), closing(scan.selections()) as selections:
            return [row for selection in selections for row in rows_of(schema, selection)]
