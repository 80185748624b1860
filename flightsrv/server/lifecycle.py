"""A server from its start to its end: two listeners, the ready line, and a shutdown that ends.

Start:  the ops port opens (alive, not ready); the engine is warmed up and lists its tables, which are watched from then
        on; the Flight port opens.
Stop:   not ready any more; no new scans, those that wait are refused; the scans under way get `drain_s` to finish and
        are cancelled then; both ports close. With the default drain this takes less than 5 s whatever the clients do.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import grpc
import uvloop
from aiohttp import web
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from flightsrv.config import Address, Settings
from flightsrv.errors import FlightsrvError
from flightsrv.server import http
from flightsrv.server.admission import Admission
from flightsrv.server.calls import Observer
from flightsrv.server.do_get import DoGet
from flightsrv.server.engine import Engine
from flightsrv.server.memory import keep_freed_memory
from flightsrv.server.service import SERVICE, FlightService
from flightsrv.server.threads import in_thread
from flightsrv.server.watch import Watch
from flightsrv.telemetry.setup import Telemetry

log = logging.getLogger(__name__)

_ABORT_S = 0.5
"""After the scans are cancelled, how long their clients have to take the status before their streams are cut."""

_HUNG_S = 1.0
"""And how long after that a cancelled scan may take to end its thread."""

_TELEMETRY_S = 0.5
"""How long the last metrics and spans may take to be pushed."""


class ListenError(FlightsrvError):
    """An address cannot be listened on."""


class Server:
    """One server of one engine, for the event loop it is made in."""

    def __init__(self, engine: Engine, settings: Settings, warm: Callable[[], object] | None = None) -> None:
        """`warm` is called, in a thread, before the server gets ready."""
        self._settings = settings
        self._warm = warm
        self._ready = False
        self._telemetry = Telemetry(settings.telemetry)
        meters = self._telemetry.meters
        observer = Observer(self._telemetry)
        self._admission = Admission(settings.max_concurrent_scans, settings.admission_wait_s, meters)
        self._do_get = DoGet(engine, settings, self._admission, observer, meters)
        self._service = FlightService(engine, self._do_get, observer)
        self._watch = Watch(engine, meters)
        self._health = health.aio.HealthServicer()
        self._flight = grpc.aio.server(options=_grpc_options(settings.max_concurrent_scans))
        self._flight.add_generic_rpc_handlers((self._service.handlers(),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._flight)
        app = http.application(lambda: self._ready, self._telemetry.metrics_text)
        self._ops = web.AppRunner(app, access_log=None, shutdown_timeout=_ABORT_S)
        self.flight_address = settings.listen
        self.ops_address = settings.ops_listen

    async def start(self) -> None:
        """Open both ports; on return the server is ready. Raises ListenError, and what `warm` and the engine raise."""
        self.ops_address = await self._open_ops(self._settings.ops_listen)
        if self._warm is not None:
            await in_thread(self._warm)
        tables = await self._service.tables()
        log.info("%d tables of %d keyspaces", len(tables), len({table.keyspace for table in tables}))
        await in_thread(self._watch.start)
        self.flight_address = self._open_flight(self._settings.listen)
        await self._health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
        await self._flight.start()
        self._ready = True

    async def stop(self) -> None:
        """Shut down as the module says. Works after a start that failed or was cancelled, too."""
        self._ready = False
        self._watch.stop()
        await self._health.enter_graceful_shutdown()
        self._admission.close()
        drain_s = self._settings.drain_s
        closing = asyncio.create_task(self._flight.stop(drain_s + _ABORT_S))
        if not await self._do_get.idle_within(drain_s):
            self._do_get.cancel_all()
        # A scan that a dead disk holds is left behind: its thread is a daemon.
        await asyncio.wait({closing}, timeout=_ABORT_S + _HUNG_S)
        await self._ops.cleanup()
        with suppress(TimeoutError):
            await asyncio.wait_for(in_thread(self._telemetry.shutdown), _TELEMETRY_S)

    def ready_line(self) -> str:
        """Both URLs, as JSON, with the ports that were found when 0 was asked for."""
        return json.dumps({"flight": f"grpc://{self.flight_address}", "ops": f"http://{self.ops_address}"})

    async def _open_ops(self, address: Address) -> Address:
        await self._ops.setup()
        try:
            await web.TCPSite(self._ops, address.host, address.port).start()
        except OSError as error:
            raise ListenError(f"cannot listen on {address}: {error.strerror}") from None
        return address._replace(port=self._ops.addresses[0][1])

    def _open_flight(self, address: Address) -> Address:
        try:
            return address._replace(port=self._flight.add_insecure_port(str(address)))
        except RuntimeError:
            raise ListenError(f"cannot listen on {address}") from None


def _grpc_options(scans: int) -> list[tuple[str, int]]:
    return [
        ("grpc.so_reuseport", 0),  # or a second server on the port would silently share its clients
        ("grpc.max_concurrent_streams", max(4 * scans, 1024)),
        ("grpc.max_send_message_length", -1),
        # A client that vanished without a word is noticed, and its scan ended, within 40 s.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # Clients may keep idle connections alive as often as that without being told GOAWAY.
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
    ]


def serve(engine: Engine, settings: Settings, warm: Callable[[], object] | None = None) -> None:
    """Serve until SIGTERM or SIGINT; a second signal ends the process at once, as if there were no handler.

    Writes the ready line to `settings.ready_file`, which is removed again at the end, and prints it.
    """
    keep_freed_memory()
    uvloop.run(_serve(engine, settings, warm))


async def _serve(engine: Engine, settings: Settings, warm: Callable[[], object] | None) -> None:
    asked_to_stop = _stop_on_signals()
    server = Server(engine, settings, warm)
    try:
        if await _started(server, asked_to_stop):
            _announce(server.ready_line(), settings.ready_file)
            await asked_to_stop.wait()
            log.info("shutting down")
    finally:
        if settings.ready_file is not None:
            settings.ready_file.unlink(missing_ok=True)
        await server.stop()


async def _started(server: Server, asked_to_stop: asyncio.Event) -> bool:
    """Start `server`, unless it is asked to stop before it is ready; say whether it is."""
    starting = asyncio.ensure_future(server.start())
    stopping = asyncio.ensure_future(asked_to_stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        starting.result()
        return True
    starting.cancel()
    return False


def _stop_on_signals() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        if asked.is_set():
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    return asked


def _announce(line: str, ready_file: Path | None) -> None:
    if ready_file is not None:
        written = ready_file.with_name(f".{ready_file.name}.new")
        written.write_text(line + "\n", encoding="utf-8")
        written.replace(ready_file)
    print(line, flush=True)
