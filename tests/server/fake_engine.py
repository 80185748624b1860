"""An engine without SSTables: its tables are made up, and its scans do what a test tells them to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from flightsrv.errors import NotServedError, ScanCancelledError
from flightsrv.scan.inventory import Inventory
from flightsrv.scan.request import ScanRequest
from flightsrv.server.flight_pb2 import FlightData
from flightsrv.telemetry.clocks import ScanClocks

SCHEMA = pa.schema([pa.field("k", pa.int64(), metadata={"cqlite:pushdown": "full"}), pa.field("v", pa.binary())])


@dataclass(frozen=True)
class FakeFrame:
    data: bytes
    rows: int
    arrow_bytes: int


@dataclass(frozen=True)
class FakeTable:
    keyspace: str
    table: str
    sstable_count: int = 2
    bytes_on_disk: int = 1000
    partition_count: int = 3
    row_count: int = 300
    schema: pa.Schema | None = SCHEMA
    problem: str | None = None


def frame_of(rows: int, value_bytes: int = 8) -> FakeFrame:
    """A frame of `rows` rows, each with a value of so many bytes."""
    values = pa.array([bytes(value_bytes)] * rows, pa.binary())
    batch = pa.record_batch([pa.array(range(rows), pa.int64()), values], schema=SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_batch(batch)
    _schema, message = pa.ipc.MessageReader.open_stream(sink.getvalue())
    data = FlightData(data_header=message.metadata.to_pybytes(), data_body=message.body.to_pybytes())
    return FakeFrame(data.SerializeToString(), rows, batch.nbytes)


@dataclass
class FakeScan:
    """Gives `frames_left` frames (None: endlessly); `at_frame` is called before each with its number."""

    frame: FakeFrame
    frames_left: int | None
    at_frame: Callable[[int], object]
    schema: pa.Schema = SCHEMA
    clocks: ScanClocks = field(default_factory=ScanClocks)
    given: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    cancelled_at: float | None = None
    closed: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def frames(self) -> Iterator[FakeFrame]:
        self.thread = threading.current_thread()
        clocks = {stage: self.clocks.stage(stage) for stage in ("read", "decompress", "decode", "merge", "encode")}
        while self.frames_left is None or self.given < self.frames_left:
            self.at_frame(self.given)
            if self.cancelled.is_set():
                raise ScanCancelledError("the scan was cancelled")
            for clock in clocks.values():
                clock.add_busy(1_000_000)
            clocks["decompress"].add_starved(2_000_000)
            clocks["read"].add_waited(2_000_000)
            self.given += 1
            yield self.frame

    def cancel(self) -> None:
        self.cancelled_at = self.cancelled_at or time.monotonic()
        self.cancelled.set()

    def close(self) -> None:
        self.closed.set()


@dataclass
class FakeEngine:
    known: list[FakeTable] = field(default_factory=lambda: [FakeTable("ks", "t"), FakeTable("other", "u")])
    frame: FakeFrame = field(default_factory=lambda: frame_of(100))
    frames: int | None = 3
    at_open: Callable[[ScanRequest], object] = lambda _request: None
    at_frame: Callable[[int], object] = lambda _number: None
    at_schema: Callable[[ScanRequest], object] = lambda _request: None
    at_stats: Callable[[], object] = lambda: None
    complete: bool = True
    scans: list[FakeScan] = field(default_factory=list)
    requests: list[ScanRequest] = field(default_factory=list)

    def tables(self) -> list[FakeTable]:
        return self.known

    def inventory(self) -> Inventory:
        names = [f"{table.keyspace}.{table.table}" for table in self.known]
        return Inventory({name: frozenset({(Path(name), "nb-1-big")}) for name in names})

    def arrow_schema(self, request: ScanRequest) -> pa.Schema:
        self.at_schema(request)
        if request.ddl is None:
            self._find(request.keyspace, request.table)
        return SCHEMA

    def table_stats(self, keyspace: str, table: str, snapshot: str | None) -> dict[str, Any]:  # noqa: ARG002
        self.at_stats()
        found = self._find(keyspace, table)
        return {
            "live_rows": found.row_count,
            "partition_count": found.partition_count,
            "sstable_count": found.sstable_count,
            "complete": self.complete,
            "skipped_sstables": 0 if self.complete else 1,
        }

    def open_scan(self, request: ScanRequest) -> FakeScan:
        self.requests.append(request)
        self._find(request.keyspace, request.table)
        self.at_open(request)
        scan = FakeScan(self.frame, self.frames, self.at_frame)
        self.scans.append(scan)
        return scan

    def _find(self, keyspace: str, table: str) -> FakeTable:
        for known in self.known:
            if (known.keyspace, known.table) == (keyspace, table):
                return known
        raise NotServedError(f"there is no table {keyspace}.{table}")
