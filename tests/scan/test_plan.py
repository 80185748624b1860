from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from flightsrv.arrow.types import COMPATIBLE, NATIVE
from flightsrv.cql.ddl import parse_ddl
from flightsrv.errors import RequestError, UnsupportedRequestError, UnsupportedSSTableError
from flightsrv.kernels.scalars import BYTES, SCALARS, SIGNED
from flightsrv.scan.plan import Plan, plan_scan
from flightsrv.scan.request import ScanRequest
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.version import version_of

DHT = "org.apache.cassandra.dht."
MURMUR3, RANDOM = f"{DHT}Murmur3Partitioner", f"{DHT}RandomPartitioner"
WITHOUT_TOKENS = [f"{DHT}{name}Partitioner" for name in ("ByteOrdered", "OrderPreserving", "Local")]


def table(columns: str, key: str = "k") -> Any:
    return parse_ddl(f"CREATE TABLE ks.t ({columns}, PRIMARY KEY ({key}))", "ks", "t")


def sstables(*partitioners: str, key_type: str = "Int32Type") -> tuple[Any, ...]:
    header = SerializationHeader(0, 0, 0, key_type, (), (), ())
    return tuple(
        SimpleNamespace(
            statistics=SimpleNamespace(partitioner=each, header=header),
            descriptor=Descriptor("/data/ks/t", version_of("big", "nb", ""), str(id)),
        )
        for id, each in enumerate(partitioners, 1)
    )


def planned(definition: str, key: str = "k", files: tuple[Any, ...] = sstables(MURMUR3), **request: Any) -> Plan:
    return plan_scan(table(definition, key), files, ScanRequest("ks", "t", **request))


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
    view = replace(table("k text, v int"), strict_liveness=True)
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


@pytest.mark.parametrize("partitioner", WITHOUT_TOKENS)
def test_without_tokens_the_whole_ring_can_be_asked_for_and_no_part_of_it(partitioner: str) -> None:
    for bounds in ({}, {"token_start": 7, "token_end": 7}):
        (token_range,) = planned("k int, v int", files=sstables(partitioner, partitioner), **bounds).ranges
        assert token_range.is_whole_ring
    with pytest.raises(RequestError, match=f"^table ks.t is of {partitioner}: token ranges are not served$"):
        planned("k int, v int", files=sstables(partitioner), token_start=1, token_end=2)


def test_tokens_are_those_of_the_tables_partitioner() -> None:
    ranges = planned("k int, v int", files=sstables(RANDOM), token_start=2**64, token_end=2**127).ranges
    assert [(each.after, each.upto) for each in ranges] == [(2**64, 2**127)]
    with pytest.raises(RequestError, match=f"{MURMUR3}, and token_end is none of its tokens: {2**63} is not a whole"):
        planned("k int, v int", token_end=2**63)
    with pytest.raises(RequestError, match=f"{RANDOM}, and token_start is none of its tokens: -2 is not a whole"):
        planned("k int, v int", files=sstables(RANDOM), token_start=-2)


def test_sstables_of_several_partitioners_are_not_one_table() -> None:
    with pytest.raises(
        UnsupportedRequestError, match=rf"of several partitioners: .*nb-1-big-Statistics.db says {RANDOM}"
    ):
        planned("k int, v int", files=sstables(RANDOM, MURMUR3))


def test_a_partitioner_that_is_none_of_cassandras_is_refused_by_name() -> None:
    what = "nb-1-big-Statistics.db: partitioner: com.example.Own, whose order of partitions is not known"
    with pytest.raises(UnsupportedSSTableError, match=what):
        planned("k int, v int", files=sstables("com.example.Own"))


def test_several_sstables_by_keys_whose_type_has_no_known_order_are_refused() -> None:
    local = WITHOUT_TOKENS[-1]
    assert planned("k int, v int", files=sstables(local, key_type="com.example.Own")).ranges
    with pytest.raises(UnsupportedRequestError, match=r"its partition key sorts by type 'com\.example\.Own'"):
        planned("k int, v int", files=sstables(local, local, key_type="com.example.Own"))


def test_a_table_without_sstables_can_be_planned() -> None:
    assert planned("k int, v int", files=(), token_start=1, token_end=2**100).ranges == ()


def test_columns_that_are_none_of_the_tables_are_an_error() -> None:
    with pytest.raises(RequestError, match=r"none of the columns asked for is in ks\.t"):
        planned("k int, v int", columns=("nothing",))
