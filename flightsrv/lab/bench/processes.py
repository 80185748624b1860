"""Servers and clients as processes of their own, and what they used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")
START_TIMEOUT_S = 180


@dataclass(frozen=True, slots=True)
class Server:
    """A server process that is ready."""

    url: str
    pid: int
    seconds_to_ready: float

    def cpu_s(self) -> float:
        """CPU seconds the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def peak_rss_mib(self) -> float:
        """Its largest resident memory so far."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024


@contextmanager
def flightsrv(data: Path, *options: str) -> Iterator[Server]:
    """The real server over a data folder."""
    command = ["flightsrv", "serve", str(data), "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", *options]
    with _started(command) as server:
        yield server


@contextmanager
def resender(data: Path, table: str) -> Iterator[Server]:
    """pyarrow's own Flight server, sending ready batches of the same table again and again."""
    with _started(["flightsrv.lab.bench.resend", str(data), table]) as server:
        yield server


@contextmanager
def _started(command: list[str]) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        began = time.monotonic()
        arguments = [sys.executable, "-m", *command, "--ready-file", str(ready)]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        try:
            while not ready.exists():
                if process.poll() is not None or time.monotonic() - began > START_TIMEOUT_S:
                    raise SystemExit(f"{' '.join(command)} did not get ready")
                time.sleep(0.01)
            yield Server(json.loads(ready.read_text())["flight"], process.pid, time.monotonic() - began)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


def read_once(url: str, table: str) -> dict[str, Any]:
    """One DoGet by a client process: rows, bytes, seconds, first_batch_s."""
    command = [sys.executable, "-m", "flightsrv.lab.bench.client", url, table]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    measured: dict[str, Any] = json.loads(made)
    return measured
