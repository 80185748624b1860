import pytest

from flightsrv.telemetry.options import TelemetryOptions, from_environment


def pushes(environ):
    options = from_environment(environ)
    return options.push_metrics, options.push_traces


def test_nothing_is_pushed_unless_asked():
    assert from_environment({}) == TelemetryOptions()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}, (True, True)),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c:4317"}, (True, False)),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, (False, True)),
        ({"OTEL_METRICS_EXPORTER": "prometheus"}, (False, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_TRACES_EXPORTER": "none"}, (True, False)),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_SDK_DISABLED": "true"}, (False, False)),
        ({"CQLITE_OTEL_ENABLED": "true"}, (True, True)),
        ({"CQLITE_OTEL_ENDPOINT": "http://c:4317"}, (False, False)),
    ],
)
def test_a_signal_is_pushed_when_a_variable_asks(environ, expected):
    assert pushes(environ) == expected


def test_cqlite_flights_variables_give_endpoint_name_and_ratio():
    peer = {"CQLITE_OTEL_ENABLED": "1", "CQLITE_OTEL_ENDPOINT": "http://c:1", "CQLITE_OTEL_SERVICE_NAME": "s"}
    options = from_environment({**peer, "CQLITE_OTEL_SAMPLING_RATIO": "0.25"})
    assert (options.endpoint, options.service_name, options.sampling_ratio) == ("http://c:1", "s", 0.25)
    assert from_environment({**peer, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d:1"}).endpoint is None
    assert from_environment({**peer, "OTEL_SERVICE_NAME": "o"}).service_name == "o"


@pytest.mark.parametrize("ratio", ["2", "-1", "some"])
def test_a_ratio_out_of_range_is_refused(ratio):
    with pytest.raises(ValueError, match="CQLITE_OTEL_SAMPLING_RATIO"):
        from_environment({"CQLITE_OTEL_ENABLED": "1", "CQLITE_OTEL_SAMPLING_RATIO": ratio})


def test_a_protocol_we_cannot_speak_is_refused():
    with pytest.raises(ValueError, match="OTEL_EXPORTER_OTLP_PROTOCOL: only grpc"):
        from_environment({"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"})
