"""The engine alone, on one core: read to slabs, and on to frames that nobody takes.

python -m flightsrv.lab.bench.engine DATA ks.tbl slabs|frames|cold REPETITIONS; cold drops the table from the page cache
before each scan.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from flightsrv.config import Settings
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from flightsrv.telemetry.clocks import ScanClocks


def run_once(engine: Engine, name: str, until: str) -> dict[str, Any]:
    """One scan: rows, bytes of Arrow (0 for slabs), wall and CPU seconds, and CPU seconds by stage."""
    keyspace, table = name.split(".")
    wall, cpu = time.perf_counter(), time.process_time()
    rows = size = 0
    with closing(engine.open_scan(ScanRequest(keyspace, table))) as scan:
        if until == "slabs":
            for selection in scan.selections():
                rows += selection.stop - selection.start
        else:
            for frame in scan.frames():
                rows += frame.rows
                size += frame.arrow_bytes
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    waited_s = scan.clocks.totals()["read"].waited_s
    stages = busy_by_stage(scan.clocks)
    return {"rows": rows, "bytes": size, "seconds": wall, "cpu_s": cpu, "stages": stages, "waited_s": waited_s}


def drop_page_cache(data: Path) -> None:
    """Make the kernel forget what it holds of a folder's files."""
    for path in data.rglob("*.db"):
        descriptor = os.open(path, os.O_RDONLY)
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def busy_by_stage(clocks: ScanClocks) -> dict[str, float]:
    """Seconds each stage worked. On one core that is nobody else's, wall and CPU seconds are the same."""
    return {stage: total.busy_s for stage, total in clocks.totals().items()}


def main(data: str, name: str, until: str, repetitions: str) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    engine = Engine(Settings(data=(Path(data),), disk_threads=2, cpu_threads=1))
    with closing(engine):
        run_once(engine, name, until)
        runs = []
        for _ in range(int(repetitions)):
            if until == "cold":
                drop_page_cache(Path(data))
            runs.append(run_once(engine, name, until))
        print(json.dumps(runs))


if __name__ == "__main__":
    main(*sys.argv[1:])
