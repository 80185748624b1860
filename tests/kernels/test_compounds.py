"""Values that hold others sort as cql.ordering says, which spells out Cassandra's order in plain Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from flightsrv.cql.comparators import comparators_of
from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from flightsrv.kernels.compounds import compare_values
from flightsrv.kernels.scalars import UNKNOWN_CLASS
from tests.cql.strategies import types, values
from tests.kernels.guarded import Guarded
from tests.kernels.test_order import kernel_order, plain_order

pytestmark = pytest.mark.kernel

FEW: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-2, 2),
    "text": st.sampled_from(["", "a", "aa", "b"]),
    "varint": st.integers(-200, 200),
}
"""So few that two values are often equal, or begin alike."""
COMPOUND_TYPES = types(FEW).filter(lambda type_: type_.arguments)


@st.composite
def two_values(draw: DrawFn) -> tuple[CqlType, bytes, bytes]:
    type_ = draw(COMPOUND_TYPES)
    a, b = (encode(type_, draw(values(type_, FEW))) for _ in range(2))
    return type_, a, b


@given(two_values())
def test_values_sort_as_plain_python_sorts_them(drawn: tuple[CqlType, bytes, bytes]) -> None:
    type_, a, b = drawn
    assert kernel_order(type_, a, b) == plain_order(type_, a, b)
    assert kernel_order(type_, a, a) == 0


NULL = "ffffffff"
ASCENDING = {
    "ListType(Int32Type)": ["", "00000000", f"00000001{NULL}", "0000000100000000", "0000000100000004ffffffff",
                            "000000010000000400000000", "00000002000000040000000000000000"],
    "SetType(UTF8Type)": ["00000000", "0000000100000000", "000000010000000161", "00000002000000016100000000"],
    "MapType(Int32Type,UTF8Type)": ["00000000", "00000001000000040000000100000000",
                                    "00000001000000040000000100000001 61", "0000000100000004 00000002 00000000"],
    "TupleType(Int32Type,UTF8Type)": [NULL, f"{NULL}00000000", "00000000", "00000004ffffffff",
                                      "00000004ffffffff 00000000", "00000004ffffffff 00000001 61", "0000000400000000"],
    "VectorType(Int32Type,2)": ["", "ffffffff00000001", "00000000ffffffff", "0000000000000000", "0000000100000000"],
    "VectorType(IntegerType,2)": ["00 0100", "01ff 00", "01ff 0100", "0100 01ff", "0100 020080"],
    "CompositeType(Int32Type,UTF8Type)": ["ffff", "ffff 0004 00000009 00", "0004 ffffffff 00", "0004 00000000 ff",
                                          "0004 00000000 00", "0004 00000000 00 0000 00", "0004 00000000 00 0001 61 00",
                                          "0004 00000000 01"],
    "CompositeType(ReversedType(Int32Type),UTF8Type)": ["0004 00000001 00", "0004 00000000 00 0001 61 00",
                                                        "0004 00000000 00 0001 62 00", "0004 ffffffff 00", "0000 00"],
    "DynamicCompositeType(s=>UTF8Type,i=>Int32Type,r=>ReversedType(Int32Type))": [
        "8069 0004 ffffffff 00", "8069 0004 00000000 00", "0009 496e74333254797065 0004 00000000 01",
        "8072 0004 00000000 00", "8072 0004 ffffffff 00", "8073 0001 61 00", "8073 0001 61 00 8069 0004 00000000 00",
        f"0028 {b'org.apache.cassandra.db.marshal.UTF8Type'.hex()} 0001 62 00"],
    "PartitionerDefinedOrder(org.apache.cassandra.dht.Murmur3Partitioner:Int32Type)": ["", "61", "63", "62"],
    "PartitionerDefinedOrder(org.apache.cassandra.dht.RandomPartitioner)": ["", "61", "63", "62"],
    "ListType(FrozenType(TupleType(Int32Type,FrozenType(SetType(Int32Type)))))": [
        "00000001 00000000", f"00000001 00000004 {NULL}", "00000001 00000008 00000004 00000001",
        "00000001 00000010 00000004 00000001 00000004 00000000",
        "00000001 00000018 00000004 00000001 0000000c 00000001 00000004 00000007",
        "00000001 00000008 00000004 00000002"],
}  # fmt: skip
"""Of each type, as Cassandra 5.0's classes order them; where those take no null or empty value, those come first."""


@pytest.mark.parametrize("name", ASCENDING)
def test_values_are_in_the_order_of_cassandra(name: str) -> None:
    type_ = parse_marshal(name).type
    stored = [bytes.fromhex(each) for each in ASCENDING[name]]
    for (i, a), (j, b) in product(enumerate(stored), repeat=2):
        assert kernel_order(type_, a, b) == (i > j) - (i < j), (a.hex(), b.hex())


def test_fields_that_are_missing_are_as_null() -> None:
    type_ = parse_marshal("TupleType(Int32Type,UTF8Type,UTF8Type)").type
    one, null = bytes.fromhex("00000004 00000001"), bytes.fromhex(NULL)
    for a, b in product([one, one + null, one + 2 * null], repeat=2):
        assert kernel_order(type_, a, b) == 0


@pytest.mark.parametrize(
    ("name", "malformed"),
    [
        ("ListType(Int32Type)", "000000"),
        ("ListType(Int32Type)", "7fffffff 00000004 00000001"),
        ("ListType(Int32Type)", "00000001 00000005 00000001"),
        ("MapType(Int32Type,Int32Type)", "00000001 00000000"),
        ("TupleType(Int32Type)", "00000000 00000000"),
        ("TupleType(Int32Type)", "000000"),
        ("VectorType(Int32Type,2)", "00000001 000000"),
        ("VectorType(IntegerType,2)", "0101 0f"),
        ("VectorType(IntegerType,2)", "ffffffffffffffffff"),
        ("CompositeType(Int32Type)", "0004 00000001"),
        ("CompositeType(Int32Type)", "0004 00000001 00 0000 00"),
        ("DynamicCompositeType(i=>Int32Type)", "806a 0004 00000001 00"),
        ("DynamicCompositeType(i=>Int32Type)", "0009 496e7433"),
        ("DynamicCompositeType(i=>Int32Type)", "80"),
        ("DynamicCompositeType", "8069 0004 00000001 00"),
    ],
)
def test_values_that_are_not_as_their_type_has_them_sort_by_bytes(name: str, malformed: str) -> None:
    type_ = parse_marshal(name).type
    value = bytes.fromhex(malformed)
    assert kernel_order(type_, value, value) == 0
    assert kernel_order(type_, value, value + b"\xff") == -1


def test_a_component_of_a_class_that_is_not_known_is_not_decided() -> None:
    type_ = parse_marshal("DynamicCompositeType(i=>Int32Type)").type
    (comparator,), orders = comparators_of([type_])
    value = bytes.fromhex(f"000f {b'com.example.Own'.hex()} 0001 61 00")
    compare_values(comparator, GUARDED_A.place(value), len(value), GUARDED_B.place(value), len(value), orders)
    assert orders.undecided[0] == UNKNOWN_CLASS


@st.composite
def damaged(draw: DrawFn, value: bytes) -> bytes:
    """Some byte is another, or some are missing or too many."""
    at = draw(st.integers(0, len(value)))
    rest = at + draw(st.integers(0, 4))
    return (
        value[:at]
        + draw(st.sampled_from([b"", b"\0", b"\1", b"\xff", b"\x7f\xff", b"\xff\xff\xff\xff"]))
        + value[rest:]
    )


@st.composite
def two_ascending(draw: DrawFn) -> tuple[CqlType, bytes, bytes]:
    name = draw(st.sampled_from(sorted(ASCENDING)))
    a, b = (bytes.fromhex(draw(st.sampled_from(ASCENDING[name]))) for _ in range(2))
    return parse_marshal(name).type, a, b


@given(two_values() | two_ascending(), st.data())
def test_nothing_is_read_behind_a_value(drawn: tuple[CqlType, bytes, bytes], data: st.DataObject) -> None:
    type_, a, b = drawn[0], *(data.draw(damaged(value)) for value in drawn[1:])
    (comparator,), orders = comparators_of([type_])
    order = compare_values(comparator, GUARDED_A.place(a), len(a), GUARDED_B.place(b), len(b), orders)
    turned = compare_values(comparator, GUARDED_B.place(b), len(b), GUARDED_A.place(a), len(a), orders)
    assert np.sign(order) == -np.sign(turned)


GUARDED_A, GUARDED_B = Guarded(), Guarded()
