"""`make bench`: measure everything, print it, and say it in Markdown for docs/performance-log.md."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from flightsrv.lab.bench import measures
from flightsrv.lab.bench.measures import Measured
from flightsrv.lab.bench.tables import BenchTable, keyvalue_table, mixed_table

BARS = {
    "bench.keyvalue over Flight rows/s": "≥ 1,800,000",
    "bench.mixed over Flight rows/s": "≥ 900,000",
    "bench.keyvalue of the resend ceiling ratio": "≥ 0.5",
    "bench.keyvalue first batch ms": "≤ 50",
    "bench.mixed first batch ms": "≤ 50",
}
"""What the figures are held against, by what and unit."""


@click.command()
@click.option("--folder", type=click.Path(path_type=Path), default=Path(".cache/bench"), help="Where tables are kept.")
@click.option("--repetitions", type=click.IntRange(1), default=5, show_default=True)
@click.option("--scale", type=click.FloatRange(0.001, 1), default=1.0, help="Smaller tables, to try it out.")
@click.option(
    "--cassandra", type=click.Path(path_type=Path, exists=True), help="The same tables, written by Cassandra."
)
@click.option("--out", type=click.Path(path_type=Path), help="A Markdown file to write the figures to.")
def main(folder: Path, repetitions: int, scale: float, cassandra: Path | None, out: Path | None) -> None:
    """Measure flightsrv on this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("tables")
        figures, stages = run(
            folder, repetitions, scale, cassandra, lambda text: progress.update(task, description=text)
        )
    lines = markdown(figures, stages)
    _print(figures, stages)
    if out is not None:
        out.write_text("\n".join(lines) + "\n")


def run(
    folder: Path, repetitions: int, scale: float, cassandra: Path | None, tell: Callable[[str], None]
) -> tuple[list[Measured], dict[str, dict[str, float]]]:
    """All figures, and CPU seconds per million input rows by table and stage."""
    keyvalue = keyvalue_table(folder, int(3_400_000 * scale))
    mixed = mixed_table(folder, int(100_000 * scale), 20)
    figures: list[Measured] = []
    stages: dict[str, dict[str, float]] = {}
    for table, peer_rows in ((keyvalue, keyvalue.input_rows), (mixed, int(300_000 * scale))):
        figures += measures.streams(table, repetitions, tell)
        peer = measures.peer(table, peer_rows, min(repetitions, 3), tell)
        figures += [peer, _ratio(f"{table.table} times cqlite-py", figures, f"{table.table} over Flight", peer)]
    runs_4 = keyvalue_table(folder, int(1_600_000 * scale), runs=4)
    for table in (keyvalue, mixed, runs_4):
        measured, stages[table.name] = measures.engine_alone(table, repetitions, tell)
        figures += measured
    one, four = (
        next(each for each in figures if each.what == f"{name.name} engine CPU") for name in (keyvalue, runs_4)
    )
    figures.append(Measured("CPU per input row, 4 overlapping runs to 1", "ratio", [four.median / one.median]))
    figures += measures.cold_faults(keyvalue, repetitions, tell)
    for partitions in (1_000_000, 10_000_000):
        figures.append(measures.peak_memory(keyvalue_table(folder, int(partitions * scale)), tell))
    if cassandra is not None:
        for name in ("keyvalue", "mixed"):
            table = BenchTable(f"Cassandra's {name}", cassandra, f"bench.{name}", 0)
            figures += [_renamed(each, "Cassandra's ") for each in measures.streams(table, repetitions, tell)]
    return figures, stages


def _ratio(what: str, figures: list[Measured], ours: str, peer: Measured) -> Measured:
    measured = next(each for each in figures if each.what == ours and each.unit == "rows/s")
    return Measured(what, "ratio", [value / peer.median for value in measured.values])


def _renamed(measured: Measured, prefix: str) -> Measured:
    return Measured(prefix + measured.what, measured.unit, measured.values)


def machine() -> str:
    """The machine in one line."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{time.strftime('%Y-%m-%d')}: {len(os.sched_getaffinity(0))} cores of {model}, Linux {platform.release()}, "
        f"Python {platform.python_version()}, load {load}"
    )


def markdown(figures: list[Measured], stages: dict[str, dict[str, float]]) -> list[str]:
    """The report as Markdown lines."""
    lines = [machine(), "", "| figure | median (least to most) | wanted |", "| --- | --- | --- |"]
    lines += [f"| {each.what} | {each.text()} | {BARS.get(f'{each.what} {each.unit}', '')} |" for each in figures]
    names = list(next(iter(stages.values())))
    lines += ["", f"| CPU-s per million input rows | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    lines += [
        f"| {table} | {' | '.join(f'{seconds[name]:.3f}' for name in names)} |" for table, seconds in stages.items()
    ]
    return lines


def _print(figures: list[Measured], stages: dict[str, dict[str, float]]) -> None:
    console = Console()
    console.print(machine())
    table = Table("figure", "median (least to most)", "wanted")
    for each in figures:
        table.add_row(each.what, each.text(), BARS.get(f"{each.what} {each.unit}", ""))
    console.print(table)
    names = list(next(iter(stages.values())))
    by_stage = Table("CPU-s per million input rows", *names)
    for name, seconds in stages.items():
        by_stage.add_row(name, *(f"{seconds[stage]:.3f}" for stage in names))
    console.print(by_stage)


if __name__ == "__main__":
    main()
