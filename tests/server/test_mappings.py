"""Which Arrow types a server sends: as it is set, or as a ticket asks; and what is heard of values they cannot hold."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from flightsrv.scan.engine import Engine
from flightsrv.scan.warm import ODD, TABLES
from tests.server.running import Running, running, settings, ticket

COLUMNS = {"compatible": pa.decimal128(38, 9), "native": pa.string()}
OTHER = {"compatible": "native", "native": "compatible"}
WAYS = ("do_get", "get_schema", "get_flight_info", "list_flights")


@pytest.fixture(scope="module", params=OTHER)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, Running]]:
    """A server set to one of the mappings."""
    chosen = {"data": (TABLES,), "tables": (ODD,), "arrow_types": request.param}
    engine = Engine(settings(**chosen))
    with running(engine, **chosen) as ready:
        yield request.param, ready
    engine.close()


def schema_of(client: flight.FlightClient, asked: flight.Ticket, way: str) -> pa.Schema:
    descriptor = flight.FlightDescriptor.for_command(asked.ticket)
    if way == "do_get":
        return client.do_get(asked).read_all().schema
    return (client.get_schema if way == "get_schema" else client.get_flight_info)(descriptor).schema


@pytest.mark.parametrize("asked", [None, "compatible", "native"])
def test_all_ways_of_asking_tell_the_schema_that_comes(server: tuple[str, Running], asked: str | None) -> None:
    is_set, running_server = server
    fields = {"types": asked} if asked else {}
    schemas = [schema_of(running_server.client(), ticket("warm", "kinds", **fields), way) for way in WAYS[:3]]
    assert schemas[0].field("f").type == COLUMNS[asked or is_set]
    assert all(each.equals(schemas[0], check_metadata=True) for each in schemas)


def test_what_is_listed_is_what_its_ticket_brings(server: tuple[str, Running]) -> None:
    is_set, running_server = server
    client = running_server.client()
    listed = {tuple(each.descriptor.path): each for each in client.list_flights()}[b"warm", b"kinds"]
    assert listed.schema.field("f").type == COLUMNS[is_set]
    assert client.do_get(listed.endpoints[0].ticket).read_all().schema.equals(listed.schema, check_metadata=True)


def test_the_ticket_of_a_flight_asks_as_the_flight_was_asked_for(server: tuple[str, Running]) -> None:
    is_set, running_server = server
    client = running_server.client()
    asked = ticket("warm", "kinds", types=OTHER[is_set])
    (endpoint,) = client.get_flight_info(flight.FlightDescriptor.for_command(asked.ticket)).endpoints
    assert json.loads(endpoint.ticket.ticket)["types"] == OTHER[is_set]


def test_a_client_hears_which_value_of_which_row_cannot_be_held(server: tuple[str, Running]) -> None:
    _, running_server = server
    with pytest.raises(flight.FlightInternalError, match="column d of the row with key 'odd': a decimal with more"):
        running_server.client().do_get(ticket("warm", "odd", columns=["k", "d"], types="compatible")).read_all()
    assert running_server.samples("cqlite_errors_total") == {"constraints internal flight": 1.0}


def test_other_types_are_refused_by_name(server: tuple[str, Running]) -> None:
    _, running_server = server
    with pytest.raises(pa.ArrowInvalid, match="types is none of compatible, native"):
        running_server.client().do_get(ticket("warm", "kinds", types="exact")).read_all()
