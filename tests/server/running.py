"""A server in a thread of the test's own process, and what a client would do with it."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow.flight as flight
import uvloop

from flightsrv.config import Address, Settings
from flightsrv.server.lifecycle import Server

ANY_PORT = Address("127.0.0.1", 0)


def settings(**chosen: Any) -> Settings:
    return Settings(**{"listen": ANY_PORT, "ops_listen": ANY_PORT, "drain_s": 0.2, **chosen})


def get(ops: str, path: str) -> tuple[int, str]:
    """Status and text of a page of the ops port."""
    try:
        with urllib.request.urlopen(ops + path, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@dataclass
class Running:
    """A server that is ready."""

    flight: str
    ops: str
    loop: asyncio.AbstractEventLoop
    server: Server

    def client(self, **options: Any) -> flight.FlightClient:
        return flight.FlightClient(self.flight, **options)

    def get(self, path: str) -> tuple[int, str]:
        return get(self.ops, path)

    def samples(self, name: str) -> dict[str, float]:
        """The samples of a Prometheus metric that are not 0, by the values of their labels, joined with a space."""
        found = {}
        for labels, value in re.findall(rf"^{name}{{?(.*?)}}? (\S+)$", self.get("/metrics")[1], re.MULTILINE):
            values = [
                text for key, text in re.findall(r'(\w+)="([^"]*)"', labels) if not key.startswith("otel_") and text
            ]
            if float(value):
                found[" ".join(values)] = float(value)
        return found


def ticket(keyspace: str = "ks", table: str = "t", **fields: Any) -> flight.Ticket:
    return flight.Ticket(json.dumps({"keyspace": keyspace, "table": table, **fields}))


@contextmanager
def running(engine: Any, **chosen: Any) -> Iterator[Running]:
    """Run a server of `engine` for the body; it is stopped, as by SIGTERM, at the end."""
    ready: list[Running] = []
    started = threading.Event()

    async def serve() -> None:
        server = Server(engine, settings(**chosen))
        stop = asyncio.Event()
        await server.start()
        urls = json.loads(server.ready_line())
        ready.append(Running(urls["flight"], urls["ops"], asyncio.get_running_loop(), server))
        stops.append(stop)
        started.set()
        await stop.wait()
        await server.stop()

    stops: list[asyncio.Event] = []
    thread = threading.Thread(target=uvloop.run, args=(serve(),))
    thread.start()
    assert started.wait(20)
    try:
        yield ready[0]
    finally:
        ready[0].loop.call_soon_threadsafe(stops[0].set)
        thread.join(20)
        assert not thread.is_alive()


def eventually(holds: Callable[[], Any], within_s: float = 5.0) -> Any:
    """Wait until `holds()` is true, and return it."""
    deadline = time.monotonic() + within_s
    while not (value := holds()):
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)
    return value
