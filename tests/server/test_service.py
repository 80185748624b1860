"""The Flight methods, as a pyarrow client and a bare gRPC channel see them."""

import json

import grpc
import pyarrow.flight as flight
import pytest

from flightsrv.server.flight_pb2 import FlightDescriptor, FlightInfo, Ticket
from flightsrv.server.service import SERVICE
from tests.server.fake_engine import SCHEMA, FakeTable
from tests.server.running import ticket


def test_a_flight_is_listed_for_each_table(server):
    flights = list(server.client().list_flights())
    assert [f.descriptor.path for f in flights] == [[b"ks", b"t"], [b"other", b"u"]]
    assert flights[0].schema == SCHEMA
    assert flights[0].total_records == 300
    about = json.loads(flights[0].app_metadata)
    assert about == {"sstables": 2, "bytes_on_disk": 1000, "partitions": 3, "problem": None}


@pytest.mark.parametrize(("criteria", "tables"), [(b"", 2), (b"ot", 1), (b"ks.t", 1), (b"ks.x", 0)])
def test_criteria_are_the_start_of_the_name(server, criteria, tables):
    assert len(list(server.client().list_flights(criteria))) == tables


def test_a_table_with_a_problem_is_listed_with_it(server, engine):
    engine.known.append(FakeTable("ks", "broken", schema=None, problem="nb-1-big-Statistics.db: it is empty"))
    (broken,) = server.client().list_flights(b"ks.broken")
    assert len(broken.schema) == 0
    assert json.loads(broken.app_metadata)["problem"] == "nb-1-big-Statistics.db: it is empty"


def test_a_listed_flight_can_be_fetched_as_it_is(server):
    client = server.client()
    listed = next(iter(client.list_flights()))
    assert client.do_get(listed.endpoints[0].ticket).read_all().num_rows == 300


def test_the_ticket_of_a_command_is_the_command_verbatim(server):
    command = b'{ "keyspace": "ks",  "table": "t", "colour": "blue" }'
    info = server.client().get_flight_info(flight.FlightDescriptor.for_command(command))
    assert info.schema == SCHEMA
    assert [endpoint.ticket.ticket for endpoint in info.endpoints] == [command]
    assert info.endpoints[0].locations == []
    assert info.descriptor.command == command
    assert info.total_bytes == -1


def test_a_path_names_a_table(server):
    client = server.client()
    info = client.get_flight_info(flight.FlightDescriptor.for_path("ks", "t"))
    assert client.do_get(info.endpoints[0].ticket).read_all().schema == SCHEMA


@pytest.mark.parametrize(
    ("fields", "records"),
    [({}, 300), ({"limit": 7}, 7), ({"limit": 900}, 300), ({"token_start": 1}, -1), ({"ddl": "CREATE …"}, -1)],
)
def test_total_records_are_estimated_for_a_whole_table(server, fields, records):
    command = ticket(**fields).ticket
    assert server.client().get_flight_info(flight.FlightDescriptor.for_command(command)).total_records == records


def test_total_records_are_unknown_when_statistics_are_not_complete(server, engine):
    engine.complete = False
    assert server.client().get_flight_info(flight.FlightDescriptor.for_path("ks", "t")).total_records == -1


def test_a_request_with_ddl_does_not_touch_the_disk_for_its_schema(server, engine):
    def disk():
        raise AssertionError("the disk was touched")

    engine.at_stats = disk
    command = ticket(table="missing", ddl="CREATE TABLE missing (k bigint PRIMARY KEY, v blob)").ticket
    assert server.client().get_flight_info(flight.FlightDescriptor.for_command(command)).schema == SCHEMA


def test_a_schema_can_be_had_alone(server):
    client = server.client()
    for descriptor in (
        flight.FlightDescriptor.for_path("ks", "t"),
        flight.FlightDescriptor.for_command(ticket().ticket),
    ):
        schema = client.get_schema(descriptor).schema
        assert schema.equals(SCHEMA, check_metadata=True)


def test_the_wire_schema_keeps_its_field_metadata(server):
    reader = server.client().do_get(ticket())
    assert reader.schema.field("k").metadata == {b"cqlite:pushdown": b"full"}


def test_a_stream_has_a_schema_also_when_it_has_no_rows(server, engine):
    engine.frames = 0
    assert server.client().do_get(ticket()).read_all().schema == SCHEMA


def test_a_ticket_reaches_the_engine_whole(server, engine):
    server.client().do_get(ticket(token_start=-5, token_end=5, columns=["k"], limit=2, snapshot="s")).read_all()
    request = engine.requests[0]
    assert (request.token_start, request.token_end, request.columns) == (-5, 5, ("k",))
    assert (request.limit, request.snapshot) == (2, "s")


def test_table_stats_are_an_action(server):
    client = server.client()
    assert [action.type for action in client.list_actions()] == ["table_stats"]
    (result,) = client.do_action(flight.Action("table_stats", b'{"keyspace":"ks","table":"t","snapshot":null}'))
    assert json.loads(result.body.to_pybytes()) == {
        "live_rows": 300, "partition_count": 3, "sstable_count": 2, "complete": True, "skipped_sstables": 0,
    }  # fmt: skip


def call(server, method, request=b"", kind="unary_unary"):
    """Status and details of a method called with raw bytes that must fail."""
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        made = getattr(channel, kind)(f"/{SERVICE}/{method}")
        try:
            answer = made(iter([request]) if kind.startswith("stream") else request, timeout=10)
            raise AssertionError(f"it answered {list(answer)}")
        except grpc.RpcError as error:
            return error.code(), error.details()


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("Handshake", "stream_stream"),
        ("DoPut", "stream_stream"),
        ("DoExchange", "stream_stream"),
        ("PollFlightInfo", "unary_unary"),
    ],
)
def test_a_method_that_is_not_served_is_unimplemented_and_counted(server, method, kind):
    code, details = call(server, method, kind=kind)
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "is not served" in details
    assert len(server.samples("cqlite_rpc_requests_total")) == 1


@pytest.mark.parametrize("method", ["GetFlightInfo", "GetSchema"])
@pytest.mark.parametrize(
    "descriptor",
    [
        FlightDescriptor(),
        FlightDescriptor(type=FlightDescriptor.CMD),
        FlightDescriptor(type=FlightDescriptor.PATH, path=["ks"]),
        FlightDescriptor(type=FlightDescriptor.PATH, path=["ks", "t", "x"]),
        FlightDescriptor(type=FlightDescriptor.PATH, path=["ks", "../t"]),
    ],
)
def test_a_descriptor_that_names_no_table_is_an_invalid_argument(server, method, descriptor):
    code, _details = call(server, method, descriptor.SerializeToString())
    assert code is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("method", "kind"),
    [("GetFlightInfo", "unary_unary"), ("DoGet", "unary_stream"), ("DoAction", "unary_stream")],
)
def test_bytes_that_are_no_message_are_an_invalid_argument(server, method, kind):
    code, details = call(server, method, b"\xff\xff\xff", kind)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "message" in details


def test_an_unknown_action_is_unimplemented(server):
    with pytest.raises(NotImplementedError, match="unsupported action type: drop_table"):
        list(server.client().do_action(flight.Action("drop_table", b"")))


def test_at_the_end_of_a_stream_the_trailers_tell_where_the_time_went(server):
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        stream = channel.unary_stream(f"/{SERVICE}/DoGet")(Ticket(ticket=ticket().ticket).SerializeToString())
        assert sum(1 for _ in stream) == 1 + 3
        trailers = dict(stream.trailing_metadata())
    report = json.loads(trailers["flightsrv-stages"])
    assert (report["rows"], report["bytes"] > 0) == (300, True)
    assert list(report["stages"]) == ["read", "decompress", "decode", "merge", "encode", "write"]
    assert report["stages"]["decompress"]["starved"] == 0.006
    assert report["stages"]["write"]["busy"] > 0
    assert report["bottleneck"] in report["stages"]


def test_the_trailers_reach_a_pyarrow_client_that_looks_for_them(server):
    seen = {}

    class Middleware(flight.ClientMiddleware):
        def received_headers(self, headers):
            seen.update(headers)

    class Factory(flight.ClientMiddlewareFactory):
        def start_call(self, _info):
            return Middleware()

    server.client(middleware=[Factory()]).do_get(ticket()).read_all()
    assert "flightsrv-stages" in seen


def test_total_records_fit_what_the_protocol_says(server):
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        made = channel.unary_unary(f"/{SERVICE}/GetFlightInfo")
        answer = made(FlightDescriptor(type=FlightDescriptor.PATH, path=["ks", "t"]).SerializeToString())
    assert FlightInfo.FromString(answer).total_records == 300
