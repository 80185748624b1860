"""The ops port and the gRPC health service."""

import asyncio
import threading

import grpc
import pyarrow.flight as flight
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from flightsrv.server.lifecycle import ListenError, Server
from flightsrv.server.memory import keep_freed_memory
from flightsrv.server.service import SERVICE
from tests.server.running import eventually, get, running, settings, ticket


def test_a_ready_server_says_so(server):
    assert server.get("/healthz") == (200, "up\n")
    assert server.get("/readyz") == (200, "ready\n")
    status, text = server.get("/")
    assert status == 200
    assert all(path in text for path in ("/healthz", "/readyz", "/metrics"))
    assert server.get("/nothing")[0] == 404


@pytest.mark.parametrize("service", ["", SERVICE])
def test_the_grpc_health_service_says_serving(server, service):
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service), timeout=5)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_a_server_that_warms_up_is_alive_and_not_ready(engine):
    async def look_while_it_warms():
        warming, go_on = threading.Event(), threading.Event()
        server = Server(engine, settings(), lambda: (warming.set(), go_on.wait(5)))
        starting = asyncio.create_task(server.start())
        await asyncio.to_thread(warming.wait, 5)
        seen = [await asyncio.to_thread(get, f"http://{server.ops_address}", path) for path in ("/healthz", "/readyz")]
        go_on.set()
        await starting
        seen.append(await asyncio.to_thread(get, f"http://{server.ops_address}", "/readyz"))
        await server.stop()
        return [status for status, _text in seen]

    assert asyncio.run(look_while_it_warms()) == [200, 503, 200]


def test_a_server_that_drains_is_not_ready_takes_no_scan_and_lets_the_running_one_finish(engine):
    go_on = threading.Event()
    engine.at_frame = lambda number: number == 1 and go_on.wait(5)
    with running(engine, drain_s=5.0) as server:
        reader = server.client().do_get(ticket())
        reader.read_chunk()
        stopped = asyncio.run_coroutine_threadsafe(server.server.stop(), server.loop)
        eventually(lambda: server.get("/readyz")[0] == 503)
        assert server.get("/healthz")[0] == 200
        with pytest.raises(flight.FlightUnavailableError):
            server.client().do_get(ticket())
        go_on.set()
        assert reader.read_all().num_rows == 200
        stopped.result(5)


@pytest.mark.parametrize("port", ["flight", "ops"])
def test_a_port_that_is_taken_is_an_error_that_names_it(server, engine, port):
    taken = (server.server.flight_address, server.server.ops_address)[port == "ops"]
    chosen = settings(**{"listen" if port == "flight" else "ops_listen": taken})

    async def start():
        second = Server(engine, chosen)
        try:
            await second.start()
        finally:
            await second.stop()

    with pytest.raises(ListenError, match=f"cannot listen on {taken}"):
        asyncio.run(start())


def test_the_c_allocator_keeps_freed_memory_where_it_can():
    assert keep_freed_memory() in (True, False)
