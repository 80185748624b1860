"""Where telemetry goes, as the environment asks for it.

Prometheus text is always served. OTLP is pushed only when OpenTelemetry's own variables or cqlite-flight's ask for it:

    OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    OTEL_METRICS_EXPORTER=otlp, OTEL_TRACES_EXPORTER=otlp      "none" switches the signal off, whatever else is set
    OTEL_SDK_DISABLED=true                                      switches both off
    CQLITE_OTEL_ENABLED=true, CQLITE_OTEL_ENDPOINT, CQLITE_OTEL_SERVICE_NAME, CQLITE_OTEL_SAMPLING_RATIO

All other OTEL_* variables (headers, timeout, interval, sampler, resource attributes) are read by the SDK itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_OTLP_ENDPOINT = "http://localhost:4317"


@dataclass(frozen=True, slots=True)
class TelemetryOptions:
    """What to push where; the defaults push nothing."""

    push_metrics: bool = False
    push_traces: bool = False
    endpoint: str | None = None
    """OTLP over gRPC; None: as OTEL_EXPORTER_OTLP_* say."""
    service_name: str | None = None
    """None: OTEL_SERVICE_NAME, or "flightsrv"."""
    sampling_ratio: float | None = None
    """Share of traces to keep when the client did not decide; None: as OTEL_TRACES_SAMPLER says."""


def from_environment(environ: Mapping[str, str]) -> TelemetryOptions:
    """Read the variables above. Raises ValueError, naming the variable, when one cannot be honoured."""
    enabled = _is_true(environ.get("CQLITE_OTEL_ENABLED", ""))
    return TelemetryOptions(
        push_metrics=_wants("METRICS", environ, enabled),
        push_traces=_wants("TRACES", environ, enabled),
        endpoint=_endpoint(environ, enabled),
        service_name=environ.get("OTEL_SERVICE_NAME") or environ.get("CQLITE_OTEL_SERVICE_NAME"),
        sampling_ratio=_ratio(environ.get("CQLITE_OTEL_SAMPLING_RATIO")) if enabled else None,
    )


def _wants(signal: str, environ: Mapping[str, str], enabled: bool) -> bool:
    """Whether `signal`, METRICS or TRACES, is to be pushed over OTLP."""
    exporters = {name.strip() for name in environ.get(f"OTEL_{signal}_EXPORTER", "").split(",")} - {""}
    if _is_true(environ.get("OTEL_SDK_DISABLED", "")) or (exporters and "otlp" not in exporters):
        return False
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    asked = bool(exporters) or enabled or any(environ.get(name) for name in endpoints)
    protocols = ("CQLITE_OTEL_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL", f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL")
    for name in protocols:
        if asked and environ.get(name, "grpc") != "grpc":
            raise ValueError(f"{name}: only grpc is supported, not {environ[name]!r}")
    return asked


def _endpoint(environ: Mapping[str, str], enabled: bool) -> str | None:
    """cqlite-flight's endpoint when its variables are in charge; OpenTelemetry's own win, and the SDK reads them."""
    if not enabled or any(name.startswith("OTEL_EXPORTER_OTLP_") and name.endswith("ENDPOINT") for name in environ):
        return None
    return environ.get("CQLITE_OTEL_ENDPOINT") or DEFAULT_OTLP_ENDPOINT


def _ratio(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f"CQLITE_OTEL_SAMPLING_RATIO: {text!r} is not a number from 0 to 1")
    return ratio


def _is_true(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")
