"""What holds for any runs: text, bytes and objects say the same; the merge does not care who says it, nor how often."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.decoder import decode
from tests.reference.encoder import encode, subset, uvint
from tests.reference.fixtures import FixtureSet, params
from tests.reference.markers import Bound, RangeDeletion, markers_of, ranges_of_markers, unfiltered_key
from tests.reference.merge import ranges_of
from tests.reference.model import BEFORE, LIVE, Deletion, Marker, Partition, Row
from tests.reference.ordering import clustering_key, is_above
from tests.reference.printing import merged_texts, text_of_run
from tests.reference.reader import Reader
from tests.reference.schema import Schema, class_of
from tests.reference.sstables import sstables_of
from tests.reference.streams import CLUSTERED, SCHEMAS, run, runs
from tests.reference.text import parse_run
from tests.reference.types import of_class, of_cql

SCHEMA = st.sampled_from(SCHEMAS)
SCHEMA_AND_RUN = SCHEMA.flatmap(lambda schema: st.tuples(st.just(schema), run(schema)))
SCHEMA_AND_RUNS = SCHEMA.flatmap(lambda schema: st.tuples(st.just(schema), runs(schema)))
OVERFLOWED = "cassandra/negative-ldts/"
"""Local deletion times there are read as invalid, so that what was written is lost."""
OTHER_LIVE = ("cassandra-5.0/nb/statics", "cassandra-5.0/oa/statics", "cassandra-5.0/da/statics")
"""Where 5.0 wrote another local deletion time for a collection that is not deleted than 4.1 and the encoder do."""


@pytest.mark.parametrize(
    "fixture",
    params(lambda each: each.has_expected_rows and not each.id.startswith(OVERFLOWED) and each.id not in OTHER_LIVE),
)
def test_encoding_what_was_decoded_gives_the_bytes_that_cassandra_wrote(fixture: FixtureSet) -> None:
    for sstable in sstables_of(fixture):
        assert encode(sstable.partitions(), sstable.header) == sstable.data()


@given(SCHEMA_AND_RUN, st.sampled_from(["me", "nb", "oa", "da"]), st.integers(-3, 9), st.integers(0, 60))
def test_decoding_what_was_encoded_gives_the_same_partitions(
    case: tuple[Schema, str], version: str, min_timestamp_us: int, min_local_s: int
) -> None:
    schema, text = case
    header = schema.header(version, min_timestamp_us, min_local_s, min_ttl_s=10)
    partitions = parse_run(text, schema)
    assert decode(encode(partitions, header), header) == partitions


@given(SCHEMA_AND_RUN)
def test_reading_what_was_printed_gives_the_same_partitions(case: tuple[Schema, str]) -> None:
    schema, text = case
    partitions = parse_run(text, schema)
    assert parse_run(text_of_run(partitions, schema), schema) == partitions


@given(SCHEMA_AND_RUNS, st.randoms())
def test_the_order_of_runs_does_not_matter(case: tuple[Schema, list[str]], random: Random) -> None:
    schema, texts = case
    shuffled = random.sample(texts, len(texts))
    assert merged_texts(*shuffled, schema=schema) == merged_texts(*texts, schema=schema)


@given(SCHEMA_AND_RUNS)
def test_a_run_twice_is_as_once_and_an_empty_run_is_as_none(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    once = merged_texts(*texts, schema=schema)
    assert merged_texts(*texts, *texts, schema=schema) == once
    assert merged_texts(*texts, "", schema=schema) == once


@given(SCHEMA_AND_RUNS)
def test_a_newer_deletion_of_a_partition_leaves_nothing_of_it(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    left = merged_texts(*texts, "k1 del@99", schema=schema)
    assert left == [line for line in merged_texts(*texts, schema=schema) if not line.startswith("k1")]


@given(SCHEMA_AND_RUNS)
def test_a_newer_value_is_always_shown(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    place = {0: "k1", 1: "k1/2", 2: "k1/2,x"}[len(schema.clustering)]
    value = "7" if schema.regular["a"] == "int" else "new"
    rows = merged_texts(*texts, f"{place}: a={value}@99", schema=schema)
    assert [line for line in rows if line.startswith(f"{place}:") and f" a={value}@99" in line]


@given(SCHEMA_AND_RUNS)
def test_when_the_last_has_expired_only_fewer_rows_are_shown(case: tuple[Schema, list[str]]) -> None:
    schema, texts = case
    places = {line.split(":")[0].split("/")[0] for line in merged_texts(*texts, schema=schema)}
    later = {line.split(":")[0].split("/")[0] for line in merged_texts(*texts, schema=schema, now_s=10**6)}
    assert later <= places


BOUNDS = st.builds(
    Bound, st.lists(st.sampled_from([b"\0\0\0\1", b"\0\0\0\2"]), max_size=1).map(tuple), st.sampled_from([-1, 1])
)
RANGES = st.lists(
    st.builds(RangeDeletion, BOUNDS, BOUNDS, st.builds(Deletion, st.integers(1, 3), st.integers(1, 2))), max_size=5
)


@given(RANGES)
def test_markers_delete_at_each_place_what_the_latest_of_their_ranges_does(ranges: list[RangeDeletion]) -> None:
    types = CLUSTERED.clustering_types
    markers = markers_of(ranges, types)
    read = ranges_of(Partition(b"k", unfiltered=tuple(markers)), types)
    for number in range(4):
        row_key = clustering_key(types, (number.to_bytes(4, "big"), b"x"))
        covering = [each.deletion for each in ranges if _is_inside(row_key, each)]
        found = [each.deletion for each in read if each.covers(row_key)]
        assert found == ([max(covering)] if covering else [])
    assert markers_of(list(ranges_of_markers(markers)), types) == markers


def _is_inside(row_key: tuple[object, ...], range_: RangeDeletion) -> bool:
    types = CLUSTERED.clustering_types
    before, after = BEFORE[0], 7
    start, end = (
        (before if each.side < 0 else after, clustering_key(types, each.values)) for each in (range_.start, range_.end)
    )
    return is_above(row_key, *start) and not is_above(row_key, *end)


@given(SCHEMA_AND_RUN)
def test_unfiltered_ascend_and_markers_open_and_close_in_turn(case: tuple[Schema, str]) -> None:
    schema, text = case
    for partition in parse_run(text, schema):
        keys = [unfiltered_key(schema.clustering_types, each) for each in partition.unfiltered]
        assert all(a < b for a, b in pairwise(keys))
        opened: Deletion | None = None
        for each in partition.unfiltered:
            if isinstance(each, Marker):
                assert each.ends == opened
                opened = each.starts
        assert opened is None


@given(st.lists(st.booleans(), min_size=1, max_size=130))
def test_a_subset_of_columns_comes_back(present: list[bool]) -> None:
    schema = Schema({f"c{i:03}": "int" for i in range(len(present))})
    row = "k: @1 " + " ".join(f"c{i:03}={i}@1" for i, is_present in enumerate(present) if is_present)
    partitions = parse_run(row, schema)
    assert decode(encode(partitions, schema.header()), schema.header()) == partitions
    assert len(subset(present)) >= 1


@given(st.integers(0, 2**64 - 1))
def test_a_vint_comes_back(number: int) -> None:
    reader = Reader(uvint(number), "a vint")
    assert reader.uvint() == number
    assert reader.at == len(reader.data)


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "00"), (127, "7f"), (128, "8080"), (16384, "c04000"), (2**56 - 1, "fe" + "ff" * 7), (-1, "ff" * 9)],
)
def test_vints_are_cassandras(number: int, data: str) -> None:
    assert uvint(number).hex() == data


@pytest.mark.parametrize(
    "cql",
    [
        "int",
        "frozen<list<text>>",
        "map<text, frozen<map<int, blob>>>",
        "tuple<int, frozen<set<uuid>>>",
        "vector<float, 3>",
    ],
)
def test_the_class_string_of_a_type_reads_as_the_type(cql: str) -> None:
    type_ = of_cql(cql)
    assert class_of(of_class(class_of(type_))) == class_of(type_)


def test_a_row_without_anything_is_not_shown() -> None:
    partition = Partition(b"k", LIVE, None, (Row(()),))
    assert parse_run("k:", Schema({"a": "text"})) == [partition]
    assert merged_texts("k:", schema=Schema({"a": "text"})) == []
