"""What a client sees of errors: the right status, a text that helps, and nothing of the server's insides."""

import logging
import re

import grpc
import pyarrow as pa
import pyarrow.flight as flight
import pytest

from flightsrv.errors import (
    CorruptSSTableError,
    LimitError,
    NotServedError,
    RequestError,
    ScanCancelledError,
    SchemaError,
    UnsupportedRequestError,
    UnsupportedSSTableError,
    Where,
)
from flightsrv.scan.request import ScanRequest
from flightsrv.server.admission import AdmissionError
from flightsrv.server.flight_pb2 import Ticket
from flightsrv.server.service import SERVICE
from flightsrv.server.statuses import failure_of
from tests.server.running import ticket

DATA = Where("/var/lib/cassandra/data/ks/t-1/nb-1-big-Data.db", offset=17)


def raising(error):
    def hook(*_arguments):
        raise error

    return hook


def fetch(server, wanted=None):
    """Status, details and how many messages came before, of a DoGet that must fail."""
    messages = 0
    with grpc.insecure_channel(server.flight.removeprefix("grpc://")) as channel:
        request = Ticket(ticket=(wanted or ticket()).ticket).SerializeToString()
        try:
            for _ in channel.unary_stream(f"/{SERVICE}/DoGet")(request, timeout=10):
                messages += 1
        except grpc.RpcError as error:
            return error.code(), error.details(), messages
    raise AssertionError("it did not fail")


def test_an_unknown_table_is_not_found(server):
    code, details, messages = fetch(server, ticket(table="nowhere"))
    assert (code, messages) == (grpc.StatusCode.NOT_FOUND, 0)
    assert "ks.nowhere" in details


def test_pyarrow_tells_not_found_from_invalid(server):
    with pytest.raises(pa.ArrowKeyError, match=r"ks\.nowhere"):
        server.client().do_get(ticket(table="nowhere")).read_all()
    with pytest.raises(pa.ArrowInvalid, match="invalid flight ticket"):
        server.client().do_get(flight.Ticket(b"{")).read_all()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"keyspace":"ks"}', b'{"keyspace":"ks","table":"a/b"}'])
def test_a_broken_ticket_is_an_invalid_argument_before_any_message(server, text):
    code, details, messages = fetch(server, flight.Ticket(text))
    assert (code, messages) == (grpc.StatusCode.INVALID_ARGUMENT, 0)
    assert details.startswith("invalid flight ticket")


@pytest.mark.parametrize("field", ["filter", "aggregation", "predicates"])
def test_a_field_that_is_not_served_is_named(server, field):
    code, details, _ = fetch(server, ticket(**{field: {"type": "And"}}))
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert field in details


EXPECTED = [
    (AdmissionError("full"), grpc.StatusCode.UNAVAILABLE, "cancelled", "admission_shed"),
    (NotServedError("no such table"), grpc.StatusCode.NOT_FOUND, "query", "ticket_invalid"),
    (UnsupportedRequestError("not yet"), grpc.StatusCode.UNIMPLEMENTED, "query", "ticket_invalid"),
    (RequestError("no column x"), grpc.StatusCode.INVALID_ARGUMENT, "query", "ticket_invalid"),
    (SchemaError("no schema"), grpc.StatusCode.FAILED_PRECONDITION, "schema", "internal"),
    (LimitError("a row over 2 GiB"), grpc.StatusCode.RESOURCE_EXHAUSTED, "constraints", "internal"),
    (ScanCancelledError("stopped"), grpc.StatusCode.ABORTED, "cancelled", "shutdown"),
    (CorruptSSTableError("checksum", DATA), grpc.StatusCode.INTERNAL, "corruption", "internal"),
    (UnsupportedSSTableError("version zz", DATA), grpc.StatusCode.INTERNAL, "storage", "internal"),
    (PermissionError("/etc/shadow"), grpc.StatusCode.INTERNAL, "io", "internal"),
    (ZeroDivisionError("x"), grpc.StatusCode.INTERNAL, "other", "internal"),
]


@pytest.mark.parametrize(("error", "code", "category", "reason"), EXPECTED)
def test_each_error_has_its_status_and_its_metrics(error, code, category, reason):
    failure = failure_of(error, ScanRequest("ks", "t"))
    assert (failure.code, failure.category, failure.reason) == (code, category, reason)


def test_a_schema_error_of_the_clients_own_ddl_is_an_invalid_argument():
    failure = failure_of(SchemaError("line 1: no"), ScanRequest("ks", "t", ddl="CREATE"))
    assert (failure.code, failure.message) == (grpc.StatusCode.INVALID_ARGUMENT, "invalid ddl: line 1: no")


def test_a_snapshot_that_is_gone_is_told_apart_in_metrics():
    failure = failure_of(NotServedError("no snapshot s"), ScanRequest("ks", "t", snapshot="s"))
    assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "snapshot_retired")


def test_a_text_that_would_not_fit_the_headers_is_cut(server, engine):
    engine.at_open = raising(RequestError("no column " + "x" * 100_000))
    code, details, _ = fetch(server)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert len(details) < 3_000


@pytest.mark.parametrize("place", ["at_schema", "at_open", "at_frame"])
@pytest.mark.parametrize(
    "error",
    [RuntimeError("secret at 0x7f00aa, /var/lib/x.py"), PermissionError(13, "no", "/etc/shadow"), MemoryError()],
)
def test_an_unexpected_error_leaks_nothing_and_is_in_the_log_under_its_id(server, engine, caplog, place, error):
    setattr(engine, place, raising(error))
    with caplog.at_level(logging.ERROR):
        code, details, _ = fetch(server)
    assert code is grpc.StatusCode.INTERNAL
    found = re.fullmatch(r"internal error, see the server's log \(id (\w{8})\)", details)
    assert found
    (record,) = [record for record in caplog.records if found[1] in record.getMessage()]
    assert record.exc_info[1] is error


class Panic(BaseException):
    """As an extension written in Rust raises when it panics."""


@pytest.mark.parametrize("place", ["at_open", "at_frame"])
def test_a_panic_of_an_extension_is_an_internal_error_and_the_server_lives(server, engine, place):
    setattr(engine, place, raising(Panic("assertion failed at /src/lib.rs")))
    code, details, _ = fetch(server)
    assert code is grpc.StatusCode.INTERNAL
    assert "/src" not in details
    setattr(engine, place, lambda _: None)
    assert server.client().do_get(ticket()).read_all().num_rows == 300


@pytest.mark.parametrize("method", ["list", "info", "schema", "action"])
def test_no_other_method_leaks_either(server, engine, method):
    error = RuntimeError("Traceback (most recent call last): /var/lib/x.py")
    engine.at_schema = raising(error)
    engine.at_stats = raising(error)
    engine.tables = raising(error)
    client = server.client()
    calls = {
        "list": lambda: list(client.list_flights()),
        "info": lambda: client.get_flight_info(flight.FlightDescriptor.for_path("ks", "t")),
        "schema": lambda: client.get_schema(flight.FlightDescriptor.for_path("ks", "t")),
        "action": lambda: list(client.do_action(flight.Action("table_stats", b'{"keyspace":"ks","table":"t"}'))),
    }
    with pytest.raises((flight.FlightInternalError, OSError)) as raised:  # pyarrow's get_schema raises the latter
        calls[method]()
    assert "internal error, see the server's log" in str(raised.value)
    for leaked in ("Traceback", "/var", ".py", "RuntimeError"):
        assert leaked not in str(raised.value)


def test_a_corrupt_file_is_named_without_its_folder(server, engine):
    engine.at_frame = raising(CorruptSSTableError("chunk 17 checksum: 0x1f in the file, 0x99 computed", DATA))
    code, details, _ = fetch(server)
    assert code is grpc.StatusCode.INTERNAL
    assert details == "nb-1-big-Data.db: offset 17: chunk 17 checksum: 0x1f in the file, 0x99 computed"


def test_an_error_in_the_middle_is_no_short_answer(server, engine):
    def fail_at_two(number):
        if number == 2:
            raise CorruptSSTableError("bad", DATA)

    engine.at_frame = fail_at_two
    code, _, messages = fetch(server)
    assert (code, messages) == (grpc.StatusCode.INTERNAL, 1 + 2)
    with pytest.raises(flight.FlightInternalError):
        server.client().do_get(ticket()).read_all()


def test_the_scan_is_closed_and_its_thread_gone_after_an_error(server, engine):
    engine.at_frame = raising(RuntimeError("no"))
    fetch(server)
    (scan,) = engine.scans
    assert scan.closed.is_set()
    assert not scan.thread.is_alive()
