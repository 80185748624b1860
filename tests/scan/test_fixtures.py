"""SSTables that real nodes wrote read as those nodes said they do; damaged ones give an error, or the right rows."""

from __future__ import annotations

import pytest

from flightsrv.arrow.types import COMPATIBLE, NATIVE
from flightsrv.errors import FlightsrvError, UnrepresentableError
from tests.reference.arrow_form import NATIVE_KEEPS, beyond_arrow, comparable, rows_of_arrow
from tests.reference.fixtures import FixtureSet, params, refusal
from tests.reference.ordering import murmur3_token
from tests.reference.render import line_of
from tests.reference.sstables import sstables_of
from tests.scan.scanning import batches_of, selected_of

EXPLAINED = {
    "derived-recompressed/nb_test3_lz4_raw_padded": "holds one of the two SSTables that its expected rows are of",
    "sstable-adaptor/mc/keyspace1/auditlogsbyid": "its DDL says COMPACT STORAGE, its SSTable was written without",
}
"""Sets whose expected rows are not those of their SSTables with their DDL."""

RANGES = 4
"""Of which a table is asked for, at least, where it has so many partitions."""
INDEX_IS_DAMAGED = ("oa_index_truncated", "da_partitions_truncated", "da_rows_empty")
"""Damage that a full scan does not meet: it does not read the index. `flightsrv verify` does."""


def _index_is_damaged(fixture: FixtureSet) -> bool:
    return fixture.id.removeprefix("corrupt/derived/") in INDEX_IS_DAMAGED


def is_served(fixture: FixtureSet) -> bool:
    return bool(
        refusal(fixture) is None
        and fixture.has_expected_rows
        and fixture.expected_rows()
        and fixture.id not in EXPLAINED
    )


@pytest.mark.parametrize("keeps", [(), NATIVE_KEEPS], ids=["compatible", "native"])
@pytest.mark.parametrize("fixture", params(is_served))
def test_a_scan_gives_the_rows_the_node_gave(fixture: FixtureSet, keeps: tuple[str, ...]) -> None:
    mapping = NATIVE if keeps else COMPATIBLE
    expected, types = fixture.expected_rows() or [], fixture.types
    lost = beyond_arrow(expected, types, keeps)
    if lost:
        what = r"(a (decimal|varint) with more than \d|a map with an empty key)"
        with pytest.raises(UnrepresentableError, match=f"^column ({'|'.join(lost)}) of the row with key .*: {what}"):
            batches_of(fixture, mapping=mapping)
    columns = tuple(name for name in types if name not in lost)
    rows = rows_of_arrow(batches_of(fixture, columns=columns, mapping=mapping), fixture.schema)
    kept = [comparable({name: row[name] for name in columns}, types, keeps) for row in expected]
    kept_types = {name: types[name] for name in columns}
    lines = [[line_of(row, kept_types) for row in each] for each in (rows, kept)]
    if fixture.schema["rows_order"].startswith("unspecified"):
        lines = [sorted(each) for each in lines]
    assert lines[0] == lines[1]


def is_of_murmur3(fixture: FixtureSet) -> bool:
    return is_served(fixture) and sstables_of(fixture)[0].header.partitioner == "Murmur3Partitioner"


@pytest.mark.parametrize("fixture", params(is_of_murmur3))
def test_a_range_gives_the_rows_of_its_tokens(fixture: FixtureSet) -> None:
    whole = selected_of(fixture)
    tokens = [murmur3_token(row[0] or b"") for row in whole]
    bounds = sorted({token for token, row in zip(tokens, whole, strict=True) if row[0]})
    for bound in bounds[:: max(1, len(bounds) // RANGES)]:
        upto = sum(token <= bound for token in tokens)
        assert selected_of(fixture, token_end=bound) == whole[:upto]
        assert selected_of(fixture, token_start=bound) == whole[upto:]


def is_refused(fixture: FixtureSet) -> bool:
    return bool(refusal(fixture) is not None and fixture.data_files and not _index_is_damaged(fixture))


@pytest.mark.parametrize("fixture", params(is_refused))
def test_a_set_that_is_not_served_is_refused_by_name(fixture: FixtureSet) -> None:
    with pytest.raises(FlightsrvError):
        batches_of(fixture)


def is_readable_all_the_same(fixture: FixtureSet) -> bool:
    return bool(fixture.id.startswith("corrupt/derived/") and not is_refused(fixture))


@pytest.mark.parametrize("fixture", params(is_readable_all_the_same))
def test_damage_outside_of_what_a_scan_reads_costs_no_row(fixture: FixtureSet) -> None:
    (sstable,) = sstables_of(fixture)
    row_count = sum(len(partition.unfiltered) for partition in sstable.partitions())
    assert row_count > 0
    assert sum(batch.num_rows for batch in batches_of(fixture)) == row_count
