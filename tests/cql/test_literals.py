from __future__ import annotations

import decimal
import ipaddress
import uuid
from typing import Any

import pytest

from flightsrv.cql.literals import literal
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY, encode

INT, TEXT = CqlType("int"), CqlType("text")
ID = uuid.UUID("50554d6e-29bb-11e5-b345-feff819cdc9f")


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (INT, -5, "-5"),
        (TEXT, "it's", "'it''s'"),
        (CqlType("ascii"), "", "''"),
        (CqlType("blob"), b"\0\xff", "0x00ff"),
        (CqlType("custom"), b"", "0x"),
        (CqlType("boolean"), True, "true"),
        (CqlType("decimal"), decimal.Decimal("1.50"), "1.50"),
        (CqlType("double"), 0.1, "0.1"),
        (CqlType("uuid"), ID, str(ID)),
        (CqlType("inet"), ipaddress.ip_address("::1"), "'::1'"),
        (CqlType("date"), 0, "2147483648"),
        (CqlType("timestamp"), 5, "5"),
        (CqlType("time"), 7, "7"),
        (CqlType("duration"), (1, 2, 3), "1mo2d3ns"),
        (CqlType("duration"), (-1, 0, -3), "-1mo0d3ns"),
        (CqlType("list", (INT,)), [1, 2], "[1, 2]"),
        (CqlType("list", (INT,)), [EMPTY], "[0x]"),
        (CqlType("set", (TEXT,)), ["a"], "{'a'}"),
        (CqlType("map", (INT, TEXT)), [(1, "a")], "{1: 'a'}"),
        (CqlType("vector", (INT,), dimension=2), [1, 2], "[1, 2]"),
        (CqlType("tuple", (INT, TEXT)), (1, None), "(1, null)"),
        (CqlType("udt", (INT, INT), ("a", "B"), "ks", "u"), {"a": 1, "B": None}, '{a: 1, "B": null}'),
    ],
)
def test_a_value_is_written_as_cql_writes_it(type_: CqlType, value: Any, text: str) -> None:
    assert literal(type_, encode(type_, value)) == text


def test_null_empty_and_what_is_no_value() -> None:
    assert literal(INT, None) == "null"
    assert literal(INT, b"") == "0x"
    assert literal(INT, b"\1\2") == "0x0102"
    assert literal(TEXT, b"\xff") == "0xff"
