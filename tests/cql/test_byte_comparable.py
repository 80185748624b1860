"""Byte-comparable forms are Cassandra's, and sort as the values do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.byte_comparable import clustering_form, escaped, token_bound, value_form
from flightsrv.cql.decorated_key import decorated_form, filter_hash, token_form
from flightsrv.cql.marshal import MarshalType, parse_marshal
from flightsrv.cql.ordering import compare, sign_of
from flightsrv.cql.partitioners import MURMUR3_PARTITIONER as MURMUR3
from flightsrv.cql.partitioners import PARTITIONERS, Partitioner, partitioner_of
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from flightsrv.errors import SchemaError
from flightsrv.slab import CLUSTERING, EXCL_START_BOUND, INCL_START_BOUND
from tests.cql.strategies import types, values

RANDOM = PARTITIONERS["org.apache.cassandra.dht.RandomPartitioner"]
BLOB = CqlType("blob")

VECTORS = [line.split("\t") for line in Path(__file__).with_name("byte_comparable.tsv").read_text().splitlines()]
"""What tests/oracle/cassandra/java/ComparableBytes.java of Cassandra 5.0.4 says: what it was asked, then its answer."""


@pytest.mark.parametrize("fields", [each for each in VECTORS if each[0] == "clustering"], ids="|".join)
def test_forms_of_clusterings_are_those_of_cassandra(fields: list[str]) -> None:
    *asked, answer = fields[1:]
    types = [parse_marshal(text) for text in asked[1::2]]
    stored = [None if value == "null" else bytes.fromhex(value) for value in asked[2::2] if value != "missing"]
    assert clustering_form(types, int(asked[0]), stored).hex() == answer


@pytest.mark.parametrize("fields", [each for each in VECTORS if each[0] == "key"], ids="|".join)
def test_forms_of_partition_keys_are_those_of_cassandra(fields: list[str]) -> None:
    partitioner, _, key_type = fields[1].rstrip(")").partition("(")
    partitioner = partitioner.replace("LocalP", "org.apache.cassandra.dht.LocalP")
    form = decorated_form(partitioner_of(partitioner), parse_marshal(key_type).type, bytes.fromhex(fields[2]))
    assert form.hex() == fields[3]


def typed_pairs() -> st.SearchStrategy[tuple[CqlType, bytes, bytes]]:
    def pair(type_: CqlType) -> st.SearchStrategy[tuple[CqlType, bytes, bytes]]:
        stored = values(type_).map(lambda value: encode(type_, value))
        return st.tuples(st.just(type_), stored, stored)

    return types().flatmap(pair)


def form(type_: CqlType, *stored: bytes | None, reverse: bool = False) -> bytes:
    return clustering_form([MarshalType(type_, reverse)] * len(stored), CLUSTERING, stored)


@given(typed_pairs(), st.booleans())
def test_forms_sort_as_values_do(pair: tuple[CqlType, bytes, bytes], reverse: bool) -> None:
    type_, a, b = pair
    order = compare(type_, a, b)
    assert sign_of(form(type_, a, reverse=reverse), form(type_, b, reverse=reverse)) == (-order if reverse else order)


@given(typed_pairs())
def test_no_form_is_the_beginning_of_another(pair: tuple[CqlType, bytes, bytes]) -> None:
    type_, a, b = pair
    assert form(type_, a) == form(type_, b) or not form(type_, b).startswith(form(type_, a))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2))
def test_varints_of_any_size_sort_as_numbers(bases: list[int]) -> None:
    for power in (1, 2, 70):
        a, b = (base**power if power % 2 else abs(base) ** power for base in bases)
        forms = [form(CqlType("varint"), encode(CqlType("varint"), value)) for value in (a, b)]
        assert sign_of(*forms) == sign_of(a, b)


def test_null_comes_first_then_empty_whatever_the_direction() -> None:
    integer = encode(CqlType("int"), -(2**31))
    assert form(CqlType("int"), None) < form(CqlType("int"), b"") < form(CqlType("int"), integer)
    descending = [form(CqlType("int"), value, reverse=True) for value in (None, integer, b"")]
    assert descending == sorted(descending)


def test_bounds_enclose_the_rows_that_start_with_their_values() -> None:
    columns = [MarshalType(CqlType("int")), MarshalType(BLOB)]
    one, two = (value.to_bytes(4) for value in (1, 2))
    rows = [clustering_form(columns, CLUSTERING, [one, value]) for value in (b"", b"\0", b"\xff" * 9)]
    before = clustering_form(columns, INCL_START_BOUND, [one])
    behind = clustering_form(columns, EXCL_START_BOUND, [one])
    assert clustering_form(columns, INCL_START_BOUND, []) < before < min(rows)
    assert max(rows) < behind < clustering_form(columns, CLUSTERING, [two, b""])


@pytest.mark.parametrize("partitioner", [MURMUR3, RANDOM], ids=lambda each: each.class_name)
@given(keys=st.lists(st.binary(min_size=1, max_size=9), min_size=2, max_size=9, unique=True))
def test_keys_sort_by_token_and_bounds_lie_between_tokens(partitioner: Partitioner, keys: list[bytes]) -> None:
    tokens = {key: partitioner.token(key) for key in keys}
    forms = sorted((decorated_form(partitioner, BLOB, key), key) for key in keys)
    assert [key for _, key in forms] == sorted(keys, key=lambda key: (tokens[key], key))
    for token in tokens.values():
        bound = token_bound(token_form(partitioner, token))
        assert [found < bound for found, _ in forms] == [tokens[key] <= token for _, key in forms]


def test_the_hash_of_a_key_is_the_lowest_byte_of_its_second_half() -> None:
    """As in the file that reference manuals show: keys "0" to "4", whose hashes Cassandra wrote."""
    assert [filter_hash(b"%d" % i) for i in range(5)] == [0x09, 0x37, 0xDD, 0x02, 0x2F]


@given(*[st.lists(st.sampled_from([0, 1, 0xFE, 0xFF]), max_size=6).map(bytes)] * 2)
def test_bytes_with_zeros_sort_as_they_did(a: bytes, b: bytes) -> None:
    assert sign_of(escaped(a), escaped(b)) == sign_of(a, b)


@pytest.mark.parametrize("type_", [CqlType("counter"), CqlType("custom", class_name="com.example.Type")], ids=str)
def test_types_without_a_form_are_refused(type_: CqlType) -> None:
    with pytest.raises(SchemaError, match="have no byte-comparable form"):
        value_form(type_, b"x")


@pytest.mark.parametrize(
    ("type_", "data"),
    [("int", b"abc"), ("bigint", b"\0" * 9), ("decimal", b"\0" * 4), ("timeuuid", b"x"), ("float", b"abcde")],
)
def test_bytes_that_are_no_value_are_refused(type_: str, data: bytes) -> None:
    with pytest.raises(ValueError, match="bytes"):
        value_form(CqlType(type_), data)


def test_a_partitioner_that_is_none_of_cassandras_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"com\.example\.Partitioner is none of Cassandra's"):
        decorated_form(partitioner_of("com.example.Partitioner"), BLOB, b"x")


def test_tokens_that_are_no_numbers_have_no_form() -> None:
    with pytest.raises(SchemaError, match=r"tokens of .*ByteOrderedPartitioner are no numbers"):
        token_form(partitioner_of("org.apache.cassandra.dht.ByteOrderedPartitioner"), 0)
