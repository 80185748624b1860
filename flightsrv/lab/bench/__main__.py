"""`make bench`: measure everything, print it, and say it in Markdown for docs/performance-log.md."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from flightsrv.lab.bench.figures import Bench
from flightsrv.lab.bench.measures import Measured

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
@click.option("--bti", type=click.Path(path_type=Path, exists=True), help="Those of --cassandra, in format BTI.")
@click.option("--out", type=click.Path(path_type=Path), help="A Markdown file to write the figures to.")
def main(out: Path | None, **options: Any) -> None:
    """Measure flightsrv on this machine."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("tables")
        bench = Bench(**options, tell=lambda text: progress.update(task, description=text))
        bench.run()
    lines = markdown(bench.figures, bench.stages)
    _print(bench.figures, bench.stages)
    if out is not None:
        out.write_text("\n".join(lines) + "\n")


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
