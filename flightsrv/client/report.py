"""What a person sees of tables, rows and scans, for rich to render."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from flightsrv.client.connection import ServedTable
from flightsrv.client.plain import json_values
from flightsrv.client.stream import StageReport, StageTimes, Stream

ROWS_SHOWN = 10
COLUMN_CELLS = 14
"""Width that a column of rows needs to be worth showing."""
CHARACTERS_SHOWN = 200
"""Of a value."""
WIDEST_BAR_CELLS = 60
BESIDE_BARS_CELLS = 44
"""What the names and the times of stages take beside their bars."""
WIDE_CELLS = 10_000

SHADES = (("busy", "█", "green"), ("starved", "▒", "blue"), ("blocked", "░", "yellow"))
"""Each kind of time, how it looks without colours and with them."""

PACE = {
    "read": "the disk sets the pace",
    "decompress": "undoing the compression sets the pace",
    "decode": "taking the rows apart sets the pace",
    "merge": "reconciling the SSTables sets the pace",
    "encode": "putting Arrow batches together sets the pace",
    "write": "the network and the client set the pace",
}
"""What it means that a stage is the bottleneck."""


def console() -> Console:
    """Where a command prints to: as wide as the terminal, and without one so wide that nothing is cut or broken."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=WIDE_CELLS)


def tables_served(tables: Sequence[ServedTable]) -> RenderableType:
    """A line a table; those that cannot be served below, with the reason."""
    served = Table(box=None, pad_edge=False, header_style="bold")
    served.add_column("table", no_wrap=True)
    for heading in ("rows", "partitions", "SSTables", "on disk"):
        served.add_column(heading, justify="right", no_wrap=True)
    served.add_column("columns", overflow="fold")
    for table in tables:
        if table.problem is None:
            counts = (f"{count:,}" for count in (table.rows, table.partitions, table.sstables))
            served.add_row(table.name, *counts, size_text(table.bytes_on_disk), _columns_text(table.schema))
    problems = [Text(f"not served: {table.problem}", "yellow") for table in tables if table.problem is not None]
    parts: list[RenderableType] = [served] if served.row_count else [Text("no tables")]
    return Group(*parts, *([Text()] if problems else []), *problems)


def _columns_text(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {type_text(field.type)}" for field in schema)


def type_text(type_: pa.DataType) -> str:
    """An Arrow type as this program's documents call it: uuid, list<item: string>."""
    return "uuid" if isinstance(type_, pa.BaseExtensionType) else str(type_)


def first_rows(rows: pa.Table, width: int) -> RenderableType:
    """The first of `rows`, a line each, as many of the columns as fit into `width` cells."""
    count = max(1, min(rows.num_columns, width // COLUMN_CELLS))
    columns = rows.slice(0, ROWS_SHOWN).columns[:count]
    cells = [[_cell(value) for value in json_values(column.combine_chunks())] for column in columns]
    names = [Text(name, "bold") for name in rows.column_names[:count]]
    wanted = [max(cell.cell_len for cell in [name, *column]) for name, column in zip(names, cells, strict=True)]
    shown = Table(box=None, pad_edge=False)
    for name, column, cells_wide in zip(names, columns, _widths(wanted, width - 2 * (count - 1)), strict=True):
        shown.add_column(name, no_wrap=True, overflow="ellipsis", justify=_justify(column.type), width=cells_wide)
    for row in zip(*cells, strict=True):
        shown.add_row(*row)
    hidden = rows.num_columns - count
    return Group(shown, Text(f"and {hidden} more columns", "dim")) if hidden else shown


def _widths(wanted: list[int], room: int) -> list[int]:
    """As wide as each column wants to be; those that want more than is left for each share it."""
    widths = list(wanted)
    left = room
    for done, index in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        widths[index] = min(wanted[index], left // (len(wanted) - done))
        left -= widths[index]
    return widths


def _justify(type_: pa.DataType) -> Any:
    is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    return "right" if is_number else "left"


def _cell(value: object) -> Text:
    if value is None:
        return Text("null", "dim")
    text = str(value)[:CHARACTERS_SHOWN]
    return Text("".join(each if each.isprintable() else "·" for each in text))


def speed(stream: Stream) -> RenderableType:
    """How many rows and bytes came, how fast, and when the first did."""
    seconds = max(stream.seconds, 1e-9)
    text = Text()
    text.append(f"{stream.rows:,} rows", "bold")
    text.append(f" and {size_text(stream.arrow_bytes)} of Arrow in {time_text(stream.seconds)}: ")
    text.append(f"{_rate_text(stream.rows / seconds)} rows/s, {stream.arrow_bytes / seconds / 1e6:,.0f} MB/s", "bold")
    if stream.first_batch_s is not None:
        text.append(f"; first batch after {time_text(stream.first_batch_s)}")
    return text


def stages(report: StageReport, width: int) -> RenderableType:
    """A bar a stage of where its time went, and the bottleneck. `read x4`: the time of four reads at once."""
    bar_cells = min(WIDEST_BAR_CELLS, width - BESIDE_BARS_CELLS)
    bars = Table(box=None, pad_edge=False, header_style="bold")
    bars.add_column("stage")
    bars.add_column(_legend())
    for name, _, colour in SHADES:
        bars.add_column(Text(name, f"bold {colour}"), justify="right")
    for each in report.stages:
        if each.lanes:
            times = (each.busy_s, each.starved_s, each.blocked_s)
            stage = Text(each.stage, "bold" if each.stage == report.bottleneck else "")
            if each.lanes > 1:
                stage.append(f" x{each.lanes}", "dim")
            bars.add_row(stage, _bar(each, bar_cells), *map(time_text, times))
    if not report.bottleneck:
        return bars
    bottleneck = Text("bottleneck: ")
    bottleneck.append(report.bottleneck, "bold")
    bottleneck.append(f": {PACE.get(report.bottleneck, '')}")
    return Group(bars, Text(), bottleneck)


def _legend() -> Text:
    return Text("  ").join(Text(f"{shade} {name}", colour) for name, shade, colour in SHADES)


def _bar(times: StageTimes, cells: int) -> Text:
    """The stage's life as one bar of three shades."""
    bar = Text()
    shares = (times.busy_s, times.busy_s + times.starved_s, times.life_s)
    start = 0
    for (_, shade, colour), share in zip(SHADES, shares, strict=True):
        stop = round(cells * share / times.life_s) if times.life_s else 0
        bar.append(shade * (stop - start), colour)
        start = stop
    return bar


def size_text(size: float) -> str:
    """Bytes as people say them: 599 MB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if size < 100 else f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.2f} GB" if size < 1000 else f"{size / 1000:.2f} TB"


def time_text(seconds: float) -> str:
    """Seconds as people say them: 12 ms, 1.32 s."""
    if seconds == 0:
        return "0"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


def _rate_text(rate: float) -> str:
    return f"{rate / 1e6:.2f} million" if rate >= 1e6 else f"{rate:,.0f}"
