"""What is measured, one function a figure; each gives its repetitions, never a verdict."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flightsrv.lab.bench.processes import flightsrv, read_once, resender
from flightsrv.lab.bench.tables import BenchTable

Tell = Callable[[str], None]


@dataclass(slots=True)
class Measured:
    """The repetitions of one figure."""

    what: str
    unit: str
    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def text(self) -> str:
        """`1,812,000 rows/s (1,790,000 to 1,850,000)`."""
        form = "{:,.0f}" if self.median >= 100 else "{:,.2f}"
        low, middle, high = (form.format(value) for value in (min(self.values), self.median, max(self.values)))
        return f"{middle} {self.unit} ({low} to {high})"


def streams(table: BenchTable, repetitions: int, tell: Tell) -> list[Measured]:
    """One DoGet to a pyarrow client on the same cores, beside a pyarrow server that resends ready batches."""
    ours = Measured(f"{table.table} over Flight", "rows/s")
    size = Measured(f"{table.table} over Flight", "MB/s of Arrow")
    first = Measured(f"{table.table} first batch", "ms")
    cpu = Measured(f"{table.table} server CPU", "CPU-s per million rows")
    theirs = Measured(f"{table.table} resent by pyarrow's server", "rows/s")
    ratio = Measured(f"{table.table} of the resend ceiling", "ratio")
    with flightsrv(table.data) as server, resender(table.data, table.table) as ceiling:
        for repetition in range(repetitions + 1):
            before = server.cpu_s()
            one = read_once(server.url, table.table)
            used = server.cpu_s() - before
            other = read_once(ceiling.url, table.table)
            if repetition == 0:
                continue  # warms both
            tell(f"{table.table}: stream {repetition} of {repetitions}")
            ours.values.append(one["rows"] / one["seconds"])
            size.values.append(one["bytes"] / one["seconds"] / 1e6)
            first.values.append(one["first_batch_s"] * 1000)
            cpu.values.append(used / one["rows"] * 1e6)
            theirs.values.append(other["rows"] / other["seconds"])
            ratio.values.append(ours.values[-1] / theirs.values[-1])
    return [ours, size, first, cpu, theirs, ratio]


def engine_alone(table: BenchTable, repetitions: int, tell: Tell) -> tuple[list[Measured], dict[str, float]]:
    """The engine on one core: to slabs, and to frames with its CPU seconds per million input rows by stage."""
    tell(f"{table.table} ({table.name}): engine alone")
    slabs = Measured(f"{table.name} engine, to slabs, one core", "rows/s")
    frames = Measured(f"{table.name} engine, to frames, one core", "rows/s")
    size = Measured(f"{table.name} engine, to frames, one core", "MB/s of Arrow")
    input_cpu = Measured(f"{table.name} engine CPU", "ns per input row")
    slabs.values = [each["rows"] / each["seconds"] for each in _engine(table, "slabs", repetitions)]
    runs = _engine(table, "frames", repetitions)
    frames.values = [each["rows"] / each["seconds"] for each in runs]
    size.values = [each["bytes"] / each["seconds"] / 1e6 for each in runs]
    input_cpu.values = [each["cpu_s"] / table.input_rows * 1e9 for each in runs]
    stages = {
        stage: statistics.median(each["stages"][stage] for each in runs) / table.input_rows * 1e6
        for stage in runs[0]["stages"]
    }
    return [slabs, frames, size, input_cpu], stages


def formats(big: BenchTable, bti: BenchTable, repetitions: int, tell: Tell) -> list[Measured]:
    """The same rows as BIG and as BTI, in turn."""
    as_big = Measured(f"{big.name} as BIG over Flight", "rows/s")
    as_bti = Measured(f"{big.name} as BTI over Flight", "rows/s")
    ratio = Measured(f"{big.name}, BTI to BIG", "ratio")
    with flightsrv(big.data) as big_server, flightsrv(bti.data) as bti_server:
        for repetition in range(repetitions + 1):
            one, other = read_once(big_server.url, big.table), read_once(bti_server.url, bti.table)
            if repetition == 0:
                continue  # warms both
            tell(f"{big.name}: BIG and BTI, {repetition} of {repetitions}")
            as_big.values.append(one["rows"] / one["seconds"])
            as_bti.values.append(other["rows"] / other["seconds"])
            ratio.values.append(as_bti.values[-1] / as_big.values[-1])
    return [as_big, as_bti, ratio]


def cold_faults(table: BenchTable, repetitions: int, tell: Tell) -> list[Measured]:
    """How long a scan waits for bytes, with the page cache dropped and warm: what stream_cold_fault says."""
    figures = []
    for state, until in (("cold", "cold"), ("warm", "frames")):
        tell(f"{table.table}: {state} scans")
        runs = _engine(table, until, repetitions)
        waited = [each["waited_s"] * 1000 for each in runs]
        figures.append(Measured(f"{table.table} stream_cold_fault, {state}", "ms", waited))
    return figures


def _engine(table: BenchTable, until: str, repetitions: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _json_of("flightsrv.lab.bench.engine", table, until, str(repetitions))
    return found


def peer(table: BenchTable, rows: int, repetitions: int, tell: Tell) -> Measured:
    """cqlite-py streaming the same files, in process."""
    measured = Measured(f"{table.table} by cqlite-py", "rows/s")
    for _ in range(repetitions):
        tell(f"{table.table}: cqlite-py")
        one = _json_of("flightsrv.lab.bench.peer", table, str(rows))
        measured.values.append(one["rows"] / one["seconds"])
    return measured


def peak_memory(table: BenchTable, tell: Tell) -> Measured:
    """The server's largest resident memory after two whole scans."""
    tell(f"{table.name}: memory")
    measured = Measured(f"{table.name} server's peak RSS", "MiB")
    with flightsrv(table.data) as server:
        for _ in range(2):
            read_once(server.url, table.table)
        measured.values.append(server.peak_rss_mib())
    return measured


def _json_of(module: str, table: BenchTable, *arguments: str) -> Any:
    command = [sys.executable, "-m", module, str(table.data), table.table, *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
