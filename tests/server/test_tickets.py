import json

import pytest

from flightsrv.errors import RequestError, UnsupportedRequestError
from flightsrv.scan.request import ScanRequest
from flightsrv.server import tickets

MINIMAL = {"keyspace": "ks", "table": "t"}


def parsed(**fields):
    return tickets.parse(json.dumps({**MINIMAL, **fields}).encode())


def test_keyspace_and_table_are_enough():
    assert parsed() == ScanRequest("ks", "t")


def test_every_field_arrives():
    request = parsed(
        version=2, ddl="CREATE TABLE t (k int PRIMARY KEY)", snapshot="before-upgrade_1", token_start=-(1 << 63),
        token_end=(1 << 63) - 1, wraparound=True, columns=["k", "v"], predicates=[], limit=(1 << 64) - 1, now_s=9,
        tombstones=True, types="native",
    )  # fmt: skip
    assert request == ScanRequest(
        "ks", "t", "CREATE TABLE t (k int PRIMARY KEY)", "before-upgrade_1", -(1 << 63), (1 << 63) - 1, ("k", "v"),
        (1 << 64) - 1, 9, True, "native",
    )  # fmt: skip


def test_null_is_the_same_as_absent():
    names = ("version", "ddl", "snapshot", "token_start", "token_end", "wraparound", "columns", "predicates", "filter")
    assert parsed(**dict.fromkeys((*names, "aggregation", "limit", "now_s", "tombstones", "types"))) == parsed()


def test_unknown_fields_are_ignored():
    assert parsed(colour="blue", nested={"a": [1]}) == parsed()


@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_of_nothing_is_a_limit(limit):
    assert parsed(limit=limit).limit == limit


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("predicates", [{"column": "v", "op": "Equal", "value": 1}]),
        ("predicates", {}),
        ("filter", {"type": "And", "exprs": []}),
        ("aggregation", {"group_by": [], "aggregates": []}),
    ],
)
def test_a_field_that_is_not_served_is_refused_by_name(field, value):
    with pytest.raises(UnsupportedRequestError, match=field):
        parsed(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keyspace", ""), ("keyspace", "../etc"), ("keyspace", "ключ"), ("keyspace", 1), ("table", "a b"),
        ("table", "t\n"), ("snapshot", ""), ("snapshot", "../x"), ("snapshot", 1), ("ddl", 1), ("version", 256),
        ("version", -1), ("version", "2"), ("version", True), ("token_start", (1 << 127) + 1), ("token_start", 1.5),
        ("token_end", -(1 << 63) - 1), ("token_end", ""), ("token_end", "1e5"), ("token_end", "٣"),
        ("token_end", "9" * 39), ("token_end", "9" * 40), ("columns", []), ("columns", "k"), ("columns", [1]),
        ("limit", -1), ("limit", 1 << 64), ("limit", True), ("now_s", -1), ("wraparound", "yes"),
        ("types", "Native"), ("types", ""), ("types", True), ("types", ["native"]),
    ],
)  # fmt: skip
def test_a_bad_value_names_its_field(field, value):
    with pytest.raises(RequestError, match=f"^invalid flight ticket field: {field} "):
        parsed(**{field: value})


@pytest.mark.parametrize("token", [-(1 << 63), -1, 0, 1 << 63, 1 << 127])
def test_a_token_may_be_a_string_of_its_digits(token):
    assert parsed(token_start=str(token), token_end=token) == parsed(token_start=token, token_end=token)


@pytest.mark.parametrize("missing", ["keyspace", "table"])
def test_a_missing_field_is_named(missing):
    fields = {name: value for name, value in MINIMAL.items() if name != missing}
    with pytest.raises(RequestError, match=f"^invalid flight ticket: {missing} is missing"):
        tickets.parse(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "text", [b"", b"{", b"null", b"[]", b'"ks"', b"\xff\xfe", '{"keyspace":'.encode("utf-16"), b"[" * 100_000]
)
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(RequestError, match=r"^invalid flight ticket: "):
        tickets.parse(text)


def test_the_ticket_of_a_whole_table_reads_back():
    assert tickets.parse(tickets.for_table("ks", "t")) == ScanRequest("ks", "t")


def test_table_stats_take_a_table_and_a_snapshot():
    assert tickets.parse_table(b'{"keyspace":"ks","table":"t"}') == ("ks", "t", None)
    assert tickets.parse_table(b'{"keyspace":"ks","table":"t","snapshot":"s-1"}') == ("ks", "t", "s-1")
    with pytest.raises(RequestError):
        tickets.parse_table(b'{"keyspace":"ks"}')
