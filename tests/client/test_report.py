"""What a person sees."""

from __future__ import annotations

from io import StringIO

import pyarrow as pa
import pytest
from rich.console import Console, RenderableType

from flightsrv.client import report
from flightsrv.client.connection import ServedTable
from flightsrv.client.stream import StageReport, StageTimes
from flightsrv.telemetry.clocks import STAGES


def shown(what: RenderableType, width: int = 120) -> list[str]:
    out = StringIO()
    Console(file=out, width=width).print(what)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def served(**changed: object) -> ServedTable:
    known = {
        "keyspace": "ks",
        "table": "t",
        "sstables": 4,
        "bytes_on_disk": 599_293_942,
        "partitions": 12,
        "rows": 3_400_000,
        "schema": pa.schema([("id", pa.uuid()), ("tags", pa.list_(pa.string()))]),
        "problem": None,
    }
    return ServedTable(**{**known, **changed})  # type: ignore[arg-type]


def test_a_table_is_a_line_with_its_counts_and_columns() -> None:
    heading, line = shown(report.tables_served([served()]))
    assert heading.split() == ["table", "rows", "partitions", "SSTables", "on", "disk", "columns"]
    assert " ".join(line.split()) == "ks.t 3,400,000 12 4 599 MB id uuid, tags list<item: string>"


def test_a_table_that_cannot_be_served_is_told_with_the_reason() -> None:
    lines = shown(report.tables_served([served(), served(table="u", problem="table ks.u: column c is a counter")]))
    assert lines[-1] == "not served: table ks.u: column c is a counter"
    assert len(lines) == 4


def test_no_tables_are_told() -> None:
    assert shown(report.tables_served([])) == ["no tables"]


def test_ten_rows_are_shown_and_no_more() -> None:
    lines = shown(report.first_rows(pa.table({"a": list(range(100)), "b": [None] * 100}), 80))
    assert [line.split() for line in lines] == [["a", "b"], *([str(number), "null"] for number in range(10))]


def test_columns_that_do_not_fit_are_counted() -> None:
    lines = shown(report.first_rows(pa.table({f"c{number}": ["x"] for number in range(40)}), 80), 80)
    assert lines[0].split() == [f"c{number}" for number in range(5)]
    assert lines[-1] == "and 35 more columns"


def test_a_long_value_leaves_the_short_ones_their_room() -> None:
    key, value = "user:0000665841", "v" * 500
    line = shown(report.first_rows(pa.table({"key": [key], "value": [value]}), 80), 80)[1]
    assert line.split()[0] == key
    assert line.endswith("v…")


def test_what_would_drive_the_terminal_is_not_printed() -> None:
    line = shown(report.first_rows(pa.table({"a": ["\x1b[2Jhidden\r\n"]}), 80))[1]
    assert line == "·[2Jhidden··"


def stages(**busy_s: float) -> StageReport:
    times = [StageTimes(stage, busy_s.get(stage, 0.0), 0.3, 0.1, 4 if stage == "read" else 1) for stage in STAGES]
    return StageReport(tuple(times), "decode")


def test_a_stage_is_a_bar_of_three_shades_in_the_proportions_of_its_life() -> None:
    lines = shown(report.stages(stages(decode=0.4), 120))
    (decode,) = [line for line in lines if line.startswith("decode")]
    assert (decode.count("█"), decode.count("▒"), decode.count("░")) == (30, 23, 7)
    assert decode.split()[-6:] == ["400", "ms", "300", "ms", "100", "ms"]


def test_all_stages_are_there_in_their_order_and_then_the_bottleneck() -> None:
    lines = shown(report.stages(stages(decode=0.4), 120))
    assert "█ busy" in lines[0]
    assert [line.split()[0] for line in lines[1:7]] == list(STAGES)
    assert lines[1].startswith("read x4")
    assert lines[-1] == "bottleneck: decode: taking the rows apart sets the pace"


@pytest.mark.parametrize("width", [70, 80, 100, 200])
def test_a_bar_fits_the_terminal(width: int) -> None:
    lines = shown(report.stages(stages(decode=0.4), width), width)
    bars = [sum(map(line.count, "█▒░")) for line in lines[1:7]]
    assert set(bars) == {min(60, width - 44)}
    assert "…" not in "".join(lines)


def test_every_stage_can_be_the_bottleneck() -> None:
    assert report.PACE.keys() == set(STAGES)


def test_nothing_ran_and_nothing_is_the_bottleneck() -> None:
    empty = StageReport(tuple(StageTimes(stage, 0.0, 0.0, 0.0, 1) for stage in STAGES), "")
    assert len(shown(report.stages(empty, 120))) == 7


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (30_200, "30.2 kB"),
        (599_293_942, "599 MB"),
        (2_010_000_000, "2.01 GB"),
        (3_000_000_000_000, "3.00 TB"),
    ],
)
def test_bytes_are_said_with_three_digits(size: int, text: str) -> None:
    assert report.size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0"), (0.000_012, "12 µs"), (0.0123, "12.3 ms"), (0.9994, "999 ms"), (1.5, "1.50 s")]
)
def test_times_are_said_with_three_digits(seconds: float, text: str) -> None:
    assert report.time_text(seconds) == text
