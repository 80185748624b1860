"""Turns: how many, in which order, and what those get who wait too long."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow.flight as flight
import pytest

from flightsrv.server.admission import Admission, AdmissionError
from flightsrv.telemetry.options import TelemetryOptions
from flightsrv.telemetry.setup import Telemetry
from tests.server.running import eventually, running, ticket


@pytest.fixture
def meters():
    telemetry = Telemetry(TelemetryOptions())
    yield telemetry.meters
    telemetry.shutdown()


def in_loop(scenario, meters, limit=1, wait_s=5.0):
    """Run `scenario(admission)` and return what it returns."""

    async def run():
        return await scenario(Admission(limit, wait_s, meters))

    return asyncio.run(run())


async def hold(admission, until, order=None, name=None):
    async with admission.turn():
        if order is not None:
            order.append(name)
        await until.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def test_turns_are_given_in_the_order_of_arrival(meters):
    async def scenario(admission):
        order, done = [], asyncio.Event()
        tasks = []
        for name in "abcd":
            tasks.append(asyncio.create_task(hold(admission, done, order, name)))
            await settle()
        assert (admission.in_use, admission.waiting, order) == (1, 3, ["a"])
        done.set()
        await asyncio.gather(*tasks)
        assert (admission.in_use, admission.waiting) == (0, 0)
        return order

    assert in_loop(scenario, meters) == ["a", "b", "c", "d"]


def test_no_more_run_than_the_limit(meters):
    async def scenario(admission):
        done = asyncio.Event()
        tasks = [asyncio.create_task(hold(admission, done)) for _ in range(10)]
        await settle()
        seen = (admission.in_use, admission.waiting)
        done.set()
        await asyncio.gather(*tasks)
        return seen

    assert in_loop(scenario, meters, limit=3) == (3, 7)


def test_who_waits_too_long_is_refused_and_leaves_the_queue(meters):
    async def scenario(admission):
        done = asyncio.Event()
        first = asyncio.create_task(hold(admission, done))
        await settle()
        with pytest.raises(AdmissionError, match="1 scans are running"):
            await hold(admission, done)
        assert admission.waiting == 0
        done.set()
        await first
        return admission.in_use

    assert in_loop(scenario, meters, wait_s=0.02) == 0


@pytest.mark.parametrize("given", [False, True])
def test_a_cancelled_waiter_loses_no_turn(meters, given):
    async def scenario(admission):
        done = asyncio.Event()
        first = asyncio.create_task(hold(admission, done))
        await settle()
        waiter = asyncio.create_task(hold(admission, done))
        await settle()
        if given:  # the turn is passed to the waiter, who is cancelled before he runs
            done.set()
            await first
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        done.set()
        await first
        async with asyncio.timeout(1), admission.turn():
            return admission.in_use, admission.waiting

    assert in_loop(scenario, meters) == (1, 0)


def test_a_closed_admission_refuses_those_who_wait_and_those_who_come(meters):
    async def scenario(admission):
        done = asyncio.Event()
        first = asyncio.create_task(hold(admission, done))
        await settle()
        waiter = asyncio.create_task(hold(admission, done))
        await settle()
        admission.close()
        with pytest.raises(AdmissionError, match="shutting down"):
            await waiter
        with pytest.raises(AdmissionError, match="shutting down"):
            await hold(admission, done)
        done.set()
        await first
        return admission.in_use

    assert in_loop(scenario, meters) == 0


@pytest.fixture
def held(engine):
    """Scans of `engine` stand still before their first frame until the event is set."""
    go_on = threading.Event()
    engine.at_frame = lambda _number: go_on.wait(10)
    yield go_on
    go_on.set()


def test_a_full_server_says_unavailable_before_any_message(engine, held):
    with running(engine, max_concurrent_scans=1, admission_wait_s=0.05) as server, ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: server.client().do_get(ticket()).read_all())
        eventually(lambda: engine.scans)
        with pytest.raises(flight.FlightUnavailableError, match="1 scans are running"):
            server.client().do_get(ticket())
        assert server.samples("cqlite_flight_admission_rejected_total") == {"": 1}
        assert server.samples("cqlite_flight_admission_in_use") == {"": 1}
        assert server.samples("cqlite_flight_admission_limit") == {"": 1}
        assert server.samples("cqlite_flight_admission_wait_seconds_count") == {"": 1}
        assert server.samples("cqlite_errors_total") == {"cancelled admission_shed flight": 1}
        assert server.samples("cqlite_rpc_phase_duration_seconds_count") == {
            "do_get validate": 1,
            "do_get admission": 1,
        }
        held.set()
        assert first.result().num_rows == 300


def test_a_scan_that_waits_goes_on_when_its_turn_comes(engine, held):
    with running(engine, max_concurrent_scans=1) as server, ThreadPoolExecutor(2) as pool:
        scans = [pool.submit(lambda: server.client().do_get(ticket()).read_all()) for _ in range(2)]
        eventually(lambda: server.samples("cqlite_flight_admission_waiting") == {"": 1})
        assert len(engine.scans) == 1
        held.set()
        assert [scan.result().num_rows for scan in scans] == [300, 300]


def test_other_methods_need_no_turn(engine, held):
    with running(engine, max_concurrent_scans=1) as server, ThreadPoolExecutor(1) as pool:
        first = pool.submit(lambda: server.client().do_get(ticket()).read_all())
        eventually(lambda: engine.scans)
        assert len(list(server.client().list_flights())) == 2
        held.set()
        first.result()
