"""What metrics say of RPCs, on the ops port."""

import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from flightsrv.errors import NotServedError
from flightsrv.telemetry.options import TelemetryOptions
from tests.server.fake_engine import FakeEngine
from tests.server.running import eventually, running, ticket
from tests.telemetry.collector import Collector

PHASES = "cqlite_rpc_phase_duration_seconds_count"
WHOLE = ("validate", "admission", "resolve", "merge_setup", "stream")
SUB = ("cold_fault", "decompress", "decode", "merge", "encode", "grpc_write")


def phases(server):
    """Samples of each phase of do_get."""
    return {name.removeprefix("do_get "): count for name, count in server.samples(PHASES).items()}


def test_a_scan_gives_one_sample_of_each_phase_and_sub_phase(server):
    server.client().do_get(ticket()).read_all()
    assert phases(server) == dict.fromkeys([*WHOLE, *(f"stream_{name}" for name in SUB)], 1)


def test_rows_and_bytes_are_counted_and_the_rpc_too(server, engine):
    for _ in range(2):
        server.client().do_get(ticket()).read_all()
    assert server.samples("cqlite_rpc_rows_total") == {"do_get": 600}
    assert server.samples("cqlite_rpc_bytes_total") == {"do_get": 6 * engine.frame.arrow_bytes}
    assert server.samples("cqlite_rpc_requests_total") == {"do_get ok": 2}
    assert server.samples("cqlite_rpc_duration_seconds_count") == {"do_get ok": 2}
    assert server.samples("cqlite_errors_total") == {}


def test_a_bad_ticket_gives_the_phase_validate_alone(server):
    with pytest.raises(pa.ArrowInvalid):
        server.client().do_get(ticket(columns=[]))
    assert phases(server) == {"validate": 1}
    assert server.samples("cqlite_rpc_requests_total") == {"do_get error": 1}
    assert server.samples("cqlite_errors_total") == {"query ticket_invalid flight": 1}


@pytest.mark.parametrize(
    ("place", "entered"), [("at_schema", WHOLE[:3]), ("at_open", WHOLE[:4]), ("at_frame", WHOLE[:5])]
)
def test_an_error_gives_one_sample_of_each_phase_up_to_it(server, engine, place, entered):
    def fail(_argument):
        raise NotServedError("gone")

    setattr(engine, place, fail)
    with pytest.raises(pa.ArrowKeyError):
        server.client().do_get(ticket()).read_all()
    assert {phase: count for phase, count in phases(server).items() if phase in WHOLE} == dict.fromkeys(entered, 1)


def test_a_cancelled_scan_gives_its_phases_and_a_reason(server, engine):
    engine.frames = None
    reader = server.client().do_get(ticket())
    reader.read_chunk()
    assert server.samples("cqlite_rpc_phase_active") == {"do_get stream": 1}
    assert server.samples("cqlite_flight_blocking_tasks_in_use") == {"": 1}
    reader.cancel()
    eventually(lambda: server.samples("cqlite_errors_total") == {"cancelled client_cancel flight": 1})
    assert {phase: count for phase, count in phases(server).items() if phase in WHOLE} == dict.fromkeys(WHOLE, 1)
    assert server.samples("cqlite_rpc_phase_active") == {}
    assert server.samples("cqlite_rpc_in_flight") == {}
    assert server.samples("cqlite_flight_blocking_tasks_in_use") == {}


def test_the_stages_of_a_scan_are_counted_also_while_it_runs(server, engine):
    engine.frames = None
    engine.at_frame = lambda _number: time.sleep(0.01)
    reader = server.client().do_get(ticket())
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        reader.read_chunk()
    grown = server.samples("flightsrv_stage_time_seconds_total")
    assert grown["decode busy"] > 0
    assert grown["write starved"] > 0.5
    reader.cancel()


def test_there_are_as_many_tables_and_sstables_as_were_listed(server):
    assert server.samples("cqlite_flight_tables_discovered") == {"": 2}
    assert server.samples("flightsrv_sstables") == {"": 2}


def test_every_metric_has_a_text_that_says_what_it_is(server):
    server.client().do_get(ticket()).read_all()
    text = server.get("/metrics")[1]
    named = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    helped = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP") and len(line.split()) > 3}
    assert named == helped


@pytest.mark.parametrize(
    "name",
    [
        "cqlite_rpc_requests_total", "cqlite_rpc_duration_seconds", "cqlite_rpc_in_flight", "cqlite_rpc_rows_total",
        "cqlite_rpc_bytes_total", "cqlite_rpc_phase_duration_seconds", "cqlite_rpc_phase_active",
        "cqlite_flight_admission_limit", "cqlite_flight_admission_in_use", "cqlite_flight_admission_waiting",
        "cqlite_flight_admission_rejected_total", "cqlite_flight_blocking_tasks_in_use",
        "cqlite_flight_tables_discovered", "cqlite_errors_total", "cqlite_proc_threads", "cqlite_proc_fds",
        "cqlite_proc_rss_bytes",
    ],
)  # fmt: skip
def test_metrics_have_the_names_that_dashboards_of_cqlite_flight_ask_for(server, name):
    server.client().do_get(ticket()).read_all()
    assert f"\n# TYPE {name} " in server.get("/metrics")[1]


def test_a_trace_goes_on_through_the_server_to_the_collector():
    trace_id, parent_id = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    traced = flight.FlightCallOptions(headers=[(b"traceparent", f"00-{trace_id}-{parent_id}-01".encode())])
    collector = Collector()
    options = TelemetryOptions(push_metrics=True, push_traces=True, endpoint=collector.endpoint)
    with running(FakeEngine(), telemetry=options) as server:
        server.client().do_get(ticket(), traced).read_all()
    collector.stop()
    (span,) = collector.spans
    assert (span.name, span.trace_id.hex(), span.parent_span_id.hex()) == ("flight.rpc", trace_id, parent_id)
    said = {attribute.key: attribute.value for attribute in span.attributes}
    assert (said["db.namespace"].string_value, said["db.collection.name"].string_value) == ("ks", "t")
    assert (said["rpc.status_code"].string_value, said["cqlite.rpc.rows"].int_value) == ("OK", 300)
    assert collector.points["cqlite.rpc.phase.duration"] == ("histogram", "s")
