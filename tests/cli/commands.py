"""The command line in processes of its own, as a shell would run it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FLIGHTSRV = (sys.executable, "-m", "flightsrv")
READY_S = 240.0
"""A server of kernels that were never compiled compiles them first."""


def flightsrv(*arguments: object, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, neither of its streams a terminal."""
    command = [*FLIGHTSRV, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)


def succeeded(*arguments: object) -> str:
    """What a command that must succeed, without a word on stderr, says."""
    done = flightsrv(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def failed(*arguments: object) -> str:
    """The one line that a command which must fail says."""
    done = flightsrv(*arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("flightsrv: ")
    return done.stderr.removeprefix("flightsrv: ").rstrip("\n")


def refused(*arguments: object) -> str:
    """What a command that is used in a wrong way says."""
    done = flightsrv(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


@dataclass(frozen=True)
class Served:
    """A server process that is ready."""

    url: str
    ops: str
    process: subprocess.Popen[str]
    ready_file: Path

    def stopped(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def serving(folder: Path, *arguments: object, environ: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`flightsrv serve` on free ports for the body. folder: where the ready file is written."""
    ready_file = folder / "ready.json"
    addresses = ("--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--ready-file", str(ready_file))
    command = [*FLIGHTSRV, "serve", *map(str, arguments), *addresses]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ) as process:
        try:
            yield _when_ready(process, ready_file)
        finally:
            process.kill()
            assert process.stderr
            errors = process.stderr.read()
    assert "Traceback" not in errors, errors


def _when_ready(process: subprocess.Popen[str], ready_file: Path) -> Served:
    deadline = time.monotonic() + READY_S
    while not ready_file.exists():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline, "the server does not get ready"
        time.sleep(0.02)
    urls = json.loads(ready_file.read_text())
    return Served(urls["flight"], urls["ops"], process, ready_file)
