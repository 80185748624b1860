"""DoGet under way: cancelled clients, slow clients, several clients."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pyarrow as pa
import pyarrow.flight as flight
import pytest

from flightsrv.scan.request import ScanRequest
from flightsrv.server.flight_pb2 import Ticket
from flightsrv.server.service import SERVICE
from flightsrv.server.stream import ScanThread
from flightsrv.telemetry.phases import Phases
from tests.server.fake_engine import FakeEngine, FakeScan, frame_of
from tests.server.running import eventually, running, ticket

PROMPT_S = 0.2


@pytest.fixture
def endless(engine):
    """Each scan gives frames for ever, a thousand a second at most."""
    engine.frames = None
    engine.at_frame = lambda _number: time.sleep(0.001)
    return engine


@contextmanager
def bare_do_get(server):
    """A DoGet without a Flight client; its connection is closed at the end of the body, whatever its state."""
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        stream = channel.unary_stream(f"/{SERVICE}/DoGet")(Ticket(ticket=ticket().ticket).SerializeToString())
        yield stream


def gone_within(scan, since, seconds):
    """Whether `scan` was told to cancel within so long, and its thread ended."""
    eventually(scan.cancelled.is_set)
    eventually(lambda: not scan.thread.is_alive())
    assert scan.closed.is_set()
    assert scan.cancelled_at - since < seconds


def test_a_cancel_reaches_the_scan_at_once(server, endless):
    reader = server.client().do_get(ticket())
    reader.read_chunk()
    since = time.monotonic()
    reader.cancel()
    gone_within(endless.scans[0], since, PROMPT_S)


def test_a_cancel_reaches_a_scan_that_waits_for_a_disk(server, engine):
    engine.at_frame = lambda number: number and engine.scans[0].cancelled.wait(10)
    reader = server.client().do_get(ticket())
    reader.read_chunk()
    since = time.monotonic()
    reader.cancel()
    gone_within(engine.scans[0], since, PROMPT_S)


def test_a_cancel_while_the_scan_opens_reaches_it_once_it_is_open(server, engine):
    opening, go_on = threading.Event(), threading.Event()
    engine.at_open = lambda _request: (opening.set(), go_on.wait(10))
    with bare_do_get(server):  # pyarrow's do_get would wait for the first message
        assert opening.wait(5)
    assert server.samples("cqlite_rpc_in_flight") == {"do_get": 1}
    go_on.set()
    eventually(lambda: engine.scans and engine.scans[0].closed.is_set())
    eventually(lambda: server.samples("cqlite_rpc_in_flight") == {})
    assert engine.scans[0].given == 0


def test_a_deadline_ends_the_scan(server, endless):
    since = time.monotonic()
    with pytest.raises(flight.FlightTimedOutError):
        server.client().do_get(ticket(), flight.FlightCallOptions(timeout=0.3)).read_all()
    gone_within(endless.scans[0], since, 0.3 + PROMPT_S)


def test_a_connection_that_breaks_ends_the_scan(server, endless):
    with bare_do_get(server) as stream:
        next(stream)
        since = time.monotonic()
    gone_within(endless.scans[0], since, PROMPT_S)


def test_a_client_that_does_not_read_holds_the_scan_and_memory_does_not_grow(server, engine):
    engine.frame = frame_of(1000, value_bytes=2000)
    engine.frames = None
    reader = server.client().do_get(ticket())
    reader.read_chunk()
    scan = engine.scans[0]
    time.sleep(0.5)
    held = scan.given
    time.sleep(0.5)
    assert scan.given == held
    assert held < 40  # a few in the queue, the rest in both sides' HTTP/2 windows and socket buffers
    reader.cancel()
    gone_within(scan, time.monotonic(), PROMPT_S)


def test_a_client_that_reads_slowly_gets_everything_at_its_pace(server, engine):
    engine.frame = frame_of(1000, value_bytes=1000)
    engine.frames = 60
    rows = 0
    ahead = []
    for chunk in server.client().do_get(ticket()):
        rows += chunk.data.num_rows
        time.sleep(0.005)
        ahead.append(engine.scans[0].given * 1000 - rows)
    assert rows == 60_000
    assert max(ahead) < 30_000


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_no_more_frames_are_ready_than_asked_for(engine, depth):
    engine.frames = None

    async def made():
        await asyncio.sleep(0.1)
        return engine.scans[0].given

    async def take_one_at_a_time():
        thread = ScanThread(engine, ScanRequest("ks", "t"), Phases(), depth)
        thread.start()
        await thread.opened()
        counts = [await made()]
        await thread.frame()
        counts.append(await made())  # taken is not yet written
        thread.written()
        counts.append(await made())
        thread.cancel()
        await thread.join()
        return counts

    assert asyncio.run(take_one_at_a_time()) == [depth + 1, depth + 1, depth + 2]


def test_clients_do_not_wait_for_each_other(server, engine):
    meet = threading.Barrier(3, timeout=10)
    engine.at_frame = lambda number: number == 1 and meet.wait()
    with ThreadPoolExecutor(3) as pool:
        tables = list(pool.map(lambda _: server.client().do_get(ticket()).read_all(), range(3)))
    assert [table.num_rows for table in tables] == [300, 300, 300]


def test_one_client_may_run_several_scans(server):
    client = server.client()
    readers = [client.do_get(ticket()) for _ in range(3)]
    assert [reader.read_all().num_rows for reader in readers] == [300] * 3


def test_frames_arrive_as_they_were_made(server, engine):
    engine.frame = frame_of(5, value_bytes=3)
    table = server.client().do_get(ticket()).read_all()
    assert table.column("k").to_pylist() == list(range(5)) * 3
    assert set(table.column("v").to_pylist()) == {bytes(3)}


def test_a_frame_over_four_mebibytes_goes_out(server, engine):
    engine.frame = frame_of(1, value_bytes=8 << 20)
    engine.frames = 1
    assert len(server.client().do_get(ticket()).read_all().column("v")[0].as_py()) == 8 << 20


def test_every_scan_has_its_thread_and_they_all_end(server, engine):
    client = server.client()
    for _ in range(20):
        client.do_get(ticket()).read_all()
    assert len({scan.thread for scan in engine.scans}) == 20
    assert not any(scan.thread.is_alive() for scan in engine.scans)
    assert all(scan.closed.is_set() and not scan.cancelled.is_set() for scan in engine.scans)


def test_two_servers_live_in_one_process(server):
    with running(FakeEngine(frames=1)) as other:
        assert other.client().do_get(ticket()).read_all().num_rows == 100
        assert server.client().do_get(ticket()).read_all().num_rows == 300


def test_an_empty_batch_is_a_batch(server, engine):
    engine.frame = frame_of(0)
    assert server.client().do_get(ticket()).read_all() == pa.table(
        {"k": pa.array([], pa.int64()), "v": pa.array([], pa.binary())}
    )


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_stages_of_a_scan_end_before_it_is_closed(server, engine, cancelled):
    order = []

    class Scan(FakeScan):
        def frames(self):
            try:
                yield from super().frames()
            finally:
                order.append("stages")

        def close(self):
            order.append("scan")

    engine.open_scan = lambda _request: Scan(engine.frame, None if cancelled else 3, lambda _number: None)
    reader = server.client().do_get(ticket())
    reader.read_chunk()
    reader.cancel() if cancelled else reader.read_all()
    eventually(lambda: order == ["stages", "scan"])
