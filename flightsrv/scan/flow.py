"""All of the engine's threads: two pools, and how stages use them.

Reads wait for the disk and decompression works without the GIL, so both run ahead of the thread that decodes, merges
and encodes. How far ahead is bounded, and results come in order: back-pressure is that nobody asks for the next one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter_ns
from typing import Any

from flightsrv.errors import ScanCancelledError
from flightsrv.stages import Ahead
from flightsrv.telemetry.clocks import Clock


class Pools:
    """The threads of the engine, shared by all scans of a process."""

    def __init__(self, disk_threads: int, cpu_threads: int) -> None:
        self.disk = ThreadPoolExecutor(disk_threads, "disk")
        self.cpu = ThreadPoolExecutor(cpu_threads, "cpu")

    def close(self) -> None:
        """Wait for what is under way and end the threads."""
        self.disk.shutdown()
        self.cpu.shutdown()


class Cancel:
    """A flag that a scan's stages look at between two items."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask the scan to stop. Any thread, any number of times."""
        self._event.set()

    def check(self) -> None:
        """Raise ScanCancelledError if the scan was asked to stop."""
        if self._event.is_set():
            raise ScanCancelledError("the scan was cancelled")


class _Task:
    """One call on a pool, and when it ran."""

    __slots__ = ("ended_ns", "free_since_ns", "function", "future", "item", "started_ns")

    def __init__(self, function: Callable[[Any], Any], item: Any, free_since_ns: int) -> None:
        self.function = function
        self.item = item
        self.free_since_ns = free_since_ns
        self.started_ns = 0
        self.ended_ns = 0
        self.future: Future[Any]

    def run(self) -> Any:
        self.started_ns = perf_counter_ns()
        try:
            return self.function(self.item)
        finally:
            self.ended_ns = perf_counter_ns()


def ahead(pool: ThreadPoolExecutor, depth: int, clock: Clock, cancel: Cancel) -> Ahead:
    """The combinator: `ahead(...)(function, items)` yields function(item) in order, up to `depth` of them under way.

    The clock's lanes are those `depth` places. A place is starved from when it is free until its task starts, busy
    while the task runs, and blocked until its result is taken. The place is filled again before the result is handed
    out, so that pools work while the consumer does.
    """

    def run(function: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any]:
        source = iter(items)
        under_way: deque[_Task] = deque()
        free_since_ns = deque([perf_counter_ns()] * depth)

        def submit() -> bool:
            cancel.check()
            for item in source:
                task = _Task(function, item, free_since_ns.popleft())
                task.future = pool.submit(task.run)
                under_way.append(task)
                return True
            return False

        try:
            while free_since_ns and submit():
                pass
            while under_way:
                task = under_way.popleft()
                asked_ns = perf_counter_ns()
                result = task.future.result()
                taken_ns = perf_counter_ns()
                clock.add_waited(taken_ns - asked_ns)
                clock.add_starved(task.started_ns - task.free_since_ns)
                clock.add_busy(task.ended_ns - task.started_ns)
                clock.add_blocked(taken_ns - task.ended_ns)
                free_since_ns.append(taken_ns)
                submit()
                yield result
        finally:
            _abandon(under_way)
            close = getattr(source, "close", None)
            if close is not None:
                close()

    return run


def _abandon(under_way: deque[_Task]) -> None:
    """Nobody wants these results: stop what has not begun, wait for what has, for it writes to memory of the scan."""
    for task in under_way:
        task.future.cancel()
    for task in under_way:
        if not task.future.cancelled():
            task.future.exception()
