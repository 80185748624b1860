from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.marshal import (
    ARGUMENT_PARSERS,
    MAX_DIMENSION,
    MAX_TYPE_DEPTH,
    SIMPLE_CLASSES,
    misspelt,
    parse_marshal,
)
from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.errors import SchemaError
from tests.cql.strategies import types

CLASS_OF = {kind: name for name, kind in SIMPLE_CLASSES.items() if name not in ("DateType", "LexicalUUIDType")}


def marshalled(type_: CqlType, *, inside_frozen: bool = False) -> str:
    """A type as Cassandra's toString writes it."""
    inside = inside_frozen or type_.frozen
    arguments = [marshalled(argument, inside_frozen=inside) for argument in type_.arguments]
    match type_.kind:
        case "list" | "set" | "map" | "tuple":
            text = f"{MARSHAL_PACKAGE}{type_.kind.capitalize()}Type({','.join(arguments)})"
        case "vector":
            text = f"{MARSHAL_PACKAGE}VectorType({arguments[0]} , {type_.dimension})"
        case "udt":
            fields = zip(type_.field_names, arguments, strict=True)
            named = [f"{name.encode().hex()}:{argument}" for name, argument in fields]
            text = f"{MARSHAL_PACKAGE}UserType({','.join([type_.keyspace, type_.name.encode().hex(), *named])})"
        case _:
            return MARSHAL_PACKAGE + CLASS_OF[type_.kind]
    shows_frozen = type_.frozen and type_.kind != "tuple" and not inside_frozen
    return f"{MARSHAL_PACKAGE}FrozenType({text})" if shows_frozen else text


@given(types(), st.booleans())
def test_parsing_undoes_to_string(type_, frozen):
    type_ = type_.freeze() if frozen else type_
    assert parse_marshal(marshalled(type_)).type == type_


@pytest.mark.parametrize(("name", "kind"), SIMPLE_CLASSES.items())
def test_a_class_may_go_without_its_package(name, kind):
    assert parse_marshal(name).type.kind == kind
    assert parse_marshal(MARSHAL_PACKAGE + name) == parse_marshal(name)


def test_an_empty_text_is_blob():
    assert parse_marshal("").type == CqlType("blob")


def test_blanks_may_stand_between_tokens():
    assert parse_marshal(" MapType ( Int32Type\t,\nUTF8Type ) ") == parse_marshal("MapType(Int32Type,UTF8Type)")


def test_reversed_is_told_apart_from_the_type():
    parsed = parse_marshal("ReversedType(TimestampType)")
    assert (parsed.type, parsed.reversed) == (CqlType("timestamp"), True)


def test_date_type_and_lexical_uuid_type_keep_their_names_because_they_sort_otherwise():
    assert parse_marshal("DateType").type == CqlType("timestamp", class_name="DateType")
    assert parse_marshal("LexicalUUIDType").type == CqlType("uuid", class_name="LexicalUUIDType")
    assert parse_marshal("TimestampType").type == CqlType("timestamp")


def test_a_composite_tells_the_columns_of_the_key():
    parsed = parse_marshal("CompositeType(Int32Type,UTF8Type)")
    assert parsed.key_types == (CqlType("int"), CqlType("text"))
    assert parsed.type == CqlType("custom", class_name="CompositeType(Int32Type,UTF8Type)")
    assert parse_marshal("Int32Type").key_types == (CqlType("int"),)


def test_a_partition_key_cannot_be_reversed():
    with pytest.raises(SchemaError, match="cannot be in descending order"):
        _ = parse_marshal("ReversedType(Int32Type)").key_types


@pytest.mark.parametrize(
    "text",
    [
        "com.example.Special",
        "DynamicCompositeType(a=>BytesType,b=>Int32Type)",
        "PartitionerDefinedOrder(org.apache.cassandra.dht.Murmur3Partitioner:Int32Type)",
        "ColumnToCollectionType(6162:ListType(Int32Type))",
    ],
)
def test_a_class_this_reader_does_not_know_is_custom_with_its_whole_text(text):
    assert parse_marshal(text).type == CqlType("custom", class_name=text)
    assert parse_marshal(f"ListType({text})").type.arguments == (CqlType("custom", class_name=text),)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Int32Type)", "the end expected at character 9"),
        ("ListType", "'(' expected at character 8"),
        ("ListType(", "a class name expected at character 9"),
        ("ListType()", "a class name expected at character 9"),
        ("ListType(Int32Type,Int32Type)", "1 arguments of a list, not 2, expected at character 28"),
        ("com.example.X(", "')' expected at character 14"),
        ("Int32Type(BytesType)", "')' expected at character 10"),
        ("UserType(ks,zz)", "a type's name as hex of UTF-8 expected at character 14"),
        ("UserType(ks,61,62:Int32Type,62:Int32Type)", "no second field 'b' expected at character 31"),
        ("VectorType(FloatType)", "',' expected at character 20"),
        ("VectorType(FloatType,0)", f"a dimension from 1 to {MAX_DIMENSION}, not 0, expected at character 22"),
        ("ListType(ReversedType(Int32Type))", "a type that is not reversed, before what is expected at character 32"),
    ],
)
def test_a_bad_text_is_an_error_that_names_the_place(text, place):
    with pytest.raises(SchemaError) as caught:
        parse_marshal(text)
    assert str(caught.value) == f"type {text!r}: {place}"


@pytest.mark.parametrize("name", [*SIMPLE_CLASSES, *ARGUMENT_PARSERS])
def test_a_class_with_one_bit_changed_is_none_that_has_a_meaning(name):
    """No two classes of Cassandra's are a bit apart; one such a bit away is known for what it was."""
    whole = (MARSHAL_PACKAGE + name).encode()
    assert misspelt(whole.decode()) is None
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        if damaged.isascii() and b"(" not in damaged:  # else no text at all, or parentheses that do not match
            assert misspelt(damaged.decode() + "(x)") == name


@pytest.mark.parametrize("name", ["com.example.UTF8Type", "UTF8Type", "", "UTF9Type", MARSHAL_PACKAGE + "UTF7Type"])
def test_other_classes_are_what_they_are(name):
    assert misspelt(name) is None


def test_a_vector_is_no_larger_than_a_value_may_be():
    assert parse_marshal("VectorType(VectorType(LongType,65536),512)").type.fixed_size == 1 << 28
    with pytest.raises(SchemaError, match="a vector of at most 268435456 bytes, not 268959744, expected"):
        parse_marshal("VectorType(VectorType(LongType,65536),513)")


@given(st.text("ListMapTuple()., :=>6a1Int32FrozenReversedType", max_size=60))
def test_any_text_is_a_type_or_a_schema_error(text):
    with contextlib.suppress(SchemaError):
        parse_marshal(text)


def test_nesting_has_a_limit():
    with pytest.raises(SchemaError, match=f"nested deeper than {MAX_TYPE_DEPTH}"):
        parse_marshal("ListType(" * (MAX_TYPE_DEPTH + 1) + "Int32Type" + ")" * (MAX_TYPE_DEPTH + 1))
    deepest = parse_marshal("ListType(" * MAX_TYPE_DEPTH + "Int32Type" + ")" * MAX_TYPE_DEPTH)
    assert str(deepest.type).count("list") == MAX_TYPE_DEPTH
