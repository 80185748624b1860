"""A progress bar on stderr, gone when its step is over; nothing at all where stderr is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

Tell = Callable[[int, int | None], None]
"""How many are done, of how many: None where nobody knows."""


@contextmanager
def progress(what: str, unit: str) -> Iterator[Tell]:
    """A bar named `what` for the body, which tells how many of `unit` are done."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=40),
        _Counts(unit),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    bars = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),  # lines go above the bar; but what is piped stays out of it
    )
    with bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


class _Counts(ProgressColumn):
    """1,234,567 of 3,400,000 rows."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        total = "" if task.total is None else f" of {task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{total} {self._unit}")
