"""Byte-comparable forms of values drawn at random are those that Cassandra makes of them."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flightsrv.cql.byte_comparable import clustering_form
from flightsrv.cql.decorated_key import decorated_form
from flightsrv.cql.marshal import MarshalType
from flightsrv.cql.partitioners import partitioner_of
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from flightsrv.slab import CLUSTERING, EXCL_START_BOUND, INCL_START_BOUND
from tests.cql.strategies import types, values
from tests.cql.test_marshal import marshalled
from tests.oracle.cassandra import jvm
from tests.oracle.cassandra.tools import comparable_bytes_command

pytestmark = pytest.mark.oracle

PARTITIONERS = [f"org.apache.cassandra.dht.{name}Partitioner" for name in ("Murmur3", "Random", "ByteOrdered")]
Column = tuple[CqlType, bytes | None, bool]
"""Type, value, whether it is in descending order."""


def columns() -> st.SearchStrategy[Column]:
    def column(type_: CqlType) -> st.SearchStrategy[Column]:
        stored: st.SearchStrategy[Any] = values(type_).map(lambda value: encode(type_, value)) | st.none()
        if type_.kind != "vector":  # Cassandra has no empty ones
            stored |= st.just(b"")
        return st.tuples(st.just(type_), stored, st.booleans())

    return types().map(CqlType.freeze).flatmap(column)


def answers(lines: list[str]) -> list[str]:
    """What Cassandra says to each line."""
    jvm.fetch()
    asked = "".join(f"{line}\n" for line in lines)
    told = subprocess.run(comparable_bytes_command(), input=asked, capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from([CLUSTERING, INCL_START_BOUND, EXCL_START_BOUND]), columns(), columns())))
def test_clusterings_and_bounds(drawn: list[tuple[int, Column, Column]]) -> None:
    lines, forms = [], []
    for kind, *pair in drawn:
        has_value = [True, kind == CLUSTERING]  # of a bound, the last column has none
        fields = [
            (f"ReversedType({marshalled(type_)})" if reverse else marshalled(type_))
            + ("\tmissing" if not has else "\tnull" if value is None else f"\t{value.hex()}")
            for has, (type_, value, reverse) in zip(has_value, pair, strict=True)
        ]
        lines.append("\t".join(["clustering", str(kind), *fields]))
        marshal = [MarshalType(type_, reverse) for type_, _, reverse in pair]
        stored = [value for has, (_, value, _) in zip(has_value, pair, strict=True) if has]
        forms.append(clustering_form(marshal, kind, stored).hex())
    assert dict(zip(lines, forms, strict=True)) == dict(zip(lines, answers(lines), strict=True))


@settings(max_examples=3, deadline=None)
@given(st.lists(st.binary(min_size=1), min_size=1))
def test_partition_keys(keys: list[bytes]) -> None:
    pairs = [(partitioner, key) for partitioner in PARTITIONERS for key in keys]
    lines = [f"key\t{partitioner}\t{key.hex()}" for partitioner, key in pairs]
    forms = [decorated_form(partitioner_of(partitioner), CqlType("blob"), key).hex() for partitioner, key in pairs]
    assert forms == answers(lines)
