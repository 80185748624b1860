"""Admission: how many scans run at once, and how long the others wait for their turn.

A scan that waits too long is refused before its first message, with UNAVAILABLE, so that its client may go to another
replica. Turns are given in the order of arrival.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter

from flightsrv.errors import FlightsrvError
from flightsrv.telemetry.meters import Meters


class AdmissionError(FlightsrvError):
    """A scan got no turn: too many others run, or the server shuts down."""


class Admission:
    """The turns of one server. Everything here belongs to the event loop's thread."""

    def __init__(self, limit: int, wait_s: float, meters: Meters) -> None:
        self.limit = limit
        self.in_use = 0
        self._wait_s = wait_s
        self._meters = meters
        self._queue: deque[asyncio.Future[None]] = deque()
        self._closed = False
        meters.gauge("cqlite.flight.admission.limit", "1", "Scans that may run at once.", lambda: self.limit)
        meters.gauge("cqlite.flight.admission.in_use", "1", "Scans that run.", lambda: self.in_use)
        meters.gauge("cqlite.flight.admission.waiting", "1", "Scans that wait for their turn.", lambda: self.waiting)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it for the body. Raises AdmissionError when there is none in time."""
        if self._closed:
            raise self._refusal("the server is shutting down")
        if self.in_use < self.limit:
            self.in_use += 1
        else:
            await self._wait()
        try:
            yield
        finally:
            self._pass_on()

    def close(self) -> None:
        """Refuse everyone who waits, and everyone who comes."""
        self._closed = True
        while self._queue:
            self._queue.popleft().set_exception(self._refusal("the server is shutting down"))

    async def _wait(self) -> None:
        """Queue for a turn; on return it is ours."""
        ours: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(ours)
        started = perf_counter()
        try:
            await asyncio.wait([ours], timeout=self._wait_s)
        except asyncio.CancelledError:
            if ours.done() and ours.exception() is None:
                self._pass_on()
            elif ours in self._queue:
                self._queue.remove(ours)
            raise
        finally:
            self._meters.admission_waited(perf_counter() - started)
        if not ours.done():
            self._queue.remove(ours)
            raise self._refusal(f"{self.limit} scans are running, and none ended within {self._wait_s:g} s")
        ours.result()

    def _pass_on(self) -> None:
        """Give the turn to the first in the queue, or back."""
        if self._queue:
            self._queue.popleft().set_result(None)
        else:
            self.in_use -= 1

    def _refusal(self, why: str) -> AdmissionError:
        self._meters.rejected.add(1)
        return AdmissionError(why)
