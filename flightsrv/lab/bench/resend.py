"""The ceiling: pyarrow's C++ Flight server with every batch of the table ready in memory.

python -m flightsrv.lab.bench.resend DATA ks.tbl --ready-file FILE
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.flight

from flightsrv.config import Settings
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest


class Resender(pyarrow.flight.FlightServerBase):  # type: ignore[misc]
    """Answers every ticket with the same table."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._table = table

    def do_get(self, _context: object, _ticket: object) -> pyarrow.flight.RecordBatchStream:
        return pyarrow.flight.RecordBatchStream(self._table)


def read_table(data: Path, name: str) -> pa.Table:
    """The table in memory, in the very batches that the server sends."""
    keyspace, table = name.split(".")
    engine = Engine(Settings(data=(data,)))
    with closing(engine), closing(engine.open_scan(ScanRequest(keyspace, table))) as scan:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, scan.schema) as writer:
            for batch in scan.batches():
                writer.write_batch(batch)
        return pa.ipc.open_stream(sink.getvalue()).read_all()


def main(data: str, name: str, _flag: str, ready_file: str) -> None:
    server = Resender(read_table(Path(data), name))
    path = Path(ready_file)
    path.with_suffix(".part").write_text(json.dumps({"flight": f"grpc://127.0.0.1:{server.port}"}))
    path.with_suffix(".part").rename(path)
    server.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
