"""Spans: one, flight.rpc, for each RPC, a child of what the client's traceparent names.

Attributes: rpc.system.name and rpc.method, and of a scan db.namespace (the keyspace) and db.collection.name (the
table). As OpenTelemetry has it for servers, only the server's own faults make a span an error; a bad ticket or a
cancel does not.
"""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_SERVER_FAULTS = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})

_propagator = TraceContextTextMapPropagator()


class RpcSpan:
    """The span of one RPC."""

    def __init__(self, tracer: Tracer, method: str, metadata: Iterable[tuple[str, str | bytes]]) -> None:
        """`metadata`: the RPC's headers, of which traceparent and tracestate are used."""
        headers = {key: value for key, value in metadata if isinstance(value, str)}
        self._span: Span = tracer.start_span(
            "flight.rpc",
            context=_propagator.extract(headers),
            kind=SpanKind.SERVER,
            attributes={"rpc.system.name": "grpc", "rpc.method": method},
        )

    def of_table(self, keyspace: str, table: str) -> None:
        self._span.set_attributes({"db.namespace": keyspace, "db.collection.name": table})

    def end(self, status: str, rows: int | None = None) -> None:
        """`status`: the name of the gRPC status the RPC ended with."""
        self._span.set_attribute("rpc.status_code", status)
        if rows is not None:
            self._span.set_attribute("cqlite.rpc.rows", rows)
        if status in _SERVER_FAULTS:
            self._span.set_attribute("error.type", status)
            self._span.set_status(StatusCode.ERROR)
        self._span.end()
