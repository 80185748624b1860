from __future__ import annotations

import pytest

from flightsrv.cql.types import CqlType

INT, TEXT = CqlType("int"), CqlType("text")


@pytest.mark.parametrize(
    ("kind", "size"),
    [("boolean", 1), ("int", 4), ("float", 4), ("bigint", 8), ("double", 8), ("timestamp", 8), ("uuid", 16)]
    + [("timeuuid", 16), ("empty", 0)]
    + [(kind, -1) for kind in ("tinyint", "smallint", "date", "time", "text", "varint", "inet", "counter", "duration")],
)
def test_tinyint_smallint_date_and_time_have_a_length_and_other_fixed_widths_have_none(kind, size):
    assert CqlType(kind).fixed_size == size


def test_a_vector_is_as_fixed_as_its_elements():
    floats = CqlType("vector", (CqlType("float"),), dimension=3)
    assert floats.fixed_size == 12
    assert CqlType("vector", (floats,), dimension=2).fixed_size == 24
    assert CqlType("vector", (CqlType("smallint"),), dimension=2).fixed_size == -1


@pytest.mark.parametrize(
    "type_",
    [CqlType("list", (INT,)), CqlType("set", (INT,)), CqlType("map", (INT, INT)), CqlType("udt", (INT,), ("a",))],
)
def test_collections_and_udts_are_multicell_until_frozen(type_):
    assert type_.is_multicell
    assert not type_.freeze().is_multicell


def test_what_is_inside_a_type_is_frozen_marked_so_or_not():
    assert CqlType("list", (CqlType("set", (INT,)),)) == CqlType("list", (CqlType("set", (INT,), frozen=True),))


def test_tuples_are_always_frozen_and_scalars_never():
    assert CqlType("tuple", (INT,)) == CqlType("tuple", (INT,), frozen=True)
    assert CqlType("int", frozen=True) == INT


def test_date_type_is_a_timestamp_but_not_the_same_type():
    assert CqlType("timestamp", class_name="DateType") != CqlType("timestamp")


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (CqlType("map", (TEXT, CqlType("list", (INT,)))), "map<text, frozen<list<int>>>"),
        (CqlType("tuple", (INT, TEXT)), "frozen<tuple<int, text>>"),
        (CqlType("vector", (CqlType("float"),), dimension=3), "vector<float, 3>"),
        (CqlType("udt", (INT,), ("a",), "ks", "addr", frozen=True), "frozen<addr>"),
        (CqlType("udt", (INT,), ("a",), "ks", 'Ad"dr'), '"Ad""dr"'),
        (CqlType("custom", class_name="com.example.Special(a)"), "'com.example.Special(a)'"),
        (CqlType("timestamp", class_name="DateType"), "timestamp"),
        (CqlType("uuid", class_name="LexicalUUIDType"), "'org.apache.cassandra.db.marshal.LexicalUUIDType'"),
    ],
)
def test_a_type_prints_as_describe_shows_it(type_, text):
    assert str(type_) == text
