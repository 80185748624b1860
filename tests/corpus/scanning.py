"""Scanning a folder of a corpus table with the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa

from corpus.table import Table
from flightsrv.config import Settings, TableFolder
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest


@contextmanager
def scanned(table: Table, folder: Path, now_s: int) -> Iterator[Iterator[pa.RecordBatch]]:
    """The table's rows as they are at a second, in batches over memory that the next one uses again."""
    settings = Settings(tables=(TableFolder("bench", table.name, folder),))
    with closing(Engine(settings)) as engine:
        scan = engine.open_scan(ScanRequest("bench", table.name, ddl=table.cql(), now_s=now_s))
        with closing(scan), closing(scan.batches()) as batches:
            yield batches
