"""What the client says of servers, tables and scans."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import flight

from flightsrv.client import ServerError, connect
from flightsrv.errors import RequestError
from flightsrv.telemetry.clocks import STAGES
from tests.cli.commands import Served
from tests.cli.tables import NAMES, NOW_S, ServedTables


@pytest.mark.parametrize("url", ["grpc://127.0.0.1:8815", "grpc+tls://cassandra-1.local:8815", "grpc://[::1]:8815/"])
def test_urls_of_servers_are_taken(url: str) -> None:
    connect(url).close()


@pytest.mark.parametrize("url", ["", "127.0.0.1:8815", "http://host:8815", "grpc://host", "grpc://:8815", "grpc://h:x"])
def test_others_are_refused(url: str) -> None:
    with pytest.raises(RequestError, match="is not the URL of a server"):
        connect(url)


def test_tables_are_listed_by_name_with_what_they_hold(served: Served, tables: ServedTables) -> None:
    with connect(served.url) as connection:
        listed = connection.tables()
    assert [table.name for table in listed] == sorted(NAMES)
    ranges = listed[0]
    assert (ranges.sstables, ranges.partitions, ranges.rows, ranges.problem) == (4, 83, 1078, None)
    assert ranges.bytes_on_disk > 1000
    assert ranges.schema.names == ["pk", "c1", "c2", "c3", "v"]
    assert ranges.schema.equals(tables.rows(NAMES[0]).schema)


def test_a_stream_counts_as_it_goes_and_ends_with_the_stages_times(served: Served, tables: ServedTables) -> None:
    keyspace, table = NAMES[0].split(".")
    with connect(served.url) as connection:
        stream = connection.scan(keyspace, table, now_s=NOW_S)
        assert (stream.rows, stream.first_batch_s, stream.report) == (0, None, None)
        batches = list(stream)
    expected = tables.rows(NAMES[0])
    assert pa.Table.from_batches(batches).to_pydict() == expected.to_pydict()
    assert stream.rows == expected.num_rows
    assert stream.total_rows == 1078
    assert stream.arrow_bytes == sum(batch.nbytes for batch in batches)
    assert stream.first_batch_s is not None
    assert 0 < stream.first_batch_s <= stream.seconds
    assert stream.report is not None
    assert tuple(each.stage for each in stream.report.stages) == STAGES
    assert stream.report.bottleneck in STAGES
    assert all(each.lanes and each.life_s > 0 for each in stream.report.stages)


def test_the_stages_times_are_those_of_the_scan_that_just_ended(served: Served) -> None:
    with connect(served.url) as connection:
        first, second = connection.scan("warm", "kinds"), connection.scan("warm", "uncompressed")
        list(first)
        list(second)
    assert first.report is not None
    assert second.report is not None
    assert first.report != second.report


def test_a_server_that_tells_no_stages_is_fine() -> None:
    class Plain(flight.FlightServerBase):
        def get_flight_info(self, _context: object, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
            return flight.FlightInfo(pa.schema([("a", pa.int64())]), descriptor, [], -1, -1)

        def do_get(self, _context: object, _ticket: flight.Ticket) -> flight.RecordBatchStream:
            return flight.RecordBatchStream(pa.table({"a": [1, 2]}))

    with Plain("grpc://127.0.0.1:0") as server, connect(f"grpc://127.0.0.1:{server.port}") as connection:
        stream = connection.scan("ks", "t")
        assert [batch.to_pydict() for batch in stream] == [{"a": [1, 2]}]
    assert stream.report is None
    assert stream.total_rows is None


def test_columns_limit_and_token_range_are_asked_for(served: Served, tables: ServedTables) -> None:
    keyspace, table = NAMES[0].split(".")
    with connect(served.url) as connection:
        stream = connection.scan(keyspace, table, columns=["v"], limit=5, token_range=(None, 0), now_s=NOW_S)
        rows = pa.Table.from_batches(stream)
    assert rows.to_pydict() == tables.rows(NAMES[0], columns=("v",), limit=5, token_end=0).to_pydict()


@pytest.mark.parametrize(
    ("table", "what"),
    [("nowhere", "table warm.nowhere is not served here"), ("no-name", "invalid flight ticket field: table may hold")],
)
def test_errors_are_the_servers_own_words(served: Served, table: str, what: str) -> None:
    with connect(served.url) as connection, pytest.raises(ServerError, match=rf"^{what}[^.]*$"):
        connection.scan("warm", table)


def test_a_server_that_is_not_there_is_told_with_its_url() -> None:
    with connect("grpc://127.0.0.1:1") as connection, pytest.raises(ServerError, match=r"^grpc://127\.0\.0\.1:1 can"):
        connection.tables()


def test_a_web_proxy_is_not_asked_for_a_server(served: Served) -> None:
    code = f"from flightsrv.client import connect; print(len(connect({served.url!r}).tables()))"
    environ = {**os.environ, "http_proxy": "http://127.0.0.1:1", "no_proxy": "", "grpc_proxy": "http://127.0.0.1:1"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (f"{len(NAMES)}\n", 0)


def test_the_client_needs_neither_the_engine_nor_the_server() -> None:
    heavy = ("numba", "llvmlite", "grpc", "aiohttp", "opentelemetry", "flightsrv.server", "flightsrv.scan")
    code = f"import sys, flightsrv.client.fetch; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
