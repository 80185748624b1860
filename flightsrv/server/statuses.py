"""Errors to gRPC statuses, and to what metrics and the log say of them.

The texts of our own errors are made to be read by clients: they hold no folder and no traceback. Of any other
exception a client sees an id only, which the log has too.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import grpc

from flightsrv.errors import (
    CorruptSSTableError,
    FlightsrvError,
    LimitError,
    NotServedError,
    RequestError,
    ScanCancelledError,
    SchemaError,
    SSTableError,
    UnrepresentableError,
    UnsupportedRequestError,
    ValueFormError,
)
from flightsrv.scan.request import ScanRequest
from flightsrv.server.admission import AdmissionError

MAX_MESSAGE_CHARS = 2_000
"""A status travels in HTTP/2 headers, of which a client takes 8 KiB by default."""


class ClientGoneError(FlightsrvError):
    """The client cancelled, its deadline passed, or its connection broke."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How an RPC failed."""

    code: grpc.StatusCode
    message: str
    category: str
    """cqlite.error.category."""
    reason: str
    """cqlite.flight.abort_reason."""
    unexpected: bool = False
    """A fault of this program, to be logged with its traceback."""


GONE = Failure(grpc.StatusCode.CANCELLED, "the client is gone", "cancelled", "client_cancel")

_FAILURES: tuple[tuple[type[FlightsrvError], grpc.StatusCode, str, str], ...] = (
    (AdmissionError, grpc.StatusCode.UNAVAILABLE, "cancelled", "admission_shed"),
    (UnsupportedRequestError, grpc.StatusCode.UNIMPLEMENTED, "query", "ticket_invalid"),
    (NotServedError, grpc.StatusCode.NOT_FOUND, "query", "ticket_invalid"),
    (RequestError, grpc.StatusCode.INVALID_ARGUMENT, "query", "ticket_invalid"),
    (SchemaError, grpc.StatusCode.FAILED_PRECONDITION, "schema", "internal"),
    (LimitError, grpc.StatusCode.RESOURCE_EXHAUSTED, "constraints", "internal"),
    (ScanCancelledError, grpc.StatusCode.ABORTED, "cancelled", "shutdown"),
    (CorruptSSTableError, grpc.StatusCode.INTERNAL, "corruption", "internal"),
    (SSTableError, grpc.StatusCode.INTERNAL, "storage", "internal"),
    (UnrepresentableError, grpc.StatusCode.INTERNAL, "constraints", "internal"),
    (ValueFormError, grpc.StatusCode.INTERNAL, "corruption", "internal"),
    (FlightsrvError, grpc.StatusCode.INTERNAL, "other", "internal"),
)
"""In this order: the first class that an error is an instance of."""


def failure_of(error: Exception, request: ScanRequest | None) -> Failure:
    """What to tell of `error`; `request` is the scan's, when one was read before it failed."""
    if isinstance(error, NotServedError) and request is not None and request.snapshot is not None:
        return Failure(grpc.StatusCode.NOT_FOUND, _text(error), "cancelled", "snapshot_retired")
    if isinstance(error, SchemaError) and request is not None and request.ddl is not None:
        return Failure(grpc.StatusCode.INVALID_ARGUMENT, f"invalid ddl: {_text(error)}", "query", "ticket_invalid")
    for kind, code, category, reason in _FAILURES:
        if isinstance(error, kind):
            return Failure(code, _text(error), category, reason)
    message = f"internal error, see the server's log (id {secrets.token_hex(4)})"
    category = "io" if isinstance(error, OSError) else "other"
    return Failure(grpc.StatusCode.INTERNAL, message, category, "internal", unexpected=True)


def _text(error: FlightsrvError) -> str:
    text = str(error)
    return text if len(text) <= MAX_MESSAGE_CHARS else text[:MAX_MESSAGE_CHARS] + " …"
