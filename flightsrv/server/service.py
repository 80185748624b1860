"""The Flight service: its methods by name, and those that answer at once. DoGet is in do_get.py.

A flight is a table. Its ticket is JSON (tickets.py), its descriptor either the ticket's own bytes (CMD) or [keyspace,
table] (PATH). Messages go in and out as bytes: what gRPC would raise while it reads one is ours to word, and a batch
goes out as the engine framed it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import grpc
import pyarrow as pa

from flightsrv.errors import RequestError, UnsupportedRequestError
from flightsrv.scan.request import ScanRequest
from flightsrv.server import tickets
from flightsrv.server.calls import Call, Handler, Observer
from flightsrv.server.do_get import DoGet
from flightsrv.server.engine import Engine, TableInfo
from flightsrv.server.flight_pb2 import (
    Action,
    ActionType,
    Criteria,
    FlightDescriptor,
    FlightEndpoint,
    FlightInfo,
    Result,
    SchemaResult,
    Ticket,
)
from flightsrv.server.messages import read_message, written
from flightsrv.server.threads import in_thread

SERVICE = "arrow.flight.protocol.FlightService"

CATALOG_CALLS_AT_ONCE = 8
"""Calls of the catalog, and so threads, at once; others wait."""

UNKNOWN = -1


class FlightService:
    """All methods of one server but DoGet. Everything here belongs to the event loop's thread."""

    def __init__(self, engine: Engine, do_get: DoGet, observer: Observer) -> None:
        self._engine = engine
        self._do_get = do_get
        self._observer = observer
        self._catalog_calls = asyncio.Semaphore(CATALOG_CALLS_AT_ONCE)

    def handlers(self) -> grpc.GenericRpcHandler:
        """What to add to a grpc.aio server."""
        unary, streaming = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        both = grpc.stream_stream_rpc_method_handler
        methods = {
            "ListFlights": streaming(self._observed("list_flights", self._list_flights)),
            "GetFlightInfo": unary(self._observed("get_flight_info", self._get_flight_info)),
            "GetSchema": unary(self._observed("get_schema", self._get_schema)),
            "DoGet": streaming(self._observed("do_get", self._do_get.handle)),
            "DoAction": streaming(self._observed("do_action", self._do_action)),
            "ListActions": streaming(self._observed("list_actions", self._list_actions)),
            "PollFlightInfo": unary(self._observed("poll_flight_info", _refuse)),
            "Handshake": both(self._observed("handshake", _refuse)),
            "DoPut": both(self._observed("do_put", _refuse)),
            "DoExchange": both(self._observed("do_exchange", _refuse)),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def tables(self) -> list[TableInfo]:
        """All tables that are there now."""
        async with self._catalog_calls:
            return list(await in_thread(self._engine.tables))

    async def _list_flights(self, call: Call, payload: bytes) -> None:
        """The criteria, when there are any, are the start of keyspace.table."""
        try:
            prefix = read_message(Criteria, payload).expression.decode()
        except UnicodeDecodeError:
            raise RequestError("the criteria are not UTF-8") from None
        for table in await self.tables():
            if f"{table.keyspace}.{table.table}".startswith(prefix):
                await call.context.write(written(_flight_of(table)))

    async def _get_flight_info(self, call: Call, payload: bytes) -> bytes:
        descriptor = read_message(FlightDescriptor, payload)
        ticket = _ticket_of(descriptor)
        request = call.request = tickets.parse(ticket)
        schema = await self._schema(request)
        total_records = await self._estimated_rows(request)
        return written(_flight(descriptor, schema, ticket, total_records))

    async def _get_schema(self, call: Call, payload: bytes) -> bytes:
        request = call.request = tickets.parse(_ticket_of(read_message(FlightDescriptor, payload)))
        return written(SchemaResult(schema=_serialized(await self._schema(request))))

    async def _do_action(self, call: Call, payload: bytes) -> None:
        action = read_message(Action, payload)
        if action.type != "table_stats":
            raise UnsupportedRequestError(f"unsupported action type: {action.type}")
        table = tickets.parse_table(action.body)
        async with self._catalog_calls:
            stats = await in_thread(self._engine.table_stats, *table)
        await call.context.write(written(Result(body=json.dumps(stats).encode())))

    async def _list_actions(self, call: Call, _payload: bytes) -> None:
        description = "Rows, partitions and SSTables of a table, from its statistics. Body: keyspace, table, snapshot."
        await call.context.write(written(ActionType(type="table_stats", description=description)))

    async def _schema(self, request: ScanRequest) -> pa.Schema:
        async with self._catalog_calls:
            return await in_thread(self._engine.arrow_schema, request)

    async def _estimated_rows(self, request: ScanRequest) -> int:
        """Rows of a whole table, from its statistics. A request that brings its DDL does not get the disk looked at."""
        if request.ddl is not None or request.token_start is not None or request.token_end is not None:
            return UNKNOWN
        async with self._catalog_calls:
            stats = await in_thread(self._engine.table_stats, request.keyspace, request.table, request.snapshot)
        rows: int = stats["live_rows"] if stats["complete"] else UNKNOWN
        return rows if request.limit is None else min(rows, request.limit)

    def _observed(self, method: str, handler: Handler) -> Callable[..., object]:
        return self._observer.observed(method, handler)


async def _refuse(call: Call, _payload: object) -> None:
    raise UnsupportedRequestError(f"{call.method} is not served")


def _ticket_of(descriptor: FlightDescriptor) -> bytes:
    if descriptor.type == FlightDescriptor.CMD:
        return descriptor.cmd
    if descriptor.type == FlightDescriptor.PATH and len(descriptor.path) == 2:
        return tickets.for_table(*descriptor.path)
    raise RequestError("the descriptor is neither a ticket (CMD) nor [keyspace, table] (PATH)")


def _flight_of(table: TableInfo) -> FlightInfo:
    """A table as ListFlights tells of it; one that cannot be served has no columns and says why."""
    descriptor = FlightDescriptor(type=FlightDescriptor.PATH, path=[table.keyspace, table.table])
    schema = pa.schema([]) if table.schema is None else table.schema
    flight = _flight(descriptor, schema, tickets.for_table(table.keyspace, table.table), table.row_count)
    about = {
        "sstables": table.sstable_count,
        "bytes_on_disk": table.bytes_on_disk,
        "partitions": table.partition_count,
        "problem": table.problem,
    }
    flight.app_metadata = json.dumps(about).encode()
    return flight


def _flight(descriptor: FlightDescriptor, schema: pa.Schema, ticket: bytes, total_records: int) -> FlightInfo:
    """One endpoint without a location: the client asks the server it has asked already."""
    return FlightInfo(
        schema=_serialized(schema),
        flight_descriptor=descriptor,
        endpoint=[FlightEndpoint(ticket=Ticket(ticket=ticket))],
        total_records=total_records,
        total_bytes=UNKNOWN,
    )


def _serialized(schema: pa.Schema) -> bytes:
    """A schema as an encapsulated IPC message."""
    encapsulated: bytes = schema.serialize().to_pybytes()
    return encapsulated
