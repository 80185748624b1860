"""DoGet: a ticket in, a schema and record batches out; in the order validate, admission, resolve, merge_setup, stream.

What fails before the stream fails the call before any message, so that a client may safely go elsewhere. The trailing
metadata of a whole stream tell how the scan went, times in seconds:

    flightsrv-stages: {"rows": 3, "bytes": 96, "seconds": 0.012, "bottleneck": "decode",
                       "stages": {"read": {"busy": …, "starved": …, "blocked": …, "lanes": 1}, …}}
"""

from __future__ import annotations

import asyncio
import json
from time import perf_counter_ns

from flightsrv.arrow.frames import schema_frame
from flightsrv.config import Settings
from flightsrv.server import tickets
from flightsrv.server.admission import Admission
from flightsrv.server.calls import Call, Observer
from flightsrv.server.engine import Engine, Scan
from flightsrv.server.flight_pb2 import Ticket
from flightsrv.server.messages import read_message
from flightsrv.server.stream import ScanThread
from flightsrv.server.write import write, write_frames
from flightsrv.telemetry.clocks import ScanClocks
from flightsrv.telemetry.meters import Meters

STAGES_TRAILER = "flightsrv-stages"


class DoGet:
    """All scans of one server. Everything here belongs to the event loop's thread."""

    def __init__(
        self, engine: Engine, settings: Settings, admission: Admission, observer: Observer, meters: Meters
    ) -> None:
        self._engine = engine
        self._depth = settings.frames_ahead
        self._admission = admission
        self._meters = meters
        self._observer = observer
        self._threads: set[ScanThread] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        meters.gauge(
            "cqlite.flight.blocking_tasks_in_use", "{thread}", "Threads that run a scan.", lambda: len(self._threads)
        )

    async def handle(self, call: Call, payload: bytes) -> None:
        """Serve one DoGet."""
        call.phases.enter("validate")
        call.request = tickets.parse(read_message(Ticket, payload).ticket)
        call.phases.enter("admission")
        async with self._admission.turn():
            thread = ScanThread(self._engine, call.request, call.phases, self._depth)
            self._threads.add(thread)
            self._idle.clear()
            thread.start()
            try:
                await self._send(call, await thread.opened(), thread)
            finally:
                thread.cancel()
                await thread.join()
                self._threads.discard(thread)
                if not self._threads:
                    self._idle.set()

    async def idle_within(self, seconds: float) -> bool:
        """Wait until no scan runs, at most so long; say whether none does."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def cancel_all(self) -> None:
        """Cancel every scan; their clients are told ABORTED."""
        for thread in self._threads:
            thread.cancel()

    async def _send(self, call: Call, scan: Scan, thread: ScanThread) -> None:
        """Write everything the scan gives, at the client's pace."""
        call.progress = self._meters.stages(scan.clocks)
        await write(call.context, schema_frame(scan.schema).data)
        sent = self._observer.sent
        await write_frames(
            thread,
            call.context,
            scan.clocks.stage("write"),
            lambda frame: sent(call, frame.rows, frame.arrow_bytes),
        )
        call.context.set_trailing_metadata(((STAGES_TRAILER, _stages_text(call, scan.clocks)),))


def _stages_text(call: Call, clocks: ScanClocks) -> str:
    stages = {
        stage: {
            "busy": round(time.busy_s, 6),
            "starved": round(time.starved_s, 6),
            "blocked": round(time.blocked_s, 6),
            "lanes": time.lanes,
        }
        for stage, time in clocks.totals().items()
    }
    report = {
        "rows": call.rows,
        "bytes": call.bytes,
        "seconds": round((perf_counter_ns() - call.started_ns) / 1e9, 6),
        "bottleneck": clocks.bottleneck(),
        "stages": stages,
    }
    return json.dumps(report, separators=(",", ":"))
