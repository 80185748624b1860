"""What the server asks of the engine (flightsrv.scan.engine). Tests put a small engine of their own in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from flightsrv.scan.inventory import Inventory
from flightsrv.scan.request import ScanRequest
from flightsrv.telemetry.clocks import ScanClocks


class TableInfo(Protocol):
    """A table that is there, whether or not it can be served."""

    @property
    def keyspace(self) -> str: ...
    @property
    def table(self) -> str: ...
    @property
    def sstable_count(self) -> int: ...
    @property
    def bytes_on_disk(self) -> int: ...
    @property
    def partition_count(self) -> int: ...
    @property
    def row_count(self) -> int: ...
    @property
    def schema(self) -> pa.Schema | None: ...
    @property
    def problem(self) -> str | None:
        """Why it cannot be served, or None."""


class Frame(Protocol):
    """A record batch as it goes over the wire."""

    @property
    def data(self) -> bytes:
        """A whole serialized FlightData."""

    @property
    def rows(self) -> int: ...
    @property
    def arrow_bytes(self) -> int: ...


class Scan(Protocol):
    """A scan that is planned and has its SSTables open."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def clocks(self) -> ScanClocks: ...

    def frames(self) -> Iterator[Frame]:
        """The scan's rows; raises ScanCancelledError soon after `cancel`."""

    def cancel(self) -> None:
        """Stop the scan. Any thread may call it, any number of times; it returns at once."""

    def close(self) -> None:
        """Release what the scan holds. Called once, by the thread that takes the frames."""


class Engine(Protocol):
    """Everything that blocks. Any thread may call any of it. Raises errors of the tree in flightsrv.errors."""

    def tables(self) -> Sequence[TableInfo]: ...

    def inventory(self) -> Inventory: ...

    def arrow_schema(self, request: ScanRequest) -> pa.Schema:
        """The schema of what a scan would answer; not a look at the disk when the request brings its DDL."""

    def table_stats(self, keyspace: str, table: str, snapshot: str | None) -> dict[str, Any]: ...

    def open_scan(self, request: ScanRequest) -> Scan: ...
