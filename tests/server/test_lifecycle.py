"""A server process from its ready line to its exit."""

import json
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager

import grpc
import pyarrow.flight as flight
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from flightsrv.server.flight_pb2 import Ticket
from flightsrv.server.service import SERVICE
from tests.server.running import eventually, ticket

EXIT_S = 5.0


class Process:
    """A server process under test."""

    def __init__(self, popen):
        self.popen = popen
        self.line = ""

    def await_ready(self):
        self.line = self.popen.stdout.readline()
        urls = json.loads(self.line)
        self.flight, self.ops = urls["flight"], urls["ops"]

    def client(self):
        return flight.FlightClient(self.flight)

    def stopped(self, number=signal.SIGTERM):
        """Send a signal; return the exit status and the seconds until then."""
        since = time.monotonic()
        self.popen.send_signal(number)
        return self.popen.wait(30), time.monotonic() - since


@contextmanager
def process(ready=True, **chosen):
    command = [sys.executable, "-m", "tests.server.serve_fake", json.dumps({"drain_s": 2.0, **chosen})]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as popen:
        try:
            started = Process(popen)
            if ready:
                started.await_ready()
            yield started
        finally:
            popen.kill()
            errors = popen.stderr.read()
    assert "Traceback" not in errors, errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once_and_well(number):
    with process() as server:
        status, seconds = server.stopped(number)
    assert status == 0
    assert seconds < 2.0


def test_the_ready_line_has_both_urls_with_the_real_ports_and_the_file_holds_the_same(tmp_path):
    ready_file = tmp_path / "ready"
    with process(ready_file=str(ready_file)) as server:
        assert ready_file.read_text() == server.line
        assert list(tmp_path.iterdir()) == [ready_file]
        assert server.client().do_get(ticket()).read_all().num_rows == 300
        assert urllib.request.urlopen(server.ops + "/readyz", timeout=5).status == 200
        server.stopped()
        assert not ready_file.exists()


def test_a_scan_that_ends_in_time_is_not_cut():
    with process(kind="endless") as server:
        reader = server.client().do_get(ticket(limit=1))
        reader.read_chunk()
        server.popen.send_signal(signal.SIGTERM)
        since = time.monotonic()
        while time.monotonic() - since < 1.0:
            reader.read_chunk()  # still comes
        reader.cancel()
        assert server.popen.wait(EXIT_S) == 0


def test_a_scan_under_way_is_told_aborted_after_the_drain():
    with process(kind="endless", drain_s=0.5) as server:
        reader = server.client().do_get(ticket())
        reader.read_chunk()
        ended = {}

        def read_on():
            try:
                reader.read_all()
            except Exception as error:
                ended["how"] = str(error)

        thread = threading.Thread(target=read_on)
        thread.start()
        status, seconds = server.stopped()
        thread.join()
    assert status == 0
    assert 0.5 <= seconds < EXIT_S
    assert "cancelled" in ended["how"]


@pytest.mark.parametrize("kind", ["endless", "hung"])
def test_neither_a_client_that_does_not_read_nor_a_dead_disk_keeps_the_server(kind):
    with process(kind=kind) as server:
        reader = server.client().do_get(ticket())
        reader.read_chunk()
        time.sleep(0.3)
        status, seconds = server.stopped()
        del reader
    assert status == 0
    assert seconds < EXIT_S


def test_open_connections_keep_the_server_no_longer():
    with process(kind="endless") as server, grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        with urllib.request.urlopen(server.ops + "/healthz", timeout=5):
            status, seconds = server.stopped()
    assert status == 0
    assert seconds < EXIT_S


def test_scans_that_wait_for_their_turn_are_refused():
    with (
        process(kind="endless", max_concurrent_scans=1, drain_s=0.5) as server,
        grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel,
    ):
        do_get, wanted = channel.unary_stream(f"/{SERVICE}/DoGet"), Ticket(ticket=ticket().ticket).SerializeToString()
        first = do_get(wanted)
        next(first)
        second = do_get(wanted)
        eventually(lambda: b"waiting" in metrics_that_are_1(server))
        status, _seconds = server.stopped()
        with pytest.raises(grpc.RpcError) as raised:
            next(second)
    assert status == 0
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    first.cancel()


def metrics_that_are_1(server):
    with urllib.request.urlopen(server.ops + "/metrics", timeout=5) as answer:
        return b"\n".join(line for line in answer.read().splitlines() if line.endswith(b" 1.0"))


def test_a_second_signal_ends_the_process_at_once():
    with process(kind="endless", drain_s=60.0) as server:
        reader = server.client().do_get(ticket())
        reader.read_chunk()
        server.popen.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        status, seconds = server.stopped()
        del reader
    assert status == -signal.SIGTERM
    assert seconds < 1.0


def test_a_signal_before_it_is_ready_ends_it():
    with process(ready=False, warms_for_ever=True) as server:
        assert server.popen.stderr.readline() == "warming\n"
        status, seconds = server.stopped()
        assert server.popen.stdout.read() == ""
    assert status == 0
    assert seconds < EXIT_S


def test_a_collector_that_does_not_answer_keeps_the_server_no_longer():
    environ = {"CQLITE_OTEL_ENABLED": "1", "CQLITE_OTEL_ENDPOINT": "http://192.0.2.1:4317"}
    with process(environ=environ) as server:
        server.client().do_get(ticket()).read_all()
        status, seconds = server.stopped()
    assert status == 0
    assert seconds < EXIT_S
