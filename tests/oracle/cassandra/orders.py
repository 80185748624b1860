"""How Cassandra's own classes order values, without a node: a JVM that is asked line by line."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import Self

from tests.oracle.cassandra.jvm import KIT, java


class ValueOrder:
    """A running java/CompareValues.java."""

    def __init__(self) -> None:
        command = java(str(KIT / "java" / "CompareValues.java"))
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def compare(self, class_name: str, a: bytes, b: bytes) -> int | None:
        """-1, 0 or 1; None where Cassandra throws an exception."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{class_name} {a.hex()} {b.hex()}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        assert answer, "the JVM has ended"
        return int(answer) if answer in ("-1", "0", "1") else None
