"""A connection to a server: the tables it serves, and scans of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import flight

from flightsrv.client.stream import Stream, Trailers
from flightsrv.errors import FlightsrvError, RequestError

URL = re.compile(r"grpc(?:\+tls)?://(\[[0-9a-fA-F:.]+\]|[^\s:/]+):\d{1,5}/?")
LISTING_S = 60.0
"""How long a server may take to list its tables, or to say what it knows of one."""

_OPTIONS = [("grpc.enable_http_proxy", 0)]
"""A Flight server stands in the same network; what http_proxy names is for the web."""


class ServerError(FlightsrvError):
    """What a server answered instead of what was asked for, or that there is no server."""


@dataclass(frozen=True, slots=True)
class ServedTable:
    """A table as the server lists it."""

    keyspace: str
    table: str
    sstables: int
    bytes_on_disk: int
    """Of all Data.db."""
    partitions: int
    """Of all SSTables; one that is in several of them counts as many times."""
    rows: int
    """Likewise."""
    schema: pa.Schema
    problem: str | None
    """Why it cannot be served, or None."""

    @property
    def name(self) -> str:
        return f"{self.keyspace}.{self.table}"


def connect(url: str) -> Connection:
    """A connection to grpc://host:port. The server is first spoken to when something is asked for.

    Raises RequestError when `url` is none.
    """
    if not URL.fullmatch(url):
        raise RequestError(f"{url!r} is not the URL of a server: grpc://host:port")
    return Connection(url)


class Connection:
    """Speaks to one server; close it, or use it in a `with`. Everything here raises ServerError."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._trailers = Trailers()
        self._client = flight.FlightClient(url, middleware=[self._trailers.middleware()], generic_options=_OPTIONS)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; streams must be used up or cancelled."""
        self._client.close()

    def tables(self) -> list[ServedTable]:
        """What the server serves, and what it would serve if it could, by name."""
        with told(self.url):
            flights = list(self._client.list_flights(options=flight.FlightCallOptions(timeout=LISTING_S)))
        return sorted((_table_of(each) for each in flights), key=lambda table: table.name)

    def scan(
        self,
        keyspace: str,
        table: str,
        *,
        columns: list[str] | None = None,
        limit: int | None = None,
        token_range: tuple[int | None, int | None] = (None, None),
        now_s: int | None = None,
        tombstones: bool = False,
        types: str | None = None,
    ) -> Stream:
        """Begin a scan. columns: None for all; token_range: (exclusive start, inclusive end), None for open ends;
        now_s: seconds since 1970 at which TTLs are judged, None for the server's clock; tombstones: what was deleted,
        and when all was written, as well; types: compatible or native, None for what the server is set to."""
        asked = {
            "keyspace": keyspace,
            "table": table,
            "columns": columns,
            "limit": limit,
            "token_start": token_range[0],
            "token_end": token_range[1],
            "now_s": now_s,
            "tombstones": tombstones or None,
            "types": types,
        }
        return self._begin({name: value for name, value in asked.items() if value is not None})

    def _begin(self, ticket: Mapping[str, Any]) -> Stream:
        encoded = json.dumps(ticket).encode()
        with told(self.url):
            descriptor = flight.FlightDescriptor.for_command(encoded)
            known = self._client.get_flight_info(descriptor, flight.FlightCallOptions(timeout=LISTING_S))
            return Stream(
                lambda: self._client.do_get(flight.Ticket(encoded)),
                self._trailers,
                lambda: told(self.url),
                known.total_records if known.total_records >= 0 else None,
            )


def _table_of(listed: flight.FlightInfo) -> ServedTable:
    keyspace, table = (part.decode() for part in listed.descriptor.path)
    about = json.loads(listed.app_metadata)
    return ServedTable(
        keyspace,
        table,
        about["sstables"],
        about["bytes_on_disk"],
        about["partitions"],
        listed.total_records,
        listed.schema,
        about["problem"],
    )


@contextmanager
def told(url: str) -> Iterator[None]:
    """Errors of pyarrow's in the body become ServerErrors with what the server said and nothing around it."""
    try:
        yield
    except pa.ArrowException as error:
        raise ServerError(_told_text(str(error), url)) from error


def _told_text(text: str, url: str) -> str:
    """The server's own words. pyarrow puts the kind of error before them and gRPC's and its own context behind."""
    text = text.partition("with message: ")[2] or text
    text = text.partition(". gRPC client debug context: ")[0].partition(". Client context: ")[0]
    if text.startswith(("failed to connect", "errors resolving")):
        why = text.rpartition(": ")[2].rstrip("]")
        return f"{url} cannot be reached: {why[:1].lower()}{why[1:]}"
    return text
