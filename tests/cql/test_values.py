from __future__ import annotations

import decimal
import ipaddress
import math
import uuid

import pytest
from cassandra import cqltypes
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY, decode, encode
from tests.cql.strategies import SIMPLE, same, typed_values, types

INT, TEXT = CqlType("int"), CqlType("text")


@given(typed_values())
def test_decode_undoes_encode(typed_value):
    type_, value = typed_value
    assert same(decode(type_, encode(type_, value)), value)


@given(types(), st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_value_error(type_, data):
    try:
        value = decode(type_, data)
    except ValueError as error:
        assert str(type_) in str(error)  # noqa: PT017
    else:
        assert value is EMPTY or same(decode(type_, encode(type_, value)), value)


@pytest.mark.parametrize(
    ("kind", "data", "value"),
    [
        ("boolean", "00", False),
        ("boolean", "01", True),
        ("boolean", "ff", True),
        ("tinyint", "80", -128),
        ("smallint", "7fff", 32767),
        ("int", "ffffffff", -1),
        ("bigint", "8000000000000000", -(1 << 63)),
        ("counter", "0000000000000005", 5),
        ("varint", "0080", 128),
        ("varint", "80", -128),
        ("varint", "000000ff", 255),
        ("decimal", "00000002 0064", decimal.Decimal("1.00")),
        ("decimal", "fffffffd 05", decimal.Decimal("5E+3")),
        ("date", "80000000", 0),
        ("date", "7fffffff", -1),
        ("time", "000000000000000a", 10),
        ("timestamp", "ffffffffffffffff", -1),
        ("duration", "02 04 06", (1, 2, 3)),
        ("duration", "01 03 05", (-1, -2, -3)),
        ("inet", "7f000001", ipaddress.ip_address("127.0.0.1")),
        ("inet", "00000000000000000000000000000001", ipaddress.ip_address("::1")),
        ("uuid", "123e4567e89b42d3a456426614174000", uuid.UUID("123e4567-e89b-42d3-a456-426614174000")),
        ("float", "80000000", -0.0),
        ("double", "7ff0000000000000", math.inf),
        ("text", "c3bc", "ü"),
        ("text", "", ""),
        ("blob", "", b""),
        ("empty", "", EMPTY),
    ],
)
def test_bytes_of_simple_values(kind, data, value):
    assert same(decode(CqlType(kind), bytes.fromhex(data)), value)


@pytest.mark.parametrize("kind", sorted(set(SIMPLE) - {"ascii", "text", "blob"}))
def test_no_bytes_are_an_empty_value_of_types_that_have_none_in_cql(kind):
    assert decode(CqlType(kind), b"") is EMPTY
    assert encode(CqlType(kind), EMPTY) == b""


@pytest.mark.parametrize(
    ("type_", "data", "value"),
    [
        (CqlType("list", (INT,)), "00000002 00000004 00000001 ffffffff", [1, None]),
        (CqlType("list", (INT,)), "00000001 00000000", [EMPTY]),
        (CqlType("map", (TEXT, INT)), "00000001 00000001 61 00000004 00000007", [("a", 7)]),
        (CqlType("tuple", (INT, TEXT)), "00000004 00000001", (1, None)),
        (CqlType("tuple", (INT, TEXT)), "", (None, None)),
        (CqlType("tuple", (INT, TEXT)), "ffffffff 00000000", (None, "")),
        (CqlType("udt", (INT, TEXT), ("a", "b")), "00000004 00000001", {"a": 1, "b": None}),
        (CqlType("vector", (CqlType("float"),), dimension=2), "3f800000 40000000", [1.0, 2.0]),
        (CqlType("vector", (TEXT,), dimension=2), "01 61 02 6262", ["a", "bb"]),
        (CqlType("vector", (CqlType("tinyint"),), dimension=2), "01 05 01 06", [5, 6]),
        (CqlType("custom", class_name="X"), "00ff", b"\x00\xff"),
    ],
)
def test_bytes_of_compound_values(type_, data, value):
    assert decode(type_, bytes.fromhex(data)) == value


@pytest.mark.parametrize(
    ("type_", "data", "why"),
    [
        (INT, "000000", "3 bytes instead of 4"),
        (CqlType("ascii"), "c3bc", "can't decode"),
        (TEXT, "ff", "can't decode"),
        (CqlType("inet"), "000102", "does not appear to be"),
        (CqlType("decimal"), "00000000", "a decimal of 4 bytes"),
        (CqlType("duration"), "0204", "no bytes left"),
        (CqlType("duration"), "02040600", "1 bytes after the nanoseconds"),
        (CqlType("empty"), "00", "1 bytes instead of none"),
        (CqlType("list", (INT,)), "7fffffff", "a collection of 2147483647 elements in 4 bytes"),
        (CqlType("list", (INT,)), "ffffffff", "a collection of -1 elements in 4 bytes"),
        (CqlType("list", (INT,)), "00000001 00000005 00000001", "length 5 at byte 4, 4 bytes left"),
        (CqlType("list", (INT,)), "00000001 00000001 01", "not a value of type int: 1 bytes instead of 4"),
        (CqlType("list", (INT,)), "00000000 00", "1 bytes after the last element"),
        (CqlType("tuple", (INT,)), "ffffffff ffffffff", "4 bytes after the last of 1 fields"),
        (CqlType("vector", (INT,), dimension=2), "00000001", "an element of 4 bytes at byte 4"),
        (CqlType("vector", (INT,), dimension=1), "0000000100", "1 bytes after the last of 1 elements"),
    ],
)
def test_malformed_bytes_are_a_value_error(type_, data, why):
    with pytest.raises(ValueError, match=why):
        decode(type_, bytes.fromhex(data))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT, 1 << 31),
        (INT, "1"),
        (TEXT, 1),
        (CqlType("empty"), 0),
        (CqlType("decimal"), decimal.Decimal("NaN")),
        (CqlType("vector", (INT,), dimension=2), [1]),
        (CqlType("tuple", (INT,)), (1, 2)),
        (CqlType("udt", (INT,), ("a",)), {"b": 1}),
        (CqlType("set", (INT,)), [None]),
        (CqlType("map", (INT, INT)), [(None, 1)]),
    ],
)
def test_what_is_no_value_of_the_type_is_a_value_error(type_, value):
    with pytest.raises(ValueError, match="not a value of type"):
        encode(type_, value)


def test_sets_and_maps_are_stored_in_the_order_of_their_keys():
    assert decode(CqlType("set", (INT,)), encode(CqlType("set", (INT,)), [3, -1, 3, 2])) == [-1, 2, 3]
    assert decode(CqlType("map", (INT, TEXT)), encode(CqlType("map", (INT, TEXT)), {3: "c", -1: "a"})) == [
        (-1, "a"),
        (3, "c"),
    ]


DRIVER_TYPES = {"text": cqltypes.UTF8Type, "blob": cqltypes.BytesType, "bigint": cqltypes.LongType} | {
    "int": cqltypes.Int32Type,
    "smallint": cqltypes.ShortType,
    "tinyint": cqltypes.ByteType,
    "varint": cqltypes.IntegerType,
    "decimal": cqltypes.DecimalType,
    "float": cqltypes.FloatType,
    "double": cqltypes.DoubleType,
    "boolean": cqltypes.BooleanType,
    "ascii": cqltypes.AsciiType,
    "uuid": cqltypes.UUIDType,
    "timeuuid": cqltypes.TimeUUIDType,
    "duration": cqltypes.DurationType,
    "inet": cqltypes.InetAddressType,
}


def driver_type(type_: CqlType):
    arguments = [driver_type(argument) for argument in type_.arguments]
    match type_.kind:
        case "list":
            return cqltypes.ListType.apply_parameters(arguments)
        case "set":
            return cqltypes.SetType.apply_parameters(arguments)
        case "map":
            return cqltypes.MapType.apply_parameters(arguments)
        case "tuple":
            return cqltypes.TupleType.apply_parameters(arguments)
        case "udt":
            names = tuple(f"f{index}" for index in range(len(arguments)))
            return cqltypes.UserType.make_udt_class("ks", "u", names, tuple(arguments))
        case "vector":
            return cqltypes.VectorType.apply_parameters([arguments[0], type_.dimension], None)
        case _:
            return DRIVER_TYPES[type_.kind]


def as_driver_value(type_: CqlType, value):
    """Our form of a value as the driver takes it."""
    if value is None:
        return None
    arguments = type_.arguments
    match type_.kind:
        case "list" | "set" | "vector":
            return [as_driver_value(arguments[0], element) for element in value]
        case "map":
            return PairsAsMapping(
                (as_driver_value(arguments[0], key), as_driver_value(arguments[1], item)) for key, item in value
            )
        case "tuple":
            return tuple(as_driver_value(*pair) for pair in zip(arguments, value, strict=True))
        case "udt":
            return tuple(as_driver_value(*pair) for pair in zip(arguments, value.values(), strict=True))
        case "duration":
            return cqltypes.util.Duration(*value)
        case "inet":
            return str(value)
        case _:
            return value


class PairsAsMapping(list):
    """A map for the driver, whose keys need not be hashable."""

    def items(self):
        return iter(self)


@given(typed_values(DRIVER_TYPES))
def test_the_driver_writes_the_same_bytes(typed_value):
    type_, value = typed_value
    assert driver_type(type_).serialize(as_driver_value(type_, value), 5) == encode(type_, value)
