"""The demo: a table is written, served by a real server and scanned, and what everything took is shown.

Then the same for a table that a Cassandra node wrote, with clustering rows, four generations and tombstones.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

from flightsrv.client import Connection, connect, report
from flightsrv.client.fetch import print_report, take_first
from flightsrv.client.progress import progress
from flightsrv.errors import FlightsrvError

CASSANDRAS = Path(__file__).parents[1] / "tests/data/sstables/cassandra-5.0/nb/ranges_asc"
"""SSTables of a Cassandra 5.0 node, and expected.json: its schema and what the node answered."""

BARS_EXPLAINED = Text(
    "A bar is a stage's life: busy, it works; starved, it waits for the stage above; blocked, for the one below.", "dim"
)
WIDTH_OF_LOGS = 120
READY_S = 60.0
"""How long the server may take to get ready; with compiled kernels it takes two seconds."""
STOP_S = 10.0


class DemoError(FlightsrvError):
    """The demo cannot go on."""


@dataclass(frozen=True, slots=True)
class _Cassandras:
    """The table in CASSANDRAS."""

    keyspace: str
    table: str
    cql: str
    read_at_s: int
    rows: int
    """That the node answered at that time."""

    @property
    def name(self) -> str:
        return f"{self.keyspace}.{self.table}"


def run(folder: Path, partitions: int) -> None:
    """Run all of it. The table of `partitions` rows is kept in `folder` and written if it is not there yet.

    Raises DemoError, ServerError.
    """
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_OF_LOGS)
    cassandras = _cassandras()
    folder.mkdir(parents=True, exist_ok=True)
    _say(console, "kernels", _kernels())
    corpus = folder / f"{partitions}-partitions"
    _say(console, "table", _table(corpus, partitions))
    with TemporaryDirectory() as scratch, _server(corpus, cassandras, Path(scratch), console) as connection:
        _heading(console, "Tables served", f"flightsrv tables {connection.url}")
        console.print(report.tables_served(connection.tables()))
        _scan(console, connection, "bench", "keyvalue", "A table of made-up rows")
        console.print(BARS_EXPLAINED)
        rows = _scan(
            console,
            connection,
            cassandras.keyspace,
            cassandras.table,
            "SSTables of a Cassandra node: clustering rows, four generations, range tombstones",
            now_s=cassandras.read_at_s,
        )
        if rows != cassandras.rows:
            raise DemoError(f"the node itself answered {cassandras.rows:,} rows")
        console.print(f"\nThe node itself answered {cassandras.rows:,} rows, too.")


def _cassandras() -> _Cassandras:
    try:
        said = json.loads((CASSANDRAS / "expected.json").read_text(encoding="utf-8"))
    except OSError:
        raise DemoError(f"the demo shows a table of the project's tests, and {CASSANDRAS} is not there") from None
    return _Cassandras(said["keyspace"], said["table"], said["cql"], said["read_at"], said["rows_count"])


def _kernels() -> str:
    from flightsrv.kernels.jit import cache_folder
    from flightsrv.scan.warm import warm

    began = time.monotonic()
    with progress("compiling the kernels", "kernels") as tell:
        warm(tell)
    return f"ready in {time.monotonic() - began:.1f} s, cached in {_home(cache_folder())}"


def _table(corpus: Path, partitions: int) -> str:
    """Write bench.keyvalue below `corpus`, unless it is there; it is put there when it is whole."""
    if corpus.is_dir():
        return f"bench.keyvalue, {partitions:,} partitions, in {corpus} since an earlier time"
    from corpus.keyvalue import write

    began = time.monotonic()
    with TemporaryDirectory(dir=corpus.parent) as folder, progress("writing bench.keyvalue", "partitions") as tell:
        done = 0

        def add(count: int) -> None:
            nonlocal done
            done += count
            tell(done, partitions)

        written = write(Path(folder, "data"), partitions, progress=add)
        Path(folder, "data").rename(corpus)
    size = report.size_text(written.data_bytes)
    return f"bench.keyvalue, {partitions:,} partitions, {size}, written in {time.monotonic() - began:.1f} s to {corpus}"


@contextmanager
def _server(corpus: Path, cassandras: _Cassandras, scratch: Path, console: Console) -> Iterator[Connection]:
    """A server process for the body, stopped as a service manager would. Raises DemoError when it does not start."""
    ddl, ready_file = scratch / "cassandras.cql", scratch / "ready.json"
    ddl.write_text(cassandras.cql, encoding="utf-8")
    command = [sys.executable, "-m", "flightsrv", "serve", str(corpus)]
    command += ["--table", f"{cassandras.name}={CASSANDRAS}", "--ddl", str(ddl)]
    command += ["--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--ready-file", str(ready_file)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = _url_when_ready(process, ready_file)
            _say(console, "server", f"process {process.pid} at {url}, ready in {time.monotonic() - began:.1f} s")
            with connect(url) as connection:
                yield connection
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            status = process.wait(STOP_S)
            console.print()
            if status:
                raise DemoError(f"the server ended with status {status}")
            _say(console, "server", f"stopped in {time.monotonic() - began:.1f} s")
        finally:
            process.kill()


def _url_when_ready(process: subprocess.Popen[str], ready_file: Path) -> str:
    deadline = time.monotonic() + READY_S
    while not ready_file.exists():
        if process.poll() is not None:
            said = process.stderr.read().strip() if process.stderr else ""
            raise DemoError(f"the server ended before it was ready: {said}")
        if time.monotonic() > deadline:
            raise DemoError(f"the server was not ready within {READY_S:.0f} s")
        time.sleep(0.02)
    return str(json.loads(ready_file.read_text(encoding="utf-8"))["flight"])


def _scan(
    console: Console, connection: Connection, keyspace: str, table: str, title: str, now_s: int | None = None
) -> int:
    """Scan a table, show its first rows and how it went; returns how many rows there were."""
    now = "" if now_s is None else f" --now {now_s}"
    _heading(console, title, f"flightsrv scan {connection.url} {keyspace}.{table}{now}")
    stream = connection.scan(keyspace, table, now_s=now_s)
    rows = take_first(stream, f"{keyspace}.{table}")
    console.print(report.first_rows(rows, console.width), "")
    print_report(console, stream)
    return stream.rows


def _heading(console: Console, title: str, command: str) -> None:
    console.print()
    console.rule(Text(title, "bold"), align="left", characters="─")
    console.print(Text(f"$ {command}", "dim"))
    console.print()


def _say(console: Console, what: str, text: str) -> None:
    console.print(Text(f"{what:<8} ", "bold").append(text, "not bold"), soft_wrap=True)


def _home(path: Path) -> str:
    """A path as its user writes it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
