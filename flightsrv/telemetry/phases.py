"""The phases of one RPC, and how the stages of its scan are told in the same terms.

    validate       the ticket's bytes are read
    admission      the scan waits for its turn
    resolve        the table's schema is found
    merge_setup    the scan is planned and its SSTables are opened
    stream         from the first frame asked of the scan to its last, the time parked on the client included

A phase entered gives exactly one sample, also when the RPC fails or is cancelled; one that was not entered gives
none. Sub-phases are sums over the scan's threads: they overlap, and do not add up to `stream`. Phase names and
meanings are those of cqlite-flight, so that its dashboards work here; stream_decode is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns

from flightsrv.telemetry.clocks import StageTime

PHASES = ("validate", "admission", "resolve", "merge_setup", "stream")

SUB_PHASES = (
    "stream_cold_fault",
    "stream_decompress",
    "stream_decode",
    "stream_merge",
    "stream_encode",
    "stream_grpc_write",
)

_NS_PER_S = 1_000_000_000


class Phases:
    """Adds up the time one RPC spends in each phase. Used by one thread at a time; `current` may be read by any."""

    __slots__ = ("_entered_ns", "_spent_ns", "current")

    def __init__(self) -> None:
        self.current: str | None = None
        self._entered_ns = 0
        self._spent_ns: dict[str, int] = {}

    def enter(self, phase: str) -> None:
        """Leave the current phase, if there is one, and enter `phase`, one of PHASES."""
        self.leave()
        self.current = phase
        self._entered_ns = perf_counter_ns()

    def leave(self) -> None:
        """Leave the current phase; nothing happens when there is none."""
        if self.current is not None:
            spent_ns = perf_counter_ns() - self._entered_ns
            self._spent_ns[self.current] = self._spent_ns.get(self.current, 0) + spent_ns
            self.current = None

    def samples(self) -> dict[str, float]:
        """Seconds spent in each phase that was entered and left."""
        return {phase: spent_ns / _NS_PER_S for phase, spent_ns in self._spent_ns.items()}


def sub_phases(totals: Mapping[str, StageTime]) -> dict[str, float]:
    """Seconds of each sub-phase that took any time, from the totals of a scan's clocks."""
    seconds = {
        "stream_cold_fault": totals["read"].waited_s,  # how long the scan stood still for bytes
        "stream_decompress": totals["decompress"].busy_s,
        "stream_decode": totals["decode"].busy_s,
        "stream_merge": totals["merge"].busy_s,
        "stream_encode": totals["encode"].busy_s,
        "stream_grpc_write": totals["write"].busy_s,
    }
    return {phase: spent for phase, spent in seconds.items() if spent > 0}
