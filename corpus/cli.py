"""`flightsrv corpus …`: write tables to measure and test with."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from corpus import collections, keyvalue, mixed, sparse, sparse_80, wide
from corpus.series import Series
from corpus.table import VERSIONS
from corpus.writer import Written

Write = Callable[[Callable[[int], None]], Written]


@click.group()
def corpus() -> None:
    """Write Cassandra SSTables of made-up rows, the same for the same seed."""


def _run(what: str, steps: int, write: Write) -> None:
    """Write with a progress bar on stderr, then say what was written on stdout."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeRemainingColumn())
    began = time.monotonic()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=steps)
        try:
            written = write(lambda count: bar.advance(task, count))
        except FileExistsError as error:
            raise click.ClickException(str(error)) from None
    seconds = time.monotonic() - began
    rate = written.rows / seconds
    click.echo(
        f"{written.folder}: {written.rows:,} rows, {written.data_bytes:,} bytes of Data.db, "
        f"{seconds:.1f} s, {rate:,.0f} rows/s"
    )


def _shared_options(command: Callable[..., None]) -> Callable[..., None]:
    share = click.FloatRange(0, 1)
    for option in (
        click.option("--deletion-share", type=share, default=0.0, help="Share of what is deleted.", show_default=True),
        click.option("--ttl-share", type=share, default=0.0, help="Share of rows with a TTL.", show_default=True),
        click.option("--seed", type=int, default=1, show_default=True),
        click.option("--version", type=click.Choice(VERSIONS), default="nb", show_default=True),
        click.option("--runs", type=click.IntRange(1), default=1, help="Overlapping SSTables.", show_default=True),
        click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="A data folder."),
    ):
        command = option(command)
    return command


@corpus.command("keyvalue")
@click.option("--partitions", type=click.IntRange(1), required=True)
@_shared_options
def write_keyvalue(out: Path, partitions: int, **options: Any) -> None:
    """Write bench.keyvalue: a text of about 200 bytes for each key."""
    steps = partitions * options["runs"]
    _run("bench.keyvalue", steps, lambda progress: keyvalue.write(out, partitions, progress=progress, **options))


def _series(series: Series, told: str) -> None:
    """A command that writes a series."""

    @corpus.command(series.name.replace("_", "-"), help=f"Write bench.{series.name}: {told}.")
    @click.option("--sensors", type=click.IntRange(1), required=True)
    @click.option("--rows-per-sensor", type=click.IntRange(1), required=True)
    @_shared_options
    def write(out: Path, sensors: int, rows_per_sensor: int, **options: Any) -> None:
        steps = sensors * options["runs"]
        _run(
            f"bench.{series.name}",
            steps,
            lambda progress: series.write(out, sensors, rows_per_sensor, progress=progress, **options),
        )


_series(mixed.SERIES, "a time series of twelve columns of mixed types for each sensor")
_series(wide.SERIES, "a time series of twenty columns, of every scalar type")
_series(collections.SERIES, "a time series of a list, a set, a map, a frozen list and a user-defined type")
_series(sparse.SERIES, "a time series of sixty columns, of which a row has six")
_series(sparse_80.SERIES, "a time series of eighty columns, of which a row has eight")
