"""The tools that operators use, and a server under traffic to use them on."""

import contextlib
import os
import shutil
import threading

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from flightsrv.scan.engine import Engine
from tests.reference.fixtures import COPIED
from tests.server.running import eventually, running, settings, ticket

NODE = COPIED / "cassandra-5.0/nb/node"


@pytest.fixture(scope="session")
def tool():
    """The path of a program by its name. Where it is missing the test is skipped, but in CI it fails."""

    def find(name, package):
        path = shutil.which(name)
        if path is None:
            missing = f"{name} is not on the PATH: apt-get install {package}"
            pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
        return path

    return find


def use(client):
    """What clients do, well and badly."""
    client.do_get(ticket("layout", "indexed")).read_all()
    client.get_schema(flight.FlightDescriptor.for_path("layout", "indexed"))
    for wrong in (ticket("layout", "nowhere"), ticket("layout", "indexed", columns=[])):
        with contextlib.suppress(pa.ArrowKeyError, pa.ArrowInvalid):
            client.do_get(wrong).read_all()


@pytest.fixture(scope="package")
def busy_server():
    """A server on a node's tables that three clients keep busy, though only one scan may run at a time."""
    chosen = {"data": (NODE / "data",), "max_concurrent_scans": 1}
    engine = Engine(settings(**chosen))
    engine.tables()  # compiles what is not compiled yet, which takes longer than a server may take to start
    stop = threading.Event()

    def keep_using(client):
        while not stop.is_set():
            use(client)
            stop.wait(0.05)

    with running(engine, **chosen) as server:
        users = [threading.Thread(target=keep_using, args=(server.client(),)) for _ in range(3)]
        for user in users:
            user.start()
        try:
            eventually(lambda: server.samples("cqlite_flight_admission_wait_seconds_count"), within_s=60)
            yield server
        finally:
            stop.set()
            for user in users:
                user.join()
    engine.close()
