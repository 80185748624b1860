"""A scan from its first batch to its last: into a file, into a pipe, or onto a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from rich.console import Console

from flightsrv.client import report
from flightsrv.client.progress import progress
from flightsrv.client.stream import Stream
from flightsrv.client.writers import json_lines, writing


def fetch(stream: Stream, name: str, output: Path | None) -> None:
    """Take all of `stream`, the scan of table `name`, to where it belongs. Raises ServerError, OSError."""
    if output is not None:
        with writing(output, stream.schema) as write:
            _take(stream, name, write)
        print_report(report.console(), stream)
        print(f"\nwritten to {output}, {report.size_text(output.stat().st_size)}")
    elif sys.stdout.isatty():
        rows = take_first(stream, name)
        console = report.console()
        console.print(report.first_rows(rows, console.width), "")
        print_report(console, stream)
    else:
        _take(stream, name, json_lines(sys.stdout))
        sys.stdout.flush()
        if sys.stderr.isatty():
            print_report(Console(stderr=True), stream)


def take_first(stream: Stream, name: str) -> pa.Table:
    """Take all of a stream and keep its first rows, as many as are shown."""
    first: list[pa.RecordBatch] = []

    def keep(batch: pa.RecordBatch) -> None:
        if stream.rows - batch.num_rows < report.ROWS_SHOWN:
            first.append(batch.slice(0, report.ROWS_SHOWN))

    _take(stream, name, keep)
    return pa.Table.from_batches(first, stream.schema).slice(0, report.ROWS_SHOWN)


def print_report(console: Console, stream: Stream) -> None:
    """How fast a stream that has ended was, and what the server says of its stages."""
    console.print(report.speed(stream))
    if stream.report is not None:
        console.print()
        console.print(report.stages(stream.report, console.width))


def _take(stream: Stream, name: str, use: Callable[[pa.RecordBatch], None]) -> None:
    with progress(name, "rows") as tell:
        for batch in stream:
            use(batch)
            tell(stream.rows, stream.total_rows)
