"""What `flightsrv verify` has to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, TypeVar

from flightsrv.errors import SSTableError, Where
from flightsrv.io.buffered import read_component
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor

MAX_FINDINGS = 100
"""Of one component of one SSTable: when so much is wrong, more of the same says nothing."""

Severity = Literal["error", "note"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one component of one SSTable."""

    sstable: str
    """What the names of its files start with, below the folder that was verified: `nb-7-big`."""
    component: str
    """`Data.db`; empty for a file that is not of one SSTable, whose whole name `sstable` is then."""
    what: str
    offset: int | None
    """Bytes from the start of the file on disk."""
    position: int | None
    """Bytes from the start of the uncompressed data."""
    field: str | None
    severity: Severity
    """An error: the SSTable is damaged. A note: something a reader can do without, or that was not checked."""

    def __str__(self) -> str:
        path = PurePath(f"{self.sstable}-{self.component}" if self.component else self.sstable)
        where = Where(path.name, self.offset, self.position, self.field)
        return f"{path.parent / str(where)}: {self.what}"


class Report:
    """The findings about one SSTable, as they come."""

    def __init__(self, sstable: str) -> None:
        self._sstable = sstable
        self._findings: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        """How many errors each component has, those that are not listed included."""

    def error(
        self,
        component: str,
        what: str,
        *,
        offset: int | None = None,
        position: int | None = None,
        field: str | None = None,
    ) -> None:
        """Say that a component is damaged, and where."""
        self.errors[component] += 1
        self._add(Finding(self._sstable, component, what, offset, position, field, "error"))

    def note(self, component: str, what: str, field: str | None = None) -> None:
        """Say what is no damage, or was not checked."""
        self._add(Finding(self._sstable, component, what, None, None, field, "note"))

    def caught(self, error: SSTableError) -> None:
        """Say what a parser or a stage raised."""
        where = error.where
        component = PurePath(where.path).name.split("-", 3)[-1]
        self.error(component, error.what, offset=where.offset, position=where.position, field=where.field)

    def is_full(self, component: str) -> bool:
        """Whether so much is wrong with a component that it need not be looked at any longer."""
        return self._counts[component] >= MAX_FINDINGS

    def take(self) -> list[Finding]:
        """What was found since the last call."""
        findings, self._findings = self._findings, []
        return findings

    def _add(self, finding: Finding) -> None:
        self._counts[finding.component] += 1
        count = self._counts[finding.component]
        if count < MAX_FINDINGS:
            self._findings.append(finding)
        elif count == MAX_FINDINGS:
            what = f"{MAX_FINDINGS - 1} findings are listed, more are not"
            self._findings.append(Finding(self._sstable, finding.component, what, None, None, None, "note"))


def parsed(report: Report, descriptor: Descriptor, component: str, parse: Callable[[Cursor], T]) -> T | None:
    """A component's content; None, and an error in the report, when it is damaged."""
    path = descriptor.path(component)
    try:
        return parse(Cursor(read_component(path), path))
    except SSTableError as error:
        report.caught(error)
        return None
