"""The tables that tests of the command line and the client have served, and their rows as the engine gives them."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from flightsrv import config
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.warm import TABLES
from tests.reference.fixtures import COPIED
from tests.scan.scanning import copied

RANGES = COPIED / "cassandra-5.0/nb/ranges_asc"
"""Clustering rows in four SSTables, with range tombstones; a node answered as expected.json says."""
EXPECTED = json.loads((RANGES / "expected.json").read_text())
NOW_S: int = EXPECTED["read_at"]
NAMES = ("fx_ranges_asc.ranges_asc", "warm.indexed", "warm.kinds", "warm.old", "warm.uncompressed")
"""All that is served. warm.kinds has every type."""


class ServedTables:
    """What to serve, and an engine of the same tables, without a server."""

    def __init__(self, folder: Path) -> None:
        ddl = folder / "ranges.cql"
        ddl.write_text(EXPECTED["cql"])
        self.arguments = (str(TABLES), "--table", f"{NAMES[0]}={RANGES}", "--ddl", str(ddl))
        self._engine = Engine(
            config.load({"data": (str(TABLES),), "tables": (f"{NAMES[0]}={RANGES}",), "ddl": (str(ddl),)}, {})
        )

    def rows(self, name: str, **request: Any) -> pa.Table:
        """What a scan gives, at NOW_S."""
        keyspace, table = name.split(".")
        with closing(self._engine.open_scan(ScanRequest(keyspace, table, now_s=NOW_S, **request))) as scan:
            batches = [copied(batch) for batch in scan.batches()]
            return pa.Table.from_batches(batches) if batches else scan.schema.empty_table()

    def close(self) -> None:
        self._engine.close()
