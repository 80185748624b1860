from __future__ import annotations

import pytest

from flightsrv.cql.agreement import check_against_header
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import schema_from_header
from flightsrv.errors import SchemaError


def shown(schema) -> list[str]:
    return [f"{column.name} {column.type} {column.kind}" for column in schema.visible]


def test_a_header_alone_gives_default_names_to_key_columns():
    schema = schema_from_header(
        "ks",
        "t",
        "CompositeType(Int32Type,UTF8Type)",
        ["UTF8Type", "ReversedType(LongType)"],
        [(b"s", "Int32Type")],
        [(b"v", "BytesType")],
    )
    assert shown(schema) == [
        "key int partition_key",
        "key2 text partition_key",
        "column1 text clustering",
        "column2 bigint clustering",
        "s int static",
        "v blob regular",
    ]
    assert [column.reversed for column in schema.clustering] == [False, True]
    assert schema.flags == {"compound"}
    assert schema.id is None


def test_default_names_that_a_column_has_are_passed_over():
    schema = schema_from_header(
        "ks",
        "t",
        "CompositeType(Int32Type,Int32Type)",
        ["Int32Type"],
        [(b"key", "Int32Type")],
        [(b"column1", "Int32Type")],
    )
    assert [column.name for column in schema.partition_key + schema.clustering] == ["key2", "key3", "column2"]


def test_storage_order_is_simple_before_multicell_then_by_bytes_of_the_name():
    columns = [
        ("a", "ListType(Int32Type)"),
        ("ü", "Int32Type"),
        ("b", "FrozenType(SetType(Int32Type))"),
        ("B", "Int32Type"),
    ]
    schema = schema_from_header("ks", "t", "Int32Type", [], [], [(name.encode(), text) for name, text in columns])
    assert [column.name for column in schema.regular] == ["B", "b", "ü", "a"]
    assert schema.column_order == ("B", "a", "b", "ü")


def test_a_name_that_is_not_utf8_is_shown_as_a_blob_and_stored_as_it_is():
    schema = schema_from_header("ks", "t", "Int32Type", [], [], [(b"\xff\x01", "Int32Type")])
    assert schema.regular[0].name == "0xff01"
    assert schema.regular[0].name_bytes == b"\xff\x01"


def test_the_hidden_column_of_type_empty_is_not_shown():
    schema = schema_from_header("ks", "t", "Int32Type", ["Int32Type"], [], [(b"", "EmptyType")])
    assert shown(schema) == ["key int partition_key", "column1 int clustering"]


def test_counters_flag_their_table():
    assert "counter" in schema_from_header("ks", "t", "Int32Type", [], [], [(b"c", "CounterColumnType")]).flags


TABLE = parse_ddl(
    """
    CREATE TYPE addr (street text, zip int);
    CREATE TABLE t (pk int, ck text, s int static, v varint, a frozen<addr>, l list<int>, n text, gone int,
        PRIMARY KEY (pk, ck)) WITH CLUSTERING ORDER BY (ck DESC);
    ALTER TABLE t DROP gone USING TIMESTAMP 5;
    """,
    "ks",
    "t",
)


def check(key="Int32Type", clustering=("ReversedType(UTF8Type)",), static=(), **regular):
    """What check_against_header makes of this header of TABLE."""
    regular_columns = [(name.encode(), text) for name, text in regular.items()]
    return check_against_header(TABLE, key, clustering, static, regular_columns)


def test_a_header_with_the_same_types_agrees():
    assert check(static=[(b"s", "Int32Type")], v="IntegerType", l="ListType(Int32Type)", n="UTF8Type") == ()


def test_columns_that_a_header_lacks_are_no_conflict():
    assert check() == ()


def test_columns_that_were_dropped_are_no_conflict_of_whatever_type():
    assert check(gone="Int32Type") == ()
    assert check(gone="SetType(Int32Type)") == ()
    assert check(static=[(b"gone", "Int32Type")]) == ()


def test_columns_that_nobody_knows_are_named():
    assert check(other="Int32Type") == ("other",)


@pytest.mark.parametrize("text", ["Int32Type", "LongType", "IntegerType", "TimestampType"])
def test_values_of_narrower_types_are_readable(text):
    assert check(v=text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "FrozenType(UserType(ks,61646472,737472656574:UTF8Type,7a6970:Int32Type))",
        "UserType(ks,61646472,737472656574:UTF8Type,7a6970:Int32Type)",
        "FrozenType(UserType(renamed,61646472,737472656574:AsciiType))",
    ],
)
def test_a_udt_may_be_marked_frozen_or_not_and_have_fewer_fields(text):
    assert check(a=text) == ()


@pytest.mark.parametrize(
    ("header", "conflict"),
    [
        ({"key": "UTF8Type"}, "partition key column pk is text, not int"),
        ({"key": "CompositeType(Int32Type,Int32Type)"}, "the partition key has 2 columns, not 1"),
        ({"clustering": []}, "the clustering has 0 columns, not 1"),
        ({"clustering": ["UTF8Type"]}, "clustering column ck is ascending, not descending"),
        ({"clustering": ["ReversedType(Int32Type)"]}, "clustering column ck is int, not text"),
        ({"n": "Int32Type"}, "column n is regular int, not regular text"),
        ({"s": "Int32Type"}, "column s is regular int, not static int"),
        ({"l": "FrozenType(ListType(Int32Type))"}, "column l is regular frozen<list<int>>, not regular list<int>"),
        ({"l": "ListType(LongType)"}, "column l is regular list<bigint>, not regular list<int>"),
        ({"a": "FrozenType(UserType(ks,61646472,61:Int32Type))"}, "column a is regular frozen<addr>, not regular"),
        ({"key": "UTF8Type", "n": "Int32Type"}, "pk is text, not int; column n is regular int, not regular text"),
    ],
)
def test_conflicts_are_all_named(header, conflict):
    with pytest.raises(SchemaError) as caught:
        check(**header)
    assert str(caught.value).startswith("does not fit the schema of ks.t: ")
    assert conflict in str(caught.value)
