"""The merge's rules, one by one, in every order of the runs."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.reference.cases import CASES, Case
from tests.reference.printing import merged_texts


@pytest.mark.parametrize("case", [pytest.param(case, id=case.rule) for case in CASES])
def test_rows_are_those_that_cassandra_shows(case: Case) -> None:
    for runs in permutations(case.runs):
        assert merged_texts(*runs, schema=case.schema, **case.options) == list(case.rows)


def test_one_version_of_a_row_keeps_elements_as_old_as_their_collections_deletion() -> None:
    """Reading drops what is older, merging also what is as old: Cassandra shows both, depending on the files."""
    assert merged_texts("k: @1 m[]=del@5 m[x]=1@5 m[y]=1@4") == ["k: m[x]=1@5"]
    assert merged_texts("k: @1 m[]=del@5 m[x]=1@5 m[y]=1@4", "k: @1") == ["k:"]


def test_as_if_nothing_had_expired_is_second_0() -> None:
    assert merged_texts("k: a=1@10!1~1", "k: a=del@9", now_s=0) == ["k: a=1@10!1~1"]
