"""README.md: every example runs, in its order, as it stands there."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.reference.fixtures import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
EXAMPLES: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
READY_S = 240.0


class Terminals:
    """A folder in which commands run one after the other; servers go on in the background."""

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder = folder
        self.servers = servers
        self.url = f"127.0.0.1:{_free_port()}"
        self.ready_file = folder / "ready.json"
        # `flightsrv` is the one of this very tree, wherever it is installed.
        shim = folder / "bin/flightsrv"
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m flightsrv "$@"\n')
        shim.chmod(0o755)
        self.environ = {
            **os.environ,
            "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PROJECT),
            "FLIGHTSRV_LISTEN": self.url,
            "FLIGHTSRV_OPS_LISTEN": "127.0.0.1:0",
            "FLIGHTSRV_READY_FILE": str(self.ready_file),
        }

    def run(self, language: str, text: str) -> None:
        """Run an example. What it says is only shown when it fails."""
        text = text.replace("127.0.0.1:8815", self.url)
        if language == "python":
            self._finish([sys.executable, "-W", "error", "-c", text])
            return
        for line in text.splitlines():
            if line.startswith("flightsrv serve"):
                self._serve(line)
            elif line.startswith("make "):
                assert f"\n{line.removeprefix('make ')}:" in (PROJECT / "Makefile").read_text()
            else:
                self._finish(["bash", "-euc", line])

    def _serve(self, line: str) -> None:
        process = self.servers.enter_context(subprocess.Popen(line.split(), cwd=self.folder, env=self.environ))
        self.servers.callback(process.kill)
        deadline = time.monotonic() + READY_S
        while not self.ready_file.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def _finish(self, command: list[str]) -> None:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_every_example_runs_in_its_order(tmp_path: Path) -> None:
    assert {language for language, _ in EXAMPLES} == {"sh", "python"}
    with ExitStack() as servers:
        terminals = Terminals(tmp_path, servers)
        for language, text in EXAMPLES:
            terminals.run(language, text)


def test_files_that_are_linked_are_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (PROJECT / link).exists()] == []
