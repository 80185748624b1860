"""A node: started on free ports of 127.0.0.1, with all its files below one folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import string
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.oracle.cassandra.jvm import CONF, KIT, KitError, java, library


@dataclass(frozen=True, slots=True)
class Node:
    """A node that was started; `node.json` in its folder holds the same."""

    pid: int
    native_port: int
    jmx_port: int
    storage_port: int


@dataclass(frozen=True, slots=True)
class Settings:
    """How a node is started."""

    compat: str = "none"
    """storage_compatibility_mode: `cassandra_4` writes nb, `none` oa or da."""
    sstable_format: str = "big"
    """`big` or `bti` (with `none`: da)."""
    data_directories: int = 1
    lines: Sequence[str] = ()
    """KEY=VALUE: lines of cassandra.yaml that replace or add to ours."""
    java_options: Sequence[str] = ()
    native_port: int = 0
    jmx_port: int = 0
    storage_port: int = 0
    """0: any free port."""
    timeout_s: float = 120


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def running(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def node_of(home: Path) -> Node:
    """What `start` wrote. Raises KitError when nothing was started there."""
    path = home / "node.json"
    if not path.exists():
        raise KitError(f"no node was started in {home}")
    return Node(**json.loads(path.read_text()))


def write_configuration(home: Path, settings: Settings) -> Path:
    """Write cassandra.yaml for a node whose files lie below home; returns its path."""
    count = settings.data_directories
    directories = [home / "data"] + [home / f"data{n}" for n in range(2, count + 1)]
    text = string.Template((CONF / "cassandra.yaml").read_text()).substitute(
        home=home,
        compat=settings.compat.upper(),
        format=settings.sstable_format,
        data_directories=json.dumps([str(each) for each in directories]),
        storage_port=settings.storage_port,
        native_port=settings.native_port,
    )
    lines = text.splitlines()
    for setting in settings.lines:
        key, separator, value = setting.partition("=")
        if not separator:
            raise KitError(f"a setting is KEY=VALUE, not {setting!r}")
        lines = [line for line in lines if not line.startswith(f"{key}:")] + [f"{key}: {value}"]
    path = home / "conf" / "cassandra.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def start(home: Path, settings: Settings) -> Node:
    """Start a node and wait until its native port answers.

    Raises KitError when one runs there already, when it ends at once, or when it is not up in time.
    """
    home = home.resolve()
    with contextlib.suppress(KitError):
        if running(node_of(home).pid):
            raise SystemExit(f"a node already runs in {home}")
    ports = free_ports(3)
    settings = replace(
        settings,
        native_port=settings.native_port or ports[0],
        jmx_port=settings.jmx_port or ports[1],
        storage_port=settings.storage_port or ports[2],
    )
    command = java(
        f"@{CONF / 'node.options'}",
        *settings.java_options,
        f"-javaagent:{next(library().glob('jamm-*.jar'))}",
        f"-Dcassandra.config={write_configuration(home, settings).as_uri()}",
        f"-Dcassandra.storagedir={home}",
        f"-Dcassandra.logdir={home}",
        f"-Dcassandra.jmx.local.port={settings.jmx_port}",
        "-Dcassandra-foreground=yes",
        "org.apache.cassandra.service.CassandraDaemon",
        logback="logback.xml",
        client=False,
    )
    log_path = home / "node.log"
    with log_path.open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home, start_new_session=True
        )
    node = Node(process.pid, settings.native_port, settings.jmx_port, settings.storage_port)
    (home / "node.json").write_text(json.dumps(asdict(node)) + "\n")
    _wait_until_up(process, settings, log_path)
    process.returncode = 0  # it outlives us on purpose: `stop` ends it, no ResourceWarning
    return node


def _wait_until_up(process: subprocess.Popen[bytes], settings: Settings, log_path: Path) -> None:
    began = time.monotonic()
    while not listening(settings.native_port):
        if process.poll() is not None:
            raise KitError(f"the node ended with status {process.returncode}; see {log_path}")
        if time.monotonic() - began > settings.timeout_s:
            process.kill()
            process.wait()
            raise KitError(f"no native port after {settings.timeout_s} s; see {log_path}")
        time.sleep(0.1)


def stop(home: Path, timeout_s: float = 60) -> None:
    """End the node that was started here: SIGTERM to its pid, SIGKILL when it takes too long."""
    pid = node_of(home).pid
    if running(pid):
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + timeout_s
        while running(pid):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.1)
    (home / "node.json").unlink(missing_ok=True)


def remove(home: Path, timeout_s: float = 60) -> None:
    """Stop the node, if it runs, and delete everything it wrote."""
    with contextlib.suppress(KitError):
        stop(home, timeout_s)
    shutil.rmtree(home, ignore_errors=True)


def nodetool_command(home: Path, *arguments: str) -> list[str]:
    """nodetool against the node; `-` reads commands from stdin, one a line, and prints `rc N` after each."""
    where = ["-h", "127.0.0.1", "-p", str(node_of(home).jmx_port)]
    if arguments == ("-",):
        return java(str(KIT / "java" / "NodeShell.java"), *where)
    return java("org.apache.cassandra.tools.NodeTool", *where, *arguments)
