"""Merging slabs gives what merging whole runs gives, however small slabs and windows are."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reference.cases import CASES, Case
from tests.reference.model import Partition
from tests.reference.ordering import token
from tests.reference.schema import Schema
from tests.reference.streams import NO_CLUSTERING, SCHEMAS, runs
from tests.reference.text import NOW_S, parse_run, schema_of
from tests.stages.merging import LARGE, Sizes, encoded, scanned, shown, without_times

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case.rule) for case in CASES])
def test_rows_are_those_that_cassandra_shows(case: Case, version: str) -> None:
    schema = schema_of_case(case)
    expected = [without_times(row) for row in case.rows]
    for ordered in permutations(case.runs):
        data = [encoded(run, schema, version) for run in ordered]
        for sizes in (LARGE, Sizes(slab_rows=2, window_bytes=7)):
            assert scanned(data, schema, NOW_S, sizes=sizes, version=version, **case.options) == expected


def schema_of_case(case: Case) -> Schema:
    """Its schema; as in CQL, one with static columns has a clustering column, though no row of the runs needs it."""
    schema = case.schema or schema_of(*case.runs)
    return replace(schema, clustering=("text",)) if schema.static and not schema.clustering else schema


SMALL = st.builds(
    Sizes,
    slab_rows=st.sampled_from([2, 3, 5]),
    window_bytes=st.integers(1, 80),
    head_room=st.sampled_from([0, 3, 200]),
)
TABLES = st.sampled_from(SCHEMAS).flatmap(lambda schema: st.tuples(st.just(schema), runs(schema, 4)))


OWN_SHADOW = (NO_CLUSTERING, ["k1: shadow@4 @6", "k1: del@2", "k1: a=x@2"])
"""A shadowable deletion that its own row's liveness has ended takes no part in what other runs say."""
TIED_SHADOW = (NO_CLUSTERING, ["k1: del@4", "k1: shadow@4", "k1: @6", "k1: a=x@2"])


@given(TABLES, SMALL, st.sampled_from(["nb", "oa"]), st.integers(NOW_S - 2, NOW_S + 3), st.booleans())
@example(OWN_SHADOW, LARGE, "nb", NOW_S, False)
@example(TIED_SHADOW, LARGE, "nb", NOW_S, False)
def test_a_scan_of_runs_shows_what_the_reference_shows(
    table: tuple[Schema, list[str]], sizes: Sizes, version: str, now_s: int, has_strict_liveness: bool
) -> None:
    schema, texts = table
    assert_as_the_reference(schema, texts, now_s, sizes, version, has_strict_liveness=has_strict_liveness)


@given(TABLES, SMALL, st.dictionaries(st.sampled_from(["a", "b", "m", "st", "l"]), st.integers(1, 8), min_size=1))
def test_a_scan_with_dropped_columns_shows_what_the_reference_shows(
    table: tuple[Schema, list[str]], sizes: Sizes, dropped_us: dict[str, int]
) -> None:
    schema, texts = table
    dropped_us = {name: time_us for name, time_us in dropped_us.items() if name in schema.regular}
    assert_as_the_reference(schema, texts, NOW_S, sizes, dropped_us=dropped_us)


@pytest.mark.parametrize("partitioner", ["Random", "ByteOrdered", "OrderPreserving", "Local"])
@given(TABLES, SMALL)
def test_partitions_are_in_the_order_of_their_partitioner(
    partitioner: str, table: tuple[Schema, list[str]], sizes: Sizes
) -> None:
    name = f"{partitioner}Partitioner"
    schema, texts = replace(table[0], key="int"), [KEY.sub(lambda key: INT_KEYS[key[0]], text) for text in table[1]]

    def place(partition: Partition) -> tuple[Any, ...]:
        return token(name, partition.key, schema.key_type), partition.key

    parsed = [sorted(parse_run(text, schema), key=place) for text in texts]
    data = [encoded(run, schema) for run in parsed]
    assert scanned(data, schema, sizes=sizes, partitioner=name) == shown(parsed, schema, partitioner=name)


INT_KEYS = {"k1": "-1", "k2": "1", "k3": "-128"}
"""Keys whose order is another by value, as bytes, and as strings: -1 and -128 are not UTF-8."""
KEY = re.compile(r"\bk\d")


def assert_as_the_reference(
    schema: Schema, texts: list[str], now_s: int = NOW_S, sizes: Sizes = LARGE, version: str = "nb", **options: Any
) -> None:
    parsed = [parse_run(text, schema) for text in texts]
    data = [encoded(run, schema, version) for run in parsed]
    assert scanned(data, schema, now_s, sizes=sizes, version=version, **options) == shown(
        parsed, schema, now_s, **options
    )
