from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from flightsrv.arrow.types import NATIVE, TypeMapping, arrow_field, arrow_schema, arrow_type, projected
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import Column
from flightsrv.cql.types import CqlType
from flightsrv.errors import RequestError
from tests.cql.strategies import types

INT, UUID = CqlType("int"), CqlType("uuid")
KINDS = {
    "boolean": (pa.bool_(), "full"),
    "tinyint": (pa.int8(), "full"),
    "smallint": (pa.int16(), "full"),
    "int": (pa.int32(), "full"),
    "bigint": (pa.int64(), "full"),
    "counter": (pa.int64(), "full"),
    "float": (pa.float32(), "full"),
    "double": (pa.float64(), "full"),
    "text": (pa.utf8(), "full"),
    "ascii": (pa.utf8(), "full"),
    "timestamp": (pa.timestamp("ms", "UTC"), "full"),
    "uuid": (pa.binary(16), "equality"),
    "timeuuid": (pa.binary(16), "equality"),
    "blob": (pa.binary(), "none"),
    "date": (pa.date32(), "none"),
    "time": (pa.time64("ns"), "none"),
    "inet": (pa.utf8(), "none"),
    "decimal": (pa.decimal128(38, 9), "none"),
    "varint": (pa.decimal128(38, 0), "none"),
    "duration": (pa.utf8(), "none"),
    "custom": (pa.utf8(), "none"),
    "empty": (pa.utf8(), "none"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_simple_types_and_what_can_be_pushed_down(kind):
    arrow, pushdown = KINDS[kind]
    field = arrow_field(Column("c", CqlType(kind), "regular"))
    assert field.type == arrow
    assert field.nullable
    assert field.metadata[b"cqlite:pushdown"].decode() == pushdown


@pytest.mark.parametrize(
    ("type_", "arrow"),
    [
        (CqlType("list", (INT,)), pa.list_(pa.field("item", pa.int32()))),
        (CqlType("set", (INT,), frozen=True), pa.list_(pa.field("item", pa.int32()))),
        (CqlType("vector", (INT,), dimension=3), pa.list_(pa.field("item", pa.int32()))),
        (CqlType("map", (UUID, INT)), pa.map_(pa.binary(16), pa.int32())),
        (CqlType("tuple", (INT, UUID)), pa.struct([("field_0", pa.int32()), ("field_1", pa.binary(16))])),
        (CqlType("udt", (INT,), ("a",), "ks", "u"), pa.struct([("a", pa.int32())])),
        (CqlType("tuple"), pa.utf8()),
        (CqlType("udt"), pa.utf8()),
    ],
)
def test_compound_types_are_never_pushed_down(type_, arrow):
    field = arrow_field(Column("c", type_, "regular"))
    assert field.type == arrow
    assert field.metadata == {b"cqlite:pushdown": b"none"}


NATIVE_KINDS = {
    "decimal": pa.utf8(),
    "varint": pa.utf8(),
    "duration": pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())]),
    "custom": pa.binary(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_native_types_are_other_ones_for_what_would_lose_something(kind):
    native = arrow_field(Column("c", CqlType(kind), "regular"), NATIVE)
    assert native.type == NATIVE_KINDS.get(kind, KINDS[kind][0])
    assert native.metadata[b"cqlite:pushdown"].decode() == KINDS[kind][1]
    assert native.metadata[b"cql:type"].decode() == str(CqlType(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_or_text_has_texts_for_numbers_and_all_else_as_ever(kind):
    field = arrow_field(Column("c", CqlType(kind), "regular"), TypeMapping(on_unrepresentable="text"))
    assert field.type == (pa.utf8() if kind in ("decimal", "varint") else KINDS[kind][0])
    assert b"cql:type" not in field.metadata


def test_native_fields_inside_of_others_say_what_they_are():
    vector = arrow_type(CqlType("vector", (CqlType("tuple", (UUID,)),), dimension=3), NATIVE)
    assert vector == pa.list_(pa.struct([("field_0", pa.binary(16))]), 3)
    assert vector.value_field.metadata == {b"cql:type": b"frozen<tuple<uuid>>"}
    assert vector.value_type.field(0).metadata == {b"cql:type": b"uuid", b"ARROW:extension:name": b"arrow.uuid"}
    as_map = arrow_type(CqlType("map", (CqlType("timeuuid"), CqlType("varint"))), NATIVE)
    assert as_map == pa.map_(pa.binary(16), pa.utf8())
    assert as_map.key_field.metadata == {b"cql:type": b"timeuuid", b"ARROW:extension:name": b"arrow.uuid"}
    assert not as_map.key_field.nullable
    assert as_map.item_field.metadata == {b"cql:type": b"varint"}


def test_compatible_fields_inside_of_others_say_nothing():
    in_map = arrow_type(CqlType("map", (UUID, CqlType("list", (UUID,)))))
    assert [in_map.key_field.metadata, in_map.item_field.metadata, in_map.item_type.value_field.metadata] == [None] * 3


def test_children_have_the_names_cqlite_gives_them():
    assert arrow_type(CqlType("list", (INT,))).value_field.name == "item"
    as_map = arrow_type(CqlType("map", (INT, INT)))
    assert (as_map.key_field.name, as_map.item_field.name, as_map.keys_sorted) == ("key", "value", False)
    assert (as_map.key_field.nullable, as_map.item_field.nullable) == (False, True)


@given(types())
def test_everything_but_keys_of_maps_is_nullable(type_):
    pending = [arrow_field(Column("c", type_, "regular"))]
    while pending:
        field = pending.pop()
        assert field.nullable
        if pa.types.is_map(field.type):
            pending.append(field.type.item_field)
        elif pa.types.is_nested(field.type):
            pending += [field.type.field(index) for index in range(field.type.num_fields)]


def test_uuid_is_an_extension_type_on_the_wire_with_no_other_metadata():
    schema = pa.schema([arrow_field(Column("u", UUID, "regular")), arrow_field(Column("m", INT, "regular"))])
    assert schema.field("u").metadata == {b"cqlite:pushdown": b"equality", b"ARROW:extension:name": b"arrow.uuid"}
    sent = schema.serialize()
    assert b"ARROW:extension:metadata" not in sent.to_pybytes()
    received = pa.ipc.read_schema(sent)
    assert received.field("u").type == pa.uuid()
    assert received.field("u").metadata == {b"cqlite:pushdown": b"equality"}
    assert received.metadata is None


TABLE = parse_ddl(
    "CREATE TABLE t (z int, ck2 int, b text, pk uuid, ck1 int, a int static, PRIMARY KEY (pk, ck1, ck2))", "ks", "t"
)


def test_columns_are_keys_then_the_rest_in_the_order_of_the_ddl():
    assert arrow_schema(TABLE).names == ["pk", "ck1", "ck2", "z", "b", "a"]


def test_a_projection_is_in_the_order_of_the_schema():
    assert arrow_schema(TABLE, ["a", "ck2", "pk", "a"]).names == ["pk", "ck2", "a"]


def test_unknown_names_are_left_out_as_long_as_one_is_known():
    assert arrow_schema(TABLE, ["nothing", "b"]).names == ["b"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [([], r"no column of ks\.t asked for"), (["B", "x"], r"none of the columns asked for is in ks\.t")],
)
def test_a_projection_without_columns_is_refused(columns, message):
    with pytest.raises(RequestError, match=message):
        projected(TABLE, columns)


def test_columns_that_cql_hides_are_not_in_the_schema():
    compact = parse_ddl("CREATE TABLE t (pk int PRIMARY KEY, v text) WITH COMPACT STORAGE", "ks", "t")
    assert arrow_schema(compact).names == ["pk", "v"]
    with pytest.raises(RequestError):
        projected(compact, ["column1", "value"])
