"""Telemetry of one server: where numbers and spans are collected, and where they go.

Metrics always go into a Prometheus registry of the server's own; over OTLP, metrics and spans go where
TelemetryOptions say. No global provider is set: two servers in one process do not meet.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import NoOpTracer
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from flightsrv.telemetry.meters import Meters
from flightsrv.telemetry.options import TelemetryOptions

SCOPE = "cqlite"
PROMETHEUS_CONTENT_TYPE = CONTENT_TYPE_LATEST

_FLUSH_MS = 1_000


class Telemetry:
    """Meters and tracer of one server, from its start to its shutdown."""

    def __init__(self, options: TelemetryOptions) -> None:
        resource = _resource(options)
        self._registry = CollectorRegistry()
        readers: list[MetricReader] = [PrometheusMetricReader(registry=self._registry)]
        if options.push_metrics:
            readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=options.endpoint)))
        self._meter_provider = MeterProvider(readers, resource, shutdown_on_exit=False)
        self._tracer_provider = _tracer_provider(options, resource) if options.push_traces else None
        self.meters = Meters(self._meter_provider.get_meter(SCOPE))
        self.tracer = self._tracer_provider.get_tracer(SCOPE) if self._tracer_provider else NoOpTracer()

    def metrics_text(self) -> bytes:
        """All metrics as Prometheus text."""
        return generate_latest(self._registry)

    def shutdown(self) -> None:
        """Push what is not yet pushed and stop. Takes seconds when a collector does not answer."""
        if self._tracer_provider:
            self._tracer_provider.force_flush(_FLUSH_MS)
            self._tracer_provider.shutdown()
        self._meter_provider.shutdown(_FLUSH_MS)


def _tracer_provider(options: TelemetryOptions, resource: Resource) -> TracerProvider:
    ratio = options.sampling_ratio
    sampler = None if ratio is None else ParentBased(TraceIdRatioBased(ratio))
    provider = TracerProvider(sampler, resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=options.endpoint)))
    return provider


def _resource(options: TelemetryOptions) -> Resource:
    """What OTEL_RESOURCE_ATTRIBUTES say, with our name and version where they say nothing."""
    resource = Resource.create({SERVICE_VERSION: _version()})
    named = options.service_name
    if named is None and str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        named = "flightsrv"
    return resource.merge(Resource({SERVICE_NAME: named})) if named else resource


def _version() -> str:
    try:
        return version("flightsrv")
    except PackageNotFoundError:
        return "unknown"
