"""What a person sees: a command on a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import subprocess

from tests.cli.commands import FLIGHTSRV

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(*arguments: object) -> str:
    """All that a command writes to a terminal of 120 x 50, without colours and movements of the cursor."""
    terminal, its_end = pty.openpty()
    environ = {**os.environ, "COLUMNS": "120", "LINES": "50", "TERM": "xterm", "NO_COLOR": "1"}
    command = [*FLIGHTSRV, *map(str, arguments)]
    with subprocess.Popen(command, stdin=its_end, stdout=its_end, stderr=its_end, env=environ) as process:
        os.close(its_end)
        written = _read(terminal)
    os.close(terminal)
    shown = _CONTROLS.sub("", written).replace("\r\n", "\n")
    assert process.returncode == 0, shown
    return "\n".join(line.rpartition("\r")[2].rstrip() for line in shown.split("\n"))


def _read(terminal: int) -> str:
    """Until the process ends: then there is nobody at the other end, which is an error to Linux."""
    written = b""
    while True:
        try:
            more = os.read(terminal, 1 << 16)
        except OSError:
            return written.decode()
        if not more:
            return written.decode()
        written += more
