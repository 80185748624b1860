"""Telemetry as its readers see it: Prometheus text and an OTLP collector."""

import re

import pytest

from flightsrv.telemetry.clocks import ScanClocks
from flightsrv.telemetry.meters import METHODS, PHASES
from flightsrv.telemetry.options import TelemetryOptions
from flightsrv.telemetry.phases import Phases
from flightsrv.telemetry.setup import Telemetry
from flightsrv.telemetry.traces import RpcSpan
from tests.telemetry.collector import Collector

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def telemetry():
    started = Telemetry(TelemetryOptions())
    yield started
    started.shutdown()


def samples(telemetry, name):
    """Every sample of the Prometheus metric `name`: its labels but for the scope's, and its value."""
    found = {}
    for line in telemetry.metrics_text().decode().splitlines():
        if match := re.fullmatch(rf"{name}(?:{{(.*)}})? (\S+)", line):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', match[1] or ""))
            key = tuple(sorted((k, v) for k, v in labels.items() if not k.startswith("otel_scope") and v))
            found[key] = float(match[2])
    return found


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("cqlite_rpc_requests_total", 2 * len(METHODS)),
        ("cqlite_rpc_in_flight", len(METHODS)),
        ("cqlite_rpc_rows_total", 1),
        ("cqlite_rpc_bytes_total", 1),
        ("cqlite_rpc_phase_active", len(PHASES)),
        ("cqlite_errors_total", 11),
        ("cqlite_flight_admission_rejected_total", 1),
        ("flightsrv_stage_time_seconds_total", 18),
    ],
)
def test_counters_and_gauges_are_there_at_zero_from_the_start(telemetry, name, count):
    assert list(samples(telemetry, name).values()) == [0.0] * count


@pytest.mark.parametrize("name", ["cqlite_proc_threads", "cqlite_proc_fds", "cqlite_proc_rss_bytes"])
def test_the_process_is_watched(telemetry, name):
    (value,) = samples(telemetry, name).values()
    assert value > 0


def test_a_gauge_asks_at_each_collection(telemetry):
    answers = iter([1, None, 3])
    telemetry.meters.gauge("cqlite.flight.admission.in_use", "1", "Scans that run.", lambda: next(answers))
    seen = [list(samples(telemetry, "cqlite_flight_admission_in_use").values()) for _ in range(3)]
    assert seen == [[1.0], [], [3.0]]


def test_an_rpc_is_counted_and_each_of_its_phases_sampled_once(telemetry):
    telemetry.meters.rpc_done("do_get", "error", 0.2, {"validate": 0.0004, "stream": 0.15})
    requests = samples(telemetry, "cqlite_rpc_requests_total")
    assert requests[(("cqlite_rpc_method", "do_get"), ("cqlite_rpc_status", "error"))] == 1
    counts = samples(telemetry, "cqlite_rpc_phase_duration_seconds_count")
    assert {dict(labels)["cqlite_rpc_phase"]: count for labels, count in counts.items()} == {"validate": 1, "stream": 1}


def test_bucket_boundaries_tell_a_millisecond_from_ten_and_a_minute_from_ten(telemetry):
    telemetry.meters.rpc_done("do_get", "ok", 1.0, {})
    bounds = [float(dict(labels)["le"]) for labels in samples(telemetry, "cqlite_rpc_duration_seconds_bucket")]
    assert {0.001, 0.01, 1.0, 60.0, 600.0} <= set(bounds)


def test_a_wait_for_admission_is_sampled(telemetry):
    telemetry.meters.admission_waited(0.5)
    assert list(samples(telemetry, "cqlite_flight_admission_wait_seconds_count").values()) == [1]


class Rpc:
    method = "do_get"

    def __init__(self):
        self.phases = Phases()


def test_live_rpcs_are_gauged_with_the_phase_they_are_in(telemetry):
    rpc = Rpc()
    telemetry.meters.live.add(rpc)
    rpc.phases.enter("stream")
    active = samples(telemetry, "cqlite_rpc_phase_active")
    assert {dict(labels)["cqlite_rpc_phase"]: n for labels, n in active.items() if n} == {"stream": 1}
    telemetry.meters.live.discard(rpc)
    assert set(samples(telemetry, "cqlite_rpc_in_flight").values()) == {0.0}


def test_stage_time_grows_by_what_the_clocks_gained(telemetry):
    clocks = ScanClocks()
    clock = clocks.stage("decode")
    progress = telemetry.meters.stages(clocks)
    for _ in range(2):
        clock.add_busy(1_500_000_000)
        progress.flush()
    progress.flush()
    grown = samples(telemetry, "flightsrv_stage_time_seconds_total")
    assert grown[(("flightsrv_stage", "decode"), ("flightsrv_state", "busy"))] == 3.0


def test_two_servers_in_one_process_keep_their_numbers_apart(telemetry):
    other = Telemetry(TelemetryOptions())
    other.meters.rows.add(5, "do_get")
    assert list(samples(telemetry, "cqlite_rpc_rows_total").values()) == [0.0]
    other.shutdown()


@pytest.fixture
def collector():
    running = Collector()
    yield running
    running.stop()


def test_a_collector_gets_the_metrics_and_the_spans(collector):
    telemetry = Telemetry(TelemetryOptions(push_metrics=True, push_traces=True, endpoint=collector.endpoint))
    telemetry.meters.rpc_done("do_get", "ok", 0.1, {"stream": 0.1})
    span = RpcSpan(telemetry.tracer, "do_get", [("traceparent", TRACEPARENT), ("blob-bin", b"\xff")])
    span.of_table("ks", "t")
    span.end("INTERNAL", rows=7)
    telemetry.shutdown()
    assert collector.points["cqlite.rpc.requests"] == ("sum", "1")
    assert collector.points["cqlite.rpc.phase.duration"] == ("histogram", "s")
    assert collector.points["cqlite.rpc.in_flight"] == ("gauge", "1")
    (got,) = collector.spans
    assert got.name == "flight.rpc"
    assert got.trace_id.hex() in TRACEPARENT
    assert got.parent_span_id.hex() in TRACEPARENT
    assert {a.key: a.value.string_value for a in got.attributes}["db.namespace"] == "ks"
    assert got.status.code == got.status.STATUS_CODE_ERROR


@pytest.mark.parametrize("status", ["OK", "NOT_FOUND", "INVALID_ARGUMENT", "CANCELLED"])
def test_what_is_not_the_servers_fault_is_no_error_of_its_span(collector, status):
    telemetry = Telemetry(TelemetryOptions(push_traces=True, endpoint=collector.endpoint))
    RpcSpan(telemetry.tracer, "do_get", []).end(status)
    telemetry.shutdown()
    assert collector.spans[0].status.code == 0


def test_the_service_has_a_name_that_can_be_chosen(monkeypatch):
    def name(options):
        telemetry = Telemetry(options)
        text = telemetry.metrics_text().decode()
        telemetry.shutdown()
        return re.search(r'service_name="([^"]*)"', text)[1]

    assert name(TelemetryOptions()) == "flightsrv"
    assert name(TelemetryOptions(service_name="mine")) == "mine"
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=theirs")
    assert name(TelemetryOptions()) == "theirs"
