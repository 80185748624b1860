"""The instruments: names, units and attributes are cqlite-flight's, so that its dashboards and alerts work here.

Histograms are recorded once per RPC and phase; all counters and gauges are observed, so serving costs them an
addition. Bucket boundaries go with each histogram. No View is used: one that matches by a pattern also turns counters
into histograms.

Ours alone: the phase stream_decode, and flightsrv.stage.time, whose rate is how many threads a stage keeps busy,
starved or blocked at the moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from time import monotonic
from typing import Protocol

from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation

from flightsrv.telemetry import process
from flightsrv.telemetry.clocks import STAGES, ScanClocks, StageTime
from flightsrv.telemetry.phases import PHASES, Phases
from flightsrv.telemetry.tallies import Tally

METHODS = (
    "get_flight_info",
    "get_schema",
    "do_get",
    "handshake",
    "list_flights",
    "poll_flight_info",
    "do_put",
    "do_exchange",
    "do_action",
    "list_actions",
)

ABORT_CATEGORIES: Mapping[str, str] = {
    "client_cancel": "cancelled",
    "admission_shed": "cancelled",
    "snapshot_retired": "cancelled",
    "shutdown": "cancelled",
    "ticket_invalid": "query",
    "internal": "other",
}
"""Why a DoGet ended early, and the error category that goes with it unless the error says better."""

INTERNAL_CATEGORIES = ("corruption", "storage", "schema", "constraints", "io")
"""What an error says better than `other` when a DoGet ends for the reason `internal`."""

BOUNDARIES_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""From a point read of a millisecond to a full scan of ten minutes."""

PROGRESS_S = 1.0
"""How often a long scan tells the stage counters where it stands."""

METHOD = "cqlite.rpc.method"
STATUS = "cqlite.rpc.status"
PHASE = "cqlite.rpc.phase"


class LiveRpc(Protocol):
    """An RPC under way."""

    @property
    def method(self) -> str: ...

    @property
    def phases(self) -> Phases: ...


class Meters:
    """All instruments of one server. Methods and tallies belong to the event loop's thread."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self.live: set[LiveRpc] = set()
        """RPCs under way; the caller adds and discards."""
        self.requests = Tally((METHOD, STATUS), product(METHODS, ("ok", "error")))
        self.rows = Tally((METHOD,), [("do_get",)])
        self.bytes = Tally((METHOD,), [("do_get",)])
        self.errors = Tally(
            ("cqlite.error.category", "cqlite.subsystem", "cqlite.flight.abort_reason"),
            [(category, "flight", reason) for reason, category in ABORT_CATEGORIES.items()]
            + [(category, "flight", "internal") for category in INTERNAL_CATEGORIES],
        )
        self.rejected = Tally()
        self._stage_time = Tally(
            ("flightsrv.stage", "flightsrv.state"), product(STAGES, ("busy", "starved", "blocked"))
        )
        self._count("cqlite.rpc.requests", "1", "RPCs completed.", self.requests)
        self._count("cqlite.rpc.rows", "{row}", "Rows sent.", self.rows)
        self._count("cqlite.rpc.bytes", "By", "Arrow bytes sent, before IPC framing.", self.bytes)
        self._count("cqlite.errors.total", "{error}", "RPCs that failed, by cause.", self.errors)
        self._count("cqlite.flight.admission.rejected_total", "1", "Scans told UNAVAILABLE.", self.rejected)
        self._count("flightsrv.stage.time", "s", "Thread time of the scans' stages, by state.", self._stage_time)
        self._duration = self._histogram("cqlite.rpc.duration", "RPCs from their start to their last byte.")
        self._phase_duration = self._histogram("cqlite.rpc.phase.duration", "Phases of RPCs.")
        self._admission_wait = self._histogram(
            "cqlite.flight.admission.wait_seconds", "Waits of the scans that had to wait for their turn."
        )
        meter.create_observable_gauge("cqlite.rpc.in_flight", [self._in_flight], "1", "RPCs under way.")
        meter.create_observable_gauge("cqlite.rpc.phase.active", [self._active], "1", "RPCs in each phase now.")
        self.gauge("cqlite.proc.threads", "{thread}", "Threads of this process.", process.thread_count)
        self.gauge("cqlite.proc.fds", "{fd}", "Open files of this process.", process.fd_count)
        self.gauge("cqlite.proc.rss_bytes", "By", "Resident memory of this process.", process.rss_bytes)

    def gauge(self, name: str, unit: str, description: str, value: Callable[[], int | None]) -> None:
        """Add a gauge that asks `value` at each collection; None is no answer this time."""

        def observe(_options: CallbackOptions) -> list[Observation]:
            now = value()
            return [] if now is None else [Observation(now)]

        self._meter.create_observable_gauge(name, [observe], unit, description)

    def admission_waited(self, seconds: float) -> None:
        self._admission_wait.record(seconds)

    def rpc_done(self, method: str, status: str, duration_s: float, phases: Mapping[str, float]) -> None:
        """An RPC ended with `status`, ok or error; `phases`: the seconds of each phase and sub-phase to sample."""
        self.requests.add(1, method, status)
        self._duration.record(duration_s, {METHOD: method, STATUS: status})
        for phase, seconds in phases.items():
            self._phase_duration.record(seconds, {METHOD: method, PHASE: phase})

    def stages(self, clocks: ScanClocks) -> StageProgress:
        return StageProgress(clocks, self._stage_time)

    def _count(self, name: str, unit: str, description: str, tally: Tally) -> None:
        self._meter.create_observable_counter(name, [tally.observe], unit, description)

    def _histogram(self, name: str, description: str) -> Histogram:
        return self._meter.create_histogram(
            name, "s", description, explicit_bucket_boundaries_advisory=list(BOUNDARIES_S)
        )

    def _in_flight(self, _options: CallbackOptions) -> list[Observation]:
        counts = Counter(rpc.method for rpc in list(self.live))
        return [Observation(counts[method], {METHOD: method}) for method in METHODS]

    def _active(self, _options: CallbackOptions) -> list[Observation]:
        counts = Counter(rpc.phases.current for rpc in list(self.live) if rpc.method == "do_get")
        return [Observation(counts[phase], {METHOD: "do_get", PHASE: phase}) for phase in PHASES]


class StageProgress:
    """Carries what a scan's clocks have gained since the last time into flightsrv.stage.time."""

    def __init__(self, clocks: ScanClocks, tally: Tally) -> None:
        self.clocks = clocks
        self._tally = tally
        self._told = dict.fromkeys(STAGES, StageTime(0.0, 0.0, 0.0, 0))
        self._told_at_s = monotonic()

    def tick(self) -> None:
        """Flush when the last time is long enough ago; cheap enough to be called for each frame."""
        if monotonic() - self._told_at_s >= PROGRESS_S:
            self.flush()

    def flush(self) -> None:
        self._told_at_s = monotonic()
        for stage, now in self.clocks.totals().items():
            told = self._told[stage]
            self._tally.add(now.busy_s - told.busy_s, stage, "busy")
            self._tally.add(now.starved_s - told.starved_s, stage, "starved")
            self._tally.add(now.blocked_s - told.blocked_s, stage, "blocked")
            self._told[stage] = now
