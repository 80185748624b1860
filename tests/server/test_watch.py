"""Tables and SSTables that come and go under a server that runs."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pyarrow.flight as flight
import pytest

from flightsrv.errors import SSTableError, Where
from flightsrv.scan.inventory import Inventory
from flightsrv.server import watch as watching
from flightsrv.server.watch import Watch
from tests.reference.fixtures import COPIED
from tests.server.running import eventually, get, running, ticket

NODE = COPIED / "cassandra-5.0/nb/node/data"
TABLE = "two_directories-ac6aede0ece911f18c12e51b6daaa362"
INDEXED = "indexed-a904b870ece911f18c12e51b6daaa362"
NOTICED_S = 20.0
"""Two seconds and more; the rest is for a machine that is busy with other tests."""


class Process:
    """A server process, its log, and what it says on its ports."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        assert popen.stdout is not None
        urls = json.loads(popen.stdout.readline())
        self.client = flight.FlightClient(urls["flight"])
        self._ops = urls["ops"]
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, args=(popen.stderr,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(line)

    def logged(self, text: str) -> str:
        """Wait for a line of the log with this text."""
        seen = []
        try:
            while text not in (line := self._lines.get(timeout=NOTICED_S)):
                seen.append(line)
        except Empty:
            raise AssertionError(f"{text!r} is not in the log: {seen}") from None
        return line

    def gauge(self, name: str) -> float:
        lines = get(self._ops, "/metrics")[1].splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(name))


@contextmanager
def serving(*data: Path) -> Iterator[Process]:
    command = [sys.executable, "-m", "flightsrv", "serve", *map(str, data)]
    command += ["--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as popen:
        try:
            yield Process(popen)
        finally:
            popen.terminate()
            assert popen.wait(30) == 0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the system_schema of a node, and one of its tables."""
    shutil.copytree(NODE / "system_schema", tmp_path / "data/system_schema")
    shutil.copytree(NODE / "layout" / INDEXED, tmp_path / "data/layout" / INDEXED)
    return tmp_path / "data"


def move(names: list[str], source: Path, target: Path) -> None:
    for name in names:
        for path in source.glob(f"{name}-*"):
            shutil.move(path, target / path.name)


def test_a_server_notices_what_comes_and_goes_without_a_restart(data: Path, tmp_path: Path) -> None:
    table, aside = data / "layout" / TABLE, tmp_path / "aside"
    aside.mkdir()
    wanted = ticket("layout", "two_directories", now_s=0)
    with serving(data) as server:
        tables, sstables = (server.gauge(name) for name in ("cqlite_flight_tables_discovered", "flightsrv_sstables"))
        with pytest.raises(KeyError, match=r"layout\.two_directories is not served here"):
            server.client.do_get(wanted).read_all()
        shutil.copytree(NODE / "layout" / TABLE, table)
        whole = server.client.do_get(wanted).read_all()  # requests do not wait until it is noticed
        assert whole.num_rows > 0
        server.logged("table layout.two_directories")
        eventually(lambda: server.gauge("flightsrv_sstables") == sstables + 2, NOTICED_S)
        assert server.gauge("cqlite_flight_tables_discovered") == tables + 1
        assert ["layout", "two_directories"] in [
            [part.decode() for part in info.descriptor.path] for info in server.client.list_flights()
        ]
        move(["nb-1-big"], table, aside)
        assert server.client.do_get(wanted).read_all().num_rows < whole.num_rows
        server.logged("table layout.two_directories: SSTables new: 0, gone: 1")
        assert server.gauge("flightsrv_sstables") == sstables + 1
        move(["nb-1-big"], aside, table)
        server.logged("table layout.two_directories: SSTables new: 1, gone: 0")
        assert server.client.do_get(wanted).read_all() == whole
        shutil.rmtree(table)
        server.logged("table layout.two_directories is gone")
        assert server.gauge("cqlite_flight_tables_discovered") == tables
        with pytest.raises(KeyError, match=r"layout\.two_directories is not served here"):
            server.client.do_get(wanted).read_all()


def test_a_table_in_a_new_keyspace_is_noticed_file_by_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with serving(data) as server:
        assert server.gauge("flightsrv_sstables") == 0
        shutil.copytree(NODE / "system_schema", data / "system_schema")
        server.logged("table system_schema.columns appeared")
        folder = data / "layout" / INDEXED
        folder.mkdir(parents=True)
        for path in sorted((NODE / "layout" / INDEXED).glob("nb-1-big-*")):
            shutil.copy(path, folder)
        server.logged("table layout.indexed")
        assert server.client.do_get(ticket("layout", "indexed")).read_all().column_names[:2] == ["pk", "ck"]


# --- the watching thread alone ------------------------------------------------------------------------------------


class Meters:
    """Keeps the gauges."""

    def __init__(self) -> None:
        self.gauges: dict[str, Callable[[], int | None]] = {}

    def gauge(self, name: str, _unit: str, _description: str, value: Callable[[], int | None]) -> None:
        self.gauges[name] = value


class Shelf:
    """An engine whose inventory is the names of the files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: Exception | None = None
        self.threads: set[str] = set()

    def inventory(self) -> Inventory:
        self.threads.add(threading.current_thread().name)
        if self.error is not None:
            raise self.error
        found = frozenset((self.folder, path.name) for path in self.folder.iterdir())
        return Inventory({"ks.t": found} if found else {}, folders=frozenset({self.folder}))


@contextmanager
def followed(shelf: Shelf) -> Iterator[Callable[[], int | None]]:
    """Follow a shelf; gives what the gauge of SSTables says."""
    meters = Meters()
    watch = Watch(shelf, meters)  # type: ignore[arg-type]
    watch.start()
    try:
        yield meters.gauges["flightsrv.sstables"]
    finally:
        watch.stop()


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_the_system_tells_of_changes(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "UNTOLD_S", 1000.0)
    with followed(shelf) as sstables:
        for count in (1, 2):
            (shelf.folder / str(count)).touch()
            eventually(lambda count=count: sstables() == count, NOTICED_S)
        (shelf.folder / "1").unlink()
        eventually(lambda: sstables() == 1, NOTICED_S)


def test_where_it_cannot_all_is_listed_now_and_then(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_paths: Path, **_options: Any) -> Iterator[Any]:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr(watching, "watch", full)
    monkeypatch.setattr(watching, "UNWATCHED_S", 0.05)
    with followed(shelf) as sstables:
        (shelf.folder / "1").touch()
        eventually(lambda: sstables() == 1, NOTICED_S)
    (told,) = (record.message for record in caplog.records if record.levelno == logging.WARNING)
    assert "OS file watch limit reached" in told


def test_changes_that_nobody_tells_of_are_found_in_the_end(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when there were too many at once."""
    stopped = threading.Event()

    def silent(*_paths: Path, **_options: Any) -> Iterator[set[Any]]:
        while not stopped.wait(0.01):
            yield set()

    monkeypatch.setattr(watching, "watch", silent)
    monkeypatch.setattr(watching, "UNTOLD_S", 0.05)
    with followed(shelf) as sstables:
        (shelf.folder / "1").touch()
        eventually(lambda: sstables() == 1, NOTICED_S)
        stopped.set()


def test_other_folders_are_watched_when_there_are_others(shelf: Shelf, tmp_path: Path) -> None:
    with followed(shelf) as sstables:
        other = tmp_path / "other"
        other.mkdir()
        shelf.folder = other
        eventually(lambda: sstables() == 0, NOTICED_S)
        (other / "1").touch()
        eventually(lambda: sstables() == 1, NOTICED_S)


def test_a_folder_that_is_gone_before_it_is_watched_is_looked_for_again(shelf: Shelf, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    real = shelf.inventory
    told = [Inventory(folders=frozenset({gone}))]
    shelf.inventory = lambda: told.pop() if told else real()  # type: ignore[method-assign]
    with followed(shelf) as sstables:
        (shelf.folder / "1").touch()
        eventually(lambda: sstables() == 1, NOTICED_S)


def test_an_error_is_logged_once_and_nothing_is_forgotten(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watching, "UNTOLD_S", 0.0)
    monkeypatch.setattr(watching, "TURN_MS", 10)
    (shelf.folder / "1").touch()
    with followed(shelf) as sstables:
        shelf.error = SSTableError("cannot be listed: gone fishing", Where("data"))
        eventually(lambda: "gone fishing" in caplog.text, NOTICED_S)
        shelf.error = ValueError("none of ours")
        eventually(lambda: "none of ours" in caplog.text, NOTICED_S)
        assert sstables() == 1
        shelf.error = None
        (shelf.folder / "2").touch()
        eventually(lambda: sstables() == 2, NOTICED_S)
    assert caplog.text.count("gone fishing") == caplog.text.count("none of ours") == 1


def test_no_listing_is_done_on_the_event_loop(shelf: Shelf) -> None:
    shelf.tables = list  # type: ignore[attr-defined]
    with running(shelf) as server:
        eventually(lambda: "watch" in shelf.threads)
        assert server.samples("flightsrv_sstables") == {}
    assert shelf.threads == {"blocking-call", "watch"}
