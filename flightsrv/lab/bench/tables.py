"""The tables that are measured, written once and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus import keyvalue
from corpus.series import Series


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


def series_table(folder: Path, series: Series, sensors: int, rows: int) -> BenchTable:
    """A series, such as bench.mixed."""
    name = f"{series.name}-{sensors}-{rows}"
    return written(name, folder, f"bench.{series.name}", lambda data: series.write(data, sensors, rows).rows)


def cassandras_table(data: Path, name: str) -> BenchTable | None:
    """A table that Cassandra wrote, or None where there is no such table."""
    there = any(data.glob(f"bench/{name}-*"))
    return BenchTable(f"Cassandra's {name}", data, f"bench.{name}", 0) if there else None
