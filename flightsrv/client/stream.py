"""One scan's answer: its batches, how long they took, and after the last one what the server says of its stages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyarrow import flight

STAGES_TRAILER = "flightsrv-stages"


@dataclass(frozen=True, slots=True)
class StageTimes:
    """Where one stage's time went, in seconds; the three add up to the life of all its lanes."""

    stage: str
    busy_s: float
    starved_s: float
    """Waiting for input."""
    blocked_s: float
    """Waiting for the next stage to take its output."""
    lanes: int
    """How many of it there were at once, over all SSTables."""

    @property
    def life_s(self) -> float:
        return self.busy_s + self.starved_s + self.blocked_s


@dataclass(frozen=True, slots=True)
class StageReport:
    """What the server says of a scan after its end."""

    stages: tuple[StageTimes, ...]
    """In the order the data goes."""
    bottleneck: str
    """The stage that is busy for the largest share of its life; "" when nothing ran."""


class Trailers(flight.ClientMiddlewareFactory):  # type: ignore[misc]
    """Keeps what the server said at the end of the scan that ended last."""

    def __init__(self) -> None:
        super().__init__()
        self._text: str | None = None

    def middleware(self) -> flight.ClientMiddlewareFactory:
        return self

    def start_call(self, info: flight.CallInfo) -> flight.ClientMiddleware | None:
        return _Listener(self.keep) if info.method == flight.FlightMethod.DO_GET else None

    def keep(self, text: str) -> None:
        self._text = text

    def take(self) -> StageReport | None:
        """The report, once; None from a server that gives none."""
        text, self._text = self._text, None
        return _report_of(json.loads(text)) if text is not None else None


class _Listener(flight.ClientMiddleware):  # type: ignore[misc]
    """Hears the headers of one call; pyarrow gives it the trailers by the same method."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        super().__init__()
        self._keep = keep

    def received_headers(self, headers: Mapping[str, list[str | bytes]]) -> None:
        for value in headers.get(STAGES_TRAILER, ()):
            self._keep(value if isinstance(value, str) else value.decode())


def _report_of(said: Mapping[str, Any]) -> StageReport:
    stages = tuple(
        StageTimes(name, times["busy"], times["starved"], times["blocked"], times["lanes"])
        for name, times in said["stages"].items()
    )
    return StageReport(stages, said["bottleneck"])


class Stream:
    """The record batches of one scan, to be iterated once. Iterating raises ServerError when the scan fails."""

    def __init__(
        self,
        begin: Callable[[], flight.FlightStreamReader],
        trailers: Trailers,
        told: Callable[[], AbstractContextManager[None]],
        total_rows: int | None,
    ) -> None:
        """`begin` sends the request. `told` wraps what speaks to the server, and turns errors into ServerErrors."""
        self._started = perf_counter()
        self._reader = begin()
        self._trailers = trailers
        self._told = told
        self.schema: pa.Schema = self._reader.schema
        self.total_rows = total_rows
        """Most rows it can have: deleted and expired ones count too, and one in two SSTables twice. None: unknown."""
        self.rows = 0
        self.arrow_bytes = 0
        self.first_batch_s: float | None = None
        """From the request to the first batch; None as long as there is none."""
        self.seconds = 0.0
        """From the request to the last batch so far, or to the end."""
        self.report: StageReport | None = None
        """There after the end."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while (batch := self._next()) is not None:
            self.rows += batch.num_rows
            self.arrow_bytes += batch.nbytes
            if self.first_batch_s is None:
                self.first_batch_s = self.seconds
            yield batch
        self.report = self._trailers.take()

    def cancel(self) -> None:
        """Tell the server that no more is wanted."""
        self._reader.cancel()

    def _next(self) -> pa.RecordBatch | None:
        with self._told():
            try:
                batch: pa.RecordBatch = self._reader.read_chunk().data
            except StopIteration:
                return None
            finally:
                self.seconds = perf_counter() - self._started
        return batch
