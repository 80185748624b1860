"""`flightsrv demo`, as `make demo` runs it, with a small table."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from flightsrv import demo
from tests.cli.commands import FLIGHTSRV, flightsrv
from tests.cli.tables import EXPECTED
from tests.cli.terminal import on_a_terminal

PARTITIONS = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    """What the demo shows on a terminal."""
    return on_a_terminal("demo", "--partitions", PARTITIONS, "--folder", folder)


def test_every_step_says_what_it_did_and_how_long_it_took(shown: str) -> None:
    for line in (
        r"kernels  ready in \d+\.\d s, cached in .+",
        r"table    bench\.keyvalue, 3,000 partitions, \d+ kB, written in \d+\.\d s to .+/3000-partitions",
        r"server   process \d+ at grpc://127\.0\.0\.1:\d+, ready in \d+\.\d s",
        r"server   stopped in \d\.\d s",
    ):
        assert re.search(rf"^{line}$", shown, re.MULTILINE), line


def test_the_tables_are_listed_with_their_rows_sstables_and_bytes(shown: str) -> None:
    assert re.search(r"^bench\.keyvalue +3,000 +3,000 +1 +\d+ kB  key string, value string$", shown, re.MULTILINE)
    assert re.search(r"^fx_ranges_asc\.ranges_asc +1,078 +83 +4 +[\d.]+ kB  ", shown, re.MULTILINE)


def test_ten_rows_of_each_table_are_shown(shown: str) -> None:
    assert len(re.findall(r"^user:\d{10} ", shown, re.MULTILINE)) == 10
    assert len(re.findall(r"^multi_full_newer ", shown, re.MULTILINE)) == 10


def test_each_scan_ends_with_its_speed_its_stages_and_the_bottleneck(shown: str) -> None:
    speeds = re.findall(
        r"^([\d,]+) rows and \S+ kB of Arrow in \S+ m?s: \S+(?: million)? rows/s, \d+ MB/s; first batch after \S+ ms$",
        shown,
        re.MULTILINE,
    )
    assert speeds == ["3,000", f"{EXPECTED['rows_count']:,}"]
    for stage in ("read", "decompress", "decode", "merge", "encode", "write"):
        assert len(re.findall(rf"^{stage}[ x\d]* +[█▒░]+ ", shown, re.MULTILINE)) == 2
    assert len(re.findall(r"^bottleneck: \w+: .+ pace$", shown, re.MULTILINE)) == 2


def test_the_nodes_rows_are_compared_with_what_the_node_answered(shown: str) -> None:
    assert "The node itself answered 876 rows, too." in shown


@pytest.mark.usefixtures("shown")
def test_the_table_is_kept_and_without_a_terminal_there_are_no_bars(folder: Path) -> None:
    again = flightsrv("demo", "--partitions", PARTITIONS, "--folder", folder)
    assert (again.returncode, again.stderr) == (0, "")
    assert "since an earlier time" in again.stdout
    assert "━" not in again.stdout
    assert [path.name for path in folder.iterdir()] == ["3000-partitions"]


def test_ctrl_c_ends_the_server_too_and_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    command = [*FLIGHTSRV, "demo", "--partitions", str(PARTITIONS), "--folder", str(folder)]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ, start_new_session=True
    ) as process:
        assert process.stdout
        assert any(line.startswith("server ") for line in process.stdout)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, complained = process.communicate(timeout=20)
    assert process.returncode == 130
    assert complained.strip() == ""
    assert list(tmp_path.iterdir()) == []


def test_a_copy_without_the_projects_tests_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "CASSANDRAS", tmp_path / "nowhere")
    with pytest.raises(demo.DemoError, match="nowhere is not there"):
        demo.run(tmp_path, PARTITIONS)
