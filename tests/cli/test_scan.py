"""`flightsrv tables` and `flightsrv scan` against a real server, held against the engine's rows."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from flightsrv.client.plain import json_values
from tests.cli.commands import FLIGHTSRV, Served, failed, flightsrv, serving, succeeded
from tests.cli.tables import EXPECTED, NAMES, NOW_S, ServedTables
from tests.cli.terminal import on_a_terminal
from tests.server.test_lifecycle import process as fake_server

RANGES, _, KINDS, *_ = NAMES


def plain_rows(rows: pa.Table) -> list[dict[str, Any]]:
    columns = [json_values(column.combine_chunks()) for column in rows.columns]
    return [dict(zip(rows.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_tables_lists_what_is_served_and_how_much_of_it(served: Served) -> None:
    lines = succeeded("tables", served.url).splitlines()
    assert lines[0].split() == ["table", "rows", "partitions", "SSTables", "on", "disk", "columns"]
    assert lines[1].split()[:4] == [RANGES, "1,078", "83", "4"]
    assert [line.split()[0] for line in lines if line[0] != " "][1:] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("suffix", "read"),
    [
        ("parquet", parquet.read_table),
        ("arrow", lambda path: pa.ipc.open_file(path).read_all()),
    ],
)
def test_files_of_arrow_hold_the_engines_rows(
    served: Served, tables: ServedTables, tmp_path: Path, name: str, suffix: str, read: Callable[[Path], pa.Table]
) -> None:
    output = tmp_path / f"rows.{suffix}"
    said = succeeded("scan", served.url, name, "--now", NOW_S, "-o", output)
    expected = tables.rows(name)
    assert read(output).to_pydict() == expected.to_pydict()
    assert f"{expected.num_rows:,} rows and" in said
    assert list(tmp_path.iterdir()) == [output]


def test_native_types_are_in_files_and_in_json_lines(served: Served, tables: ServedTables, tmp_path: Path) -> None:
    expected = tables.rows(KINDS, types="native")
    assert expected.schema.field("f").type == pa.string()
    output = tmp_path / "rows.parquet"
    succeeded("scan", served.url, KINDS, "--now", NOW_S, "--types", "native", "-o", output)
    assert parquet.read_table(output).to_pydict() == expected.to_pydict()
    piped = succeeded("scan", served.url, KINDS, "--now", NOW_S, "--types", "native")
    assert [json.loads(line) for line in piped.splitlines()] == plain_rows(expected)


@pytest.mark.parametrize("name", NAMES)
def test_json_lines_hold_the_engines_rows_in_a_file_and_in_a_pipe(
    served: Served, tables: ServedTables, tmp_path: Path, name: str
) -> None:
    expected = plain_rows(tables.rows(name))
    succeeded("scan", served.url, name, "--now", NOW_S, "-o", tmp_path / "rows.jsonl")
    piped = succeeded("scan", served.url, name, "--now", NOW_S)
    assert [json.loads(line) for line in piped.splitlines()] == expected
    assert (tmp_path / "rows.jsonl").read_text() == piped


def test_csv_holds_the_engines_rows(served: Served, tables: ServedTables, tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    succeeded("scan", served.url, RANGES, "--now", NOW_S, "-o", output)
    assert csv_rows(output) == [
        {name: str(value) for name, value in row.items()} for row in plain_rows(tables.rows(RANGES))
    ]


def test_csv_has_a_text_for_every_type(served: Served, tables: ServedTables, tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    succeeded("scan", served.url, KINDS, "--now", NOW_S, "-o", output)
    rows = plain_rows(tables.rows(KINDS))
    whole = next(index for index, row in enumerate(rows) if None not in row.values())
    written = csv_rows(output)[whole]
    for name, value in rows[whole].items():
        if isinstance(value, list | dict):
            assert json.loads(written[name]) == value
        elif name not in ("d", "g", "i"):  # booleans and floats in CSV's own form
            assert written[name] == str(value)
    assert (written["d"], written["g"]) == ("true", "1.5")


def test_the_rows_are_those_that_the_node_answered(served: Served) -> None:
    piped = succeeded("scan", served.url, RANGES, "--now", NOW_S)
    assert piped.count("\n") == EXPECTED["rows_count"] == 876
    assert [json.loads(line) for line in piped.splitlines()[:1]] == EXPECTED["rows_sample"][:1]


def test_columns_limit_and_token_range_are_the_engines(served: Served, tables: ServedTables) -> None:
    def scanned(*options: object) -> list[dict[str, Any]]:
        said = succeeded("scan", served.url, RANGES, "--now", NOW_S, *options)
        return [json.loads(line) for line in said.splitlines()]

    assert scanned("--columns", "v,pk") == plain_rows(tables.rows(RANGES, columns=("v", "pk")))
    assert scanned("--limit", 7) == plain_rows(tables.rows(RANGES))[:7]
    assert scanned("--limit", 0) == []
    below, above = scanned("--token-range", ":0"), scanned("--token-range", "0:")
    assert below
    assert above
    assert below + above == plain_rows(tables.rows(RANGES))
    assert scanned("--token-range", "-4611686018427387904:0") == plain_rows(
        tables.rows(RANGES, token_start=-(1 << 62), token_end=0)
    )


def test_a_terminal_gets_ten_rows_the_speed_and_a_bar_a_stage(served: Served) -> None:
    shown = on_a_terminal("scan", served.url, RANGES, "--now", NOW_S)
    assert shown.count("multi_full_newer") == 10
    assert "876 rows and" in shown
    assert "first batch after" in shown
    for stage in ("read", "decompress", "decode", "merge", "encode", "write"):
        assert f"\n{stage}" in shown
    assert "bottleneck: " in shown


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["scan", "URL", "ks.nowhere"], "table ks.nowhere is not served here"),
        (["scan", "URL", RANGES, "--columns", "nothing"], f"none of the columns asked for is in {RANGES}"),
        (["tables", "127.0.0.1:8815"], "'127.0.0.1:8815' is not the URL of a server: grpc://host:port"),
        (["tables", "grpc://127.0.0.1:1"], "grpc://127.0.0.1:1 cannot be reached: connection refused"),
    ],
)
def test_what_cannot_be_had_is_told_in_a_line(served: Served, arguments: list[str], what: str) -> None:
    assert failed(*(served.url if each == "URL" else each for each in arguments)) == what


def test_a_file_that_cannot_be_written_is_told_in_a_line(served: Served, tmp_path: Path) -> None:
    assert str(tmp_path / "nowhere/rows.jsonl") in failed(
        "scan", served.url, RANGES, "-o", tmp_path / "nowhere/rows.jsonl"
    )


def test_debug_shows_where_an_error_comes_from() -> None:
    done = flightsrv("--debug", "tables", "grpc://127.0.0.1:1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "connection refused" in done.stderr


def test_ctrl_c_ends_a_scan_quietly_and_leaves_no_half_file(tmp_path: Path) -> None:
    output = tmp_path / "rows.arrow"
    with fake_server(kind="endless") as server:
        command = [*FLIGHTSRV, "scan", server.flight, "ks.t", "-o", str(output)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 20
            while not (tmp_path / "rows.arrow.part").exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said, complained = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (said, complained.strip()) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error() -> None:
    with fake_server(kind="endless") as server:
        command = [*FLIGHTSRV, "scan", server.flight, "ks.t"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(20) == 1
            assert process.stderr.read() == b""


def test_a_server_that_dies_in_the_middle_is_told_in_a_line(tmp_path: Path) -> None:
    with fake_server(kind="endless") as server:
        command = [*FLIGHTSRV, "scan", server.flight, "ks.t", "-o", str(tmp_path / "rows.arrow")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            deadline = time.monotonic() + 20
            while not (tmp_path / "rows.arrow.part").exists():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            server.popen.kill()
            _, complained = process.communicate(timeout=20)
    assert process.returncode == 1
    assert complained.startswith("flightsrv: ")
    assert complained.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_ends_well_on_sigterm_and_takes_its_ready_file_along(tables: ServedTables, tmp_path: Path) -> None:
    with serving(tmp_path, *tables.arguments) as server:
        assert succeeded("scan", server.url, "warm.uncompressed").count("\n") == 2
        assert server.stopped() == 0
        assert not server.ready_file.exists()
