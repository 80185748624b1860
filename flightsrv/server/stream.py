"""One scan's thread, and how its frames get to the event loop.

The thread runs the scan; the loop writes. Between them stand at most `depth` frames, of which one may be in gRPC's
hands: a slot is taken before a frame is handed over and given back once it is written. A client that does not read
leaves the slots taken, and the thread, and with it the scan, waits. Nothing polls.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Iterator

from flightsrv.errors import ScanCancelledError
from flightsrv.scan.request import ScanRequest
from flightsrv.server.engine import Engine, Frame, Scan
from flightsrv.telemetry.phases import Phases


class ScanThread:
    """Runs one scan from its request to its end. Methods are the event loop's, but for `_run` and what it calls."""

    def __init__(self, engine: Engine, request: ScanRequest, phases: Phases, depth: int) -> None:
        """`phases` belongs to the thread from `start` until `join` returns."""
        self._engine = engine
        self._request = request
        self._phases = phases
        self._slots = threading.Semaphore(depth)
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[Scan] = self._loop.create_future()
        self._handed: asyncio.Queue[Frame | Exception | None] = asyncio.Queue()
        self._ended = asyncio.Event()
        self._scan: Scan | None = None
        self._cancelled = False
        self._thread = threading.Thread(target=self._run, name=f"scan-{request.keyspace}.{request.table}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def opened(self) -> Scan:
        """The scan, once it is open. Raises what opening it raised."""
        return await self._opened

    async def frame(self) -> Frame | None:
        """The next frame, or None after the last. Raises what the scan raised."""
        handed = await self._handed.get()
        if isinstance(handed, Exception):
            raise handed
        return handed

    def written(self) -> None:
        """The frame got last is written; the scan may hand over another."""
        self._slots.release()

    def cancel(self) -> None:
        """Stop the scan, whatever it does: `frame` raises ScanCancelledError soon. Does nothing once it has ended."""
        if self._ended.is_set():
            return
        self._cancelled = True
        if self._scan is not None:
            self._scan.cancel()
        self._slots.release()

    async def join(self) -> None:
        """Wait until the thread has ended; after `cancel` that is soon."""
        await self._ended.wait()
        self._thread.join()

    def _run(self) -> None:
        outcome: Exception | None = None
        try:
            self._pull()
        except Exception as error:
            outcome = error
        except BaseException as panic:  # as Rust extensions raise them; the loop must not die of it
            outcome = RuntimeError(f"{type(panic).__name__}: {panic}")
        finally:
            self._phases.leave()
        self._loop.call_soon_threadsafe(self._set_ended, outcome)

    def _pull(self) -> None:
        self._phases.enter("resolve")
        self._engine.arrow_schema(self._request)
        self._phases.enter("merge_setup")
        scan = self._engine.open_scan(self._request)
        try:
            # `cancel` sets the flag and then looks for the scan, this looks the other way round: one of them sees it.
            self._scan = scan
            self._stop_if_cancelled()
            self._phases.enter("stream")
            self._loop.call_soon_threadsafe(self._set_opened, scan)
            self._hand_over(scan.frames())
        finally:
            scan.close()

    def _hand_over(self, frames: Iterator[Frame]) -> None:
        try:
            for frame in frames:
                self._slots.acquire()
                self._stop_if_cancelled()
                self._loop.call_soon_threadsafe(self._handed.put_nowait, frame)
        finally:
            if isinstance(frames, Generator):  # its stages end before the scan closes their files
                frames.close()

    def _stop_if_cancelled(self) -> None:
        if self._cancelled:
            raise ScanCancelledError("the scan was cancelled")

    def _set_opened(self, scan: Scan) -> None:
        if not self._opened.done():  # it is done when the RPC was cancelled while it waited
            self._opened.set_result(scan)

    def _set_ended(self, outcome: Exception | None) -> None:
        if not self._opened.done() and outcome is not None:
            self._opened.set_exception(outcome)
        self._handed.put_nowait(outcome)
        self._ended.set()
