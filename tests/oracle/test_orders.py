"""Kernels compare values as Cassandra's own classes do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from flightsrv.cql.marshal import SIMPLE_CLASSES, parse_marshal
from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.cql.values import decode, encode
from tests.cql.strategies import SIMPLE, types, values
from tests.kernels.test_compounds import ASCENDING, damaged
from tests.kernels.test_order import kernel_order
from tests.oracle.cassandra import jvm
from tests.oracle.cassandra.orders import ValueOrder

pytestmark = pytest.mark.oracle

CLASSES = {kind: name for name, kind in SIMPLE_CLASSES.items() if name not in ("DateType", "LexicalUUIDType")}
CLASSES["timeuuid"] = "TimeUUIDType"
COMPOUND = {"list": "ListType", "set": "SetType", "map": "MapType", "tuple": "TupleType"}
FEW = SIMPLE | {
    "int": st.integers(-2, 2),
    "text": st.sampled_from(["", "a", "aa", "b"]),
    "varint": st.integers(-200, 200),
    "boolean": st.booleans(),
}
"""Some kinds have so few values that two are often equal, or begin alike."""


@pytest.fixture(scope="module")
def order() -> Iterator[ValueOrder]:
    try:
        jvm.fetch()
    except jvm.KitError as error:
        pytest.fail(f"the oracle cannot be asked: {error}", pytrace=False)
    with ValueOrder() as started:
        yield started


def class_name(type_: CqlType) -> str:
    """A type as TypeParser reads it."""
    arguments = ",".join(map(class_name, type_.arguments))
    match type_.kind:
        case "udt":
            fields = zip(type_.field_names, map(class_name, type_.arguments), strict=True)
            return f"UserType(ks,75{''.join(f',{name.encode().hex()}:{field}' for name, field in fields)})"
        case "vector":
            return f"VectorType({arguments},{type_.dimension})"
        case kind if kind in COMPOUND:
            return f"FrozenType({COMPOUND[kind]}({arguments}))"
        case _:
            return CLASSES[type_.kind]


@st.composite
def comparisons(draw: DrawFn) -> tuple[str, bytes, bytes]:
    type_ = draw(types(FEW))
    two = [encode(type_, draw(values(type_, FEW))) for _ in range(2)]
    if draw(st.booleans()):
        two[1] = draw(damaged(two[draw(st.integers(0, 1))]))
    return class_name(type_), two[0], two[1]


@st.composite
def composite_comparisons(draw: DrawFn) -> tuple[str, bytes, bytes]:
    """Of a CompositeType: prefixes, static names and bounds, as tables from Thrift have them."""
    components = draw(st.lists(types(FEW), min_size=1, max_size=3))
    names = [f"ReversedType({class_name(each)})" if draw(st.booleans()) else class_name(each) for each in components]
    return f"CompositeType({','.join(names)})", draw(composites(components)), draw(composites(components))


@st.composite
def composites(draw: DrawFn, components: list[CqlType]) -> bytes:
    value = draw(st.sampled_from([b"", b"", b"\xff\xff"]))
    for component in components[: draw(st.integers(0, len(components)))]:
        part = encode(component, draw(values(component, FEW)))[:65535]
        value += len(part).to_bytes(2, "big") + part + draw(st.sampled_from([b"\0", b"\0", b"\0", b"\1", b"\xff"]))
    return value


@st.composite
def dynamic_comparisons(draw: DrawFn) -> tuple[str, bytes, bytes]:
    """Of a DynamicCompositeType: components by alias, or by the name of their class."""
    aliased = draw(st.dictionaries(st.sampled_from("abS"), types(FEW), min_size=1, max_size=3))
    names = {letter: class_name(type_) for letter, type_ in aliased.items()}
    reverse = draw(st.sets(st.sampled_from(sorted(aliased))))
    arguments = (
        f"{letter}=>{f'ReversedType({name})' if letter in reverse else name}" for letter, name in names.items()
    )
    two = [draw(st.lists(dynamic_components(aliased), max_size=3).map(b"".join)) for _ in range(2)]
    return f"DynamicCompositeType({','.join(arguments)})", two[0], two[1]


@st.composite
def dynamic_components(draw: DrawFn, aliased: dict[str, CqlType]) -> bytes:
    letter = draw(st.sampled_from(sorted(aliased)))
    type_, head = aliased[letter], (0x8000 | ord(letter)).to_bytes(2, "big")
    if draw(st.booleans()):
        type_ = CqlType(draw(st.sampled_from(["int", "text", "timeuuid"])))
        name = draw(st.sampled_from(["", MARSHAL_PACKAGE])) + class_name(type_)
        head = len(name).to_bytes(2, "big") + name.encode()
    value = encode(type_, draw(values(type_, FEW)))[:65535]
    return head + len(value).to_bytes(2, "big") + value + draw(st.sampled_from([b"\0", b"\0", b"\1", b"\xff"]))


PARTITIONER_CLASSES = [f"org.apache.cassandra.dht.{name}Partitioner" for name in ("Murmur3", "Random")]


@st.composite
def key_comparisons(draw: DrawFn) -> tuple[str, bytes, bytes]:
    """Of partition keys, as clusterings of secondary indexes."""
    a, b = draw(st.binary(max_size=70)), draw(st.binary(max_size=70))
    return f"PartitionerDefinedOrder({draw(st.sampled_from(PARTITIONER_CLASSES))})", a, b


@settings(max_examples=300)
@given(comparisons() | composite_comparisons() | dynamic_comparisons() | key_comparisons())
def test_values_compare_as_in_cassandra(order: ValueOrder, drawn: tuple[str, bytes, bytes]) -> None:
    """Of bytes that are no value, or that Cassandra refuses, any order will do."""
    name, a, b = drawn
    type_ = parse_marshal(name).type
    wanted, found = order.compare(name, a, b), kernel_order(type_, a, b)
    assert wanted is None or found == wanted or not (is_value(type_, a) and is_value(type_, b))


@pytest.mark.parametrize("name", ASCENDING)
def test_what_is_ascending_is_so_in_cassandra(order: ValueOrder, name: str) -> None:
    stored = [bytes.fromhex(each) for each in ASCENDING[name]]
    for (i, a), (j, b) in product(enumerate(stored), repeat=2):
        assert order.compare(name, a, b) in (None, (i > j) - (i < j)), (a.hex(), b.hex())


def is_value(type_: CqlType, data: bytes) -> bool:
    try:
        decode(type_, data)
    except ValueError:
        return False
    return True
