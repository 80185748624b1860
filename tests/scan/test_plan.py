from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.arrow.types import COMPATIBLE, NATIVE
from flightsrv.cql.ddl import parse_ddl
from flightsrv.errors import RequestError, UnsupportedRequestError
from flightsrv.kernels.scalars import BYTES, SCALARS, SIGNED
from flightsrv.scan.plan import RANDOM, Plan, TokenRange, plan_scan, token_ranges
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.runs import GREATEST_TOKEN, LEAST_TOKEN, MURMUR3

WHOLE = TokenRange(LEAST_TOKEN, GREATEST_TOKEN)
TOKENS = st.none() | st.integers(LEAST_TOKEN, GREATEST_TOKEN) | st.sampled_from([LEAST_TOKEN, -1, 0, GREATEST_TOKEN])
KEY_TOKENS = st.integers(LEAST_TOKEN + 1, GREATEST_TOKEN)
"""No key has the least token."""


def table(columns: str, key: str = "k") -> Any:
    return parse_ddl(f"CREATE TABLE ks.t ({columns}, PRIMARY KEY ({key}))", "ks", "t")


def sstables(*partitioners: str) -> tuple[Any, ...]:
    header = SimpleNamespace(min_timestamp_us=0, min_local_deletion_time_s=0, min_ttl_s=0, static_columns=())
    descriptor = SimpleNamespace(version=SimpleNamespace(has_uint_deletion_time=True))
    statistics = [SimpleNamespace(partitioner=each, header=header) for each in partitioners]
    return tuple(SimpleNamespace(descriptor=descriptor, statistics=each) for each in statistics)


def planned(definition: str, key: str = "k", files: tuple[Any, ...] = sstables(MURMUR3), **request: Any) -> Plan:
    return plan_scan(table(definition, key), files, ScanRequest("ks", "t", **request))


@pytest.mark.parametrize(
    ("start", "end", "ranges"),
    [
        (None, None, [WHOLE]),
        (5, 5, [WHOLE]),
        (LEAST_TOKEN, LEAST_TOKEN, [WHOLE]),
        (GREATEST_TOKEN, GREATEST_TOKEN, [WHOLE]),
        (LEAST_TOKEN, GREATEST_TOKEN, [WHOLE]),
        (1, 5, [TokenRange(1, 5)]),
        (None, 5, [TokenRange(LEAST_TOKEN, 5)]),
        (5, None, [TokenRange(5, GREATEST_TOKEN)]),
        (5, 1, [TokenRange(LEAST_TOKEN, 1), TokenRange(5, GREATEST_TOKEN)]),
        (5, LEAST_TOKEN, [TokenRange(5, GREATEST_TOKEN)]),
        (GREATEST_TOKEN, 5, [TokenRange(LEAST_TOKEN, 5)]),
        (GREATEST_TOKEN, LEAST_TOKEN, []),
    ],
)
def test_a_range_of_the_ring(start: int | None, end: int | None, ranges: list[TokenRange]) -> None:
    assert token_ranges(start, end) == tuple(ranges)


@given(TOKENS, TOKENS, KEY_TOKENS)
@example(5, 1, 5)
@example(5, 1, 1)
def test_a_token_lies_in_one_of_the_ranges_when_it_lies_on_the_way_from_start_to_end(
    start: int | None, end: int | None, token: int
) -> None:
    after = LEAST_TOKEN if start is None else start
    upto = GREATEST_TOKEN if end is None else end
    on_the_way = after < token <= upto if after < upto else after == upto or token > after or token <= upto
    assert sum(each.after < token <= each.upto for each in token_ranges(start, end)) == on_the_way


@given(TOKENS, TOKENS)
def test_ranges_ascend_and_are_not_empty(start: int | None, end: int | None) -> None:
    bounds = [bound for each in token_ranges(start, end) for bound in (each.after, each.upto)]
    assert all(each.after < each.upto for each in token_ranges(start, end))
    assert bounds == sorted(bounds)


def test_outputs_are_the_schemas_columns_as_values_of_a_selection() -> None:
    plan = planned("k text, c int, s int static, b int, a int", "k, c")
    places = {each.column.name: (each.value, each.component) for each in plan.outputs}
    assert places == {"k": (0, -1), "c": (1, -1), "s": (2, -1), "a": (3, -1), "b": (4, -1)}
    assert [each.column.name for each in plan.outputs] == plan.schema.names


def test_columns_of_a_composite_key_are_its_components() -> None:
    plan = planned("k int, l int, c int, v int", "(k, l), c", columns=("l", "v"))
    assert [(each.column.name, each.value, each.component) for each in plan.outputs] == [("l", 0, 1), ("v", 2, -1)]


def test_rules_say_how_the_table_merges() -> None:
    plan = planned("k text, c int, d text, v int", "k, c, d", now_s=77)
    assert plan.rules.comparators.tolist() == [SIGNED, BYTES]
    assert plan.rules.reverse.tolist() == [0, 0]
    assert (plan.rules.statics, plan.rules.now_s, plan.rules.strict_liveness) == (0, 77, 0)
    view = replace(table("k text, v int"), is_view=True)
    assert plan_scan(view, sstables(MURMUR3), ScanRequest("ks", "t")).rules.strict_liveness == 1


def test_now_is_when_the_scan_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flightsrv.scan.plan.time.time", lambda: 123.9)
    assert planned("k text, v int").rules.now_s == 123
    assert planned("k text, v int", now_s=0).rules.now_s == 0


@pytest.mark.parametrize(
    ("type_", "compatible", "native"),
    [
        ("counter", pa.int64(), pa.int64()),
        ("'com.example.Own'", pa.string(), pa.binary()),
        ("map<int, 'com.example.Own'>", pa.map_(pa.int32(), pa.string()), pa.map_(pa.int32(), pa.binary())),
        ("vector<float, 3>", pa.list_(pa.float32()), pa.list_(pa.float32(), 3)),
    ],
)
def test_any_type_can_be_planned_in_either_mapping(type_: str, compatible: pa.DataType, native: pa.DataType) -> None:
    of_v = table(f"k int, v {type_}")
    for mapping, wanted in ((COMPATIBLE, compatible), (NATIVE, native)):
        plan = plan_scan(of_v, sstables(MURMUR3), ScanRequest("ks", "t"), mapping)
        assert plan.schema.field("v").type == wanted
        assert plan.mapping == mapping


@pytest.mark.parametrize("type_", ["frozen<list<int>>", "frozen<tuple<int, text>>", "vector<float, 3>"])
def test_several_sstables_are_merged_by_compound_clusterings(type_: str) -> None:
    plan = planned(f"k int, c {type_}, v int", "k, c", sstables(MURMUR3, MURMUR3))
    assert plan.rules.comparators.min() >= SCALARS


def test_tokens_are_asked_of_murmur3_alone() -> None:
    for partitioner in (RANDOM, "org.apache.cassandra.dht.ByteOrderedPartitioner"):
        assert planned("k int, v int", files=sstables(partitioner)).ranges == (WHOLE,)
        with pytest.raises(RequestError, match="token ranges are not served"):
            planned("k int, v int", files=sstables(partitioner), token_start=1, token_end=2)


def test_sstables_of_several_partitioners_are_not_one_table() -> None:
    with pytest.raises(UnsupportedRequestError, match="SSTables of several partitioners"):
        planned("k int, v int", files=sstables(RANDOM, MURMUR3))
    with pytest.raises(UnsupportedRequestError, match="not merged yet"):
        planned("k int, v int", files=sstables(RANDOM, RANDOM))


def test_a_table_without_sstables_can_be_planned() -> None:
    assert planned("k int, v int", files=(), token_start=1, token_end=2).ranges == (TokenRange(1, 2),)


def test_columns_that_are_none_of_the_tables_are_an_error() -> None:
    with pytest.raises(RequestError, match=r"none of the columns asked for is in ks\.t"):
        planned("k int, v int", columns=("nothing",))
