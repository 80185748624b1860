"""What a scan makes of a damaged file: the same rows, an error that names the file, or something that is wrong."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from flightsrv.config import Settings
from flightsrv.errors import FlightsrvError
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest

MEMORY_BYTES = 1 << 29
"""Address space that a scan may take beyond what there is before it."""
LONGEST_S = 20.0
"""Seconds a scan of some small SSTables may take on a machine that is busy: usually it takes 0.003."""

SAME, ERROR, UNNOTICED, WRONG = "same rows", "error", "cannot be noticed", "wrong"

_FILE = re.compile(
    r"\b(?:[a-z]{2}-\w+-(?:big|bti)-[A-Za-z0-9]+\.\w+|schema\.cql|manifest\.json|\w+_txn_\w+[\w-]*\.log)\b"
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an answer."""

    name: str
    type: str
    values: tuple[str, ...]
    """As text: NaN is equal to itself there."""


Answer = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question about a damaged table."""

    kind: str
    """SAME, ERROR, UNNOTICED or WRONG."""
    text: str
    answer: Answer | None = None
    """One that is not the right one."""


def ask(settings: Settings, request: ScanRequest) -> Answer:
    """All rows, by an engine that has never seen the files. Raises what it raises."""
    with closing(Engine(settings)) as engine, closing(engine.open_scan(request)) as scan:
        values: list[list[str]] = [[] for _ in scan.schema]
        for batch in scan.batches():
            for column, found in zip(values, batch.columns, strict=True):
                column.extend(map(repr, found.to_pylist()))
        return tuple(
            Column(field.name, str(field.type), tuple(column))
            for field, column in zip(scan.schema, values, strict=True)
        )


def outcome(settings: Settings, request: ScanRequest, right: Answer) -> Outcome:
    """What the engine answers now, compared with what is right."""
    started = time.perf_counter()
    try:
        answer = ask(settings, request)
    except FlightsrvError as error:
        found = Outcome(ERROR, str(error))
        if not _FILE.search(found.text):
            found = Outcome(WRONG, f"the error names no file: {found.text}")
    except Exception as error:
        found = Outcome(WRONG, f"{type(error).__name__}: {error}")
    else:
        found = Outcome(SAME, "") if answer == right else Outcome(WRONG, difference(answer, right), answer)
    took_s = time.perf_counter() - started
    return found if took_s < LONGEST_S else Outcome(WRONG, f"it took {took_s:.1f} s: {found.text}")


def difference(answer: Answer, right: Answer) -> str:
    """Where two answers part."""
    names, right_names = ([(column.name, column.type) for column in each] for each in (answer, right))
    if names != right_names:
        return f"columns {names}, not {right_names}"
    if len(answer[0].values) != len(right[0].values):
        return f"{len(answer[0].values)} rows, not {len(right[0].values)}"
    return next(
        f"{a.name} is {found}, not {wanted}"
        for a, b in zip(answer, right, strict=True)
        for found, wanted in zip(a.values, b.values, strict=True)
        if found != wanted
    )


@contextmanager
def bounded_memory(more: int = MEMORY_BYTES) -> Iterator[None]:
    """Whoever wants more address space than `more` bytes beyond what is taken by now gets a MemoryError."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def peak_bytes() -> int:
    """The most memory this process ever had."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
