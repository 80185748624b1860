"""Stage clocks: where the wall time of each stage of one scan goes.

A clock is plain integers of nanoseconds, written by one thread and read by any:

    busy      the stage works
    starved   it waits for its input
    blocked   it waits for its consumer to take its output

The three add up to the clock's life: the stage with the largest share of busy time is the bottleneck. To time a body
costs half a microsecond, an OpenTelemetry instrument ten and more; so a scan counts here and flushes once, at its
end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from types import MappingProxyType, TracebackType

STAGES = ("read", "decompress", "decode", "merge", "encode", "write")

_NS_PER_S = 1_000_000_000


class Clock:
    """The times of one worker of one stage, or of `lanes` workers that one thread accounts for."""

    __slots__ = ("_blocked", "_busy", "_starved", "blocked_ns", "busy_ns", "lanes", "stage", "starved_ns", "waited_ns")

    def __init__(self, stage: str, lanes: int = 1) -> None:
        self.stage = stage
        self.lanes = lanes
        self.busy_ns = 0
        self.starved_ns = 0
        self.blocked_ns = 0
        self.waited_ns = 0
        self._busy = _Stretch(self.add_busy)
        self._starved = _Stretch(self.add_starved)
        self._blocked = _Stretch(self.add_blocked)

    def add_busy(self, ns: int) -> None:
        self.busy_ns += ns

    def add_starved(self, ns: int) -> None:
        self.starved_ns += ns

    def add_blocked(self, ns: int) -> None:
        self.blocked_ns += ns

    def add_waited(self, ns: int) -> None:
        """Count time that the consumer's thread stood still for this stage's next result, beside the three above."""
        self.waited_ns += ns

    def busy(self) -> _Stretch:
        """`with clock.busy():` counts the body as work. The same kind does not nest."""
        return self._busy

    def starved(self) -> _Stretch:
        """`with clock.starved():` counts the body as waiting for input. The same kind does not nest."""
        return self._starved

    def blocked(self) -> _Stretch:
        """`with clock.blocked():` counts the body as waiting for the consumer. The same kind does not nest."""
        return self._blocked


class _Stretch:
    """Adds the wall time of a `with` body to a clock; made once per clock and kind, so entering allocates nothing."""

    __slots__ = ("_add", "_start_ns")

    def __init__(self, add: Callable[[int], None]) -> None:
        self._add = add
        self._start_ns = 0

    def __enter__(self) -> None:
        self._start_ns = perf_counter_ns()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._add(perf_counter_ns() - self._start_ns)


@dataclass(frozen=True, slots=True)
class StageTime:
    """What all clocks of one stage add up to."""

    busy_s: float
    starved_s: float
    blocked_s: float
    lanes: int
    waited_s: float = 0.0
    """How long the consumer stood still for this stage's results: for read, waiting for the disk."""

    @property
    def busy_share(self) -> float:
        """Busy time over the stage's life, 0 to 1; 0 for a stage that never ran."""
        life_s = self.busy_s + self.starved_s + self.blocked_s
        return self.busy_s / life_s if life_s else 0.0


class ScanClocks:
    """All clocks of one scan. Any thread may add one to a stage, any thread may read the totals."""

    def __init__(self) -> None:
        self._clocks: Mapping[str, list[Clock]] = MappingProxyType({stage: [] for stage in STAGES})

    def stage(self, name: str, lanes: int = 1) -> Clock:
        """A new clock of stage `name`, one of STAGES, for the thread that asks."""
        clock = Clock(name, lanes)
        self._clocks[name].append(clock)
        return clock

    def totals(self) -> dict[str, StageTime]:
        """The sum of each stage's clocks, in the stages' order; a stage without a clock is there with zeros."""
        return {stage: _total(list(clocks)) for stage, clocks in self._clocks.items()}

    def bottleneck(self) -> str:
        """The stage that is busy for the largest share of its life, or "" when nothing ran yet.

        The write stage is busy while gRPC takes a frame, so "write" means that the client sets the pace.
        """
        totals = self.totals()
        slowest = max(totals, key=lambda stage: totals[stage].busy_share)
        return slowest if totals[slowest].busy_share else ""


def _total(clocks: list[Clock]) -> StageTime:
    return StageTime(
        busy_s=sum(clock.busy_ns for clock in clocks) / _NS_PER_S,
        starved_s=sum(clock.starved_ns for clock in clocks) / _NS_PER_S,
        blocked_s=sum(clock.blocked_ns for clock in clocks) / _NS_PER_S,
        lanes=sum(clock.lanes for clock in clocks),
        waited_s=sum(clock.waited_ns for clock in clocks) / _NS_PER_S,
    )
