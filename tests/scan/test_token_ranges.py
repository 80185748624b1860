from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, PARTITIONERS
from flightsrv.scan.token_ranges import TokenRange, token_ranges, whole_ring

RANDOM_PARTITIONER = PARTITIONERS["org.apache.cassandra.dht.RandomPartitioner"]
LEAST, GREATEST = MURMUR3_PARTITIONER.least_token, MURMUR3_PARTITIONER.greatest_token
WHOLE = TokenRange(LEAST, GREATEST)
TOKENS = st.none() | st.integers(LEAST, GREATEST) | st.sampled_from([LEAST, -1, 0, GREATEST])
KEY_TOKENS = st.integers(LEAST + 1, GREATEST)
"""No key has the least token."""


@pytest.mark.parametrize(
    ("start", "end", "ranges"),
    [
        (None, None, [WHOLE]),
        (5, 5, [WHOLE]),
        (LEAST, LEAST, [WHOLE]),
        (GREATEST, GREATEST, [WHOLE]),
        (LEAST, GREATEST, [WHOLE]),
        (1, 5, [TokenRange(1, 5)]),
        (None, 5, [TokenRange(LEAST, 5)]),
        (5, None, [TokenRange(5, GREATEST)]),
        (5, 1, [TokenRange(LEAST, 1), TokenRange(5, GREATEST)]),
        (5, LEAST, [TokenRange(5, GREATEST)]),
        (GREATEST, 5, [TokenRange(LEAST, 5)]),
        (GREATEST, LEAST, []),
    ],
)
def test_a_range_of_the_ring(start: int | None, end: int | None, ranges: list[TokenRange]) -> None:
    assert token_ranges(start, end) == tuple(ranges)


def test_a_range_of_the_ring_of_random_partitioner() -> None:
    least, greatest = -1, 2**127
    assert token_ranges(5, 1, RANDOM_PARTITIONER) == (
        TokenRange(least, 1, RANDOM_PARTITIONER),
        TokenRange(5, greatest, RANDOM_PARTITIONER),
    )
    assert token_ranges(None, None, RANDOM_PARTITIONER) == (whole_ring(RANDOM_PARTITIONER),)
    assert whole_ring(RANDOM_PARTITIONER).is_whole_ring
    assert not TokenRange(0, greatest, RANDOM_PARTITIONER).is_whole_ring


@given(TOKENS, TOKENS, KEY_TOKENS)
@example(5, 1, 5)
@example(5, 1, 1)
def test_a_token_lies_in_one_of_the_ranges_when_it_lies_on_the_way_from_start_to_end(
    start: int | None, end: int | None, token: int
) -> None:
    after = LEAST if start is None else start
    upto = GREATEST if end is None else end
    on_the_way = after < token <= upto if after < upto else after == upto or token > after or token <= upto
    assert sum(each.after < token <= each.upto for each in token_ranges(start, end)) == on_the_way


@given(TOKENS, TOKENS)
def test_ranges_ascend_and_are_not_empty(start: int | None, end: int | None) -> None:
    bounds = [bound for each in token_ranges(start, end) for bound in (each.after, each.upto)]
    assert all(each.after < each.upto for each in token_ranges(start, end))
    assert bounds == sorted(bounds)
