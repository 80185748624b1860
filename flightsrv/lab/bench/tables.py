"""The tables that are measured, written once and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus import keyvalue, mixed


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A data folder with one table."""

    name: str
    data: Path
    table: str
    input_rows: int
    """Rows in all its SSTables together."""


def written(name: str, folder: Path, table: str, write: Callable[[Path], int]) -> BenchTable:
    """The table, written now if it is not there from before. `write` returns the rows written."""
    data, done = folder / name, folder / f"{name}.rows"
    if not done.exists():
        done.write_text(str(write(data)))
    return BenchTable(name, data, table, int(done.read_text()))


def keyvalue_table(folder: Path, partitions: int, runs: int = 1) -> BenchTable:
    """bench.keyvalue; with several runs, one key in five stands in each other run too."""
    name = f"keyvalue-{partitions}-{runs}"
    return written(name, folder, "bench.keyvalue", lambda data: keyvalue.write(data, partitions, runs=runs).rows)


def mixed_table(folder: Path, sensors: int, rows: int) -> BenchTable:
    """bench.mixed."""
    return written(f"mixed-{sensors}-{rows}", folder, "bench.mixed", lambda data: mixed.write(data, sensors, rows).rows)
