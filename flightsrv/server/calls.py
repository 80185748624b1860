"""Every RPC from its first byte to its status: counted, timed, traced, and its errors turned into what a client may
see."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import grpc

from flightsrv.scan.request import ScanRequest
from flightsrv.server.statuses import GONE, ClientGoneError, Failure, failure_of
from flightsrv.telemetry.meters import StageProgress
from flightsrv.telemetry.phases import Phases, sub_phases
from flightsrv.telemetry.setup import Telemetry
from flightsrv.telemetry.traces import RpcSpan

log = logging.getLogger(__name__)

_NS_PER_S = 1_000_000_000


@dataclass(eq=False, slots=True)
class Call:
    """One RPC under way, and what is known of it by now."""

    method: str
    """As metrics name it: do_get."""
    context: grpc.aio.ServicerContext
    phases: Phases = field(default_factory=Phases)
    request: ScanRequest | None = None
    """Of a scan, once its ticket is read."""
    progress: StageProgress | None = None
    """Of a scan, once it is open."""
    rows: int = 0
    bytes: int = 0
    """Arrow bytes sent, before IPC framing."""
    started_ns: int = field(default_factory=perf_counter_ns)


Handler = Callable[[Call, Any], Awaitable[bytes | None]]
"""Takes the RPC and the request: bytes, or an iterator of them. Returns the response of a unary RPC."""


class Observer:
    """Wraps handlers for gRPC."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._meters = telemetry.meters
        self._tracer = telemetry.tracer

    def observed(self, method: str, handler: Handler) -> Callable[..., Awaitable[bytes | None]]:
        """`handler` as grpc.aio wants it. Whatever it raises, the client gets a status and a text that is fit for it.

        Metrics are in before the client hears of the end.
        """

        async def handle(payload: Any, context: grpc.aio.ServicerContext) -> bytes | None:
            call = Call(method, context)
            span = RpcSpan(self._tracer, method, context.invocation_metadata() or ())
            self._meters.live.add(call)
            failure: Failure | None = None
            try:
                return await handler(call, payload)
            except asyncio.CancelledError:
                failure = GONE
                raise
            except ClientGoneError:
                failure = GONE
                raise asyncio.CancelledError from None  # there is nobody to tell
            except Exception as error:
                failure = failure_of(error, call.request)
                _log(call, failure, error)
            finally:
                self._end(call, span, failure)
            await context.abort(failure.code, failure.message)
            return None  # not reached: abort raises

        return handle

    def sent(self, call: Call, rows: int, arrow_bytes: int) -> None:
        """A batch of a stream has left."""
        call.rows += rows
        call.bytes += arrow_bytes
        self._meters.rows.add(rows, call.method)
        self._meters.bytes.add(arrow_bytes, call.method)
        if call.progress:
            call.progress.tick()

    def _end(self, call: Call, span: RpcSpan, failure: Failure | None) -> None:
        """Count the RPC, once."""
        self._meters.live.discard(call)
        call.phases.leave()
        duration_s = (perf_counter_ns() - call.started_ns) / _NS_PER_S
        samples = call.phases.samples()
        if call.progress:
            call.progress.flush()
            samples.update(sub_phases(call.progress.clocks.totals()))
        self._meters.rpc_done(call.method, "error" if failure else "ok", duration_s, samples)
        if failure:
            self._meters.errors.add(1, failure.category, "flight", failure.reason if call.method == "do_get" else "")
        if call.request is not None:
            span.of_table(call.request.keyspace, call.request.table)
        span.end(failure.code.name if failure else "OK", call.rows if call.method == "do_get" else None)


def _log(call: Call, failure: Failure, error: Exception) -> None:
    """The server's own faults as errors, bad requests as warnings, the rest for who wants to know."""
    about = f" {call.request.keyspace}.{call.request.table}" if call.request else ""
    if failure.unexpected:
        log.error("%s%s: %s", call.method, about, failure.message, exc_info=error)
    elif failure.code is grpc.StatusCode.INTERNAL:
        log.error("%s%s: %s", call.method, about, failure.message)
    elif failure.category == "cancelled":
        log.debug("%s%s: %s: %s", call.method, about, failure.code.name, failure.message)
    else:
        log.warning("%s%s: %s: %s", call.method, about, failure.code.name, failure.message)
