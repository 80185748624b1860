"""An OTLP collector in the test's own process."""

from concurrent import futures

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


class Collector:
    """Keeps what it is sent: of metrics their kind and unit by name, and spans."""

    def __init__(self):
        self.points = {}
        self.spans = []
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(self), self._server)
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(self), self._server)
        self.endpoint = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self, collector):
        self.collector = collector

    def Export(self, request, context):  # noqa: ARG002, N802
        for metric in request.resource_metrics[0].scope_metrics[0].metrics:
            self.collector.points[metric.name] = (metric.WhichOneof("data"), metric.unit)
        return metrics_service_pb2.ExportMetricsServiceResponse()


class Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, collector):
        self.collector = collector

    def Export(self, request, context):  # noqa: ARG002, N802
        self.collector.spans.extend(request.resource_spans[0].scope_spans[0].spans)
        return trace_service_pb2.ExportTraceServiceResponse()
