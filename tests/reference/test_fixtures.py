"""The sets are found, and those that are served by now are told from the others."""

from __future__ import annotations

import pytest

from tests.reference.fixtures import FixtureSet, copied_sets, refusal, version_of

BY_ID = {fixture.id: fixture for fixture in copied_sets()}


@pytest.mark.parametrize("fixture", [pytest.param(fixture, id=fixture.id) for fixture in copied_sets()])
def test_a_copied_set_has_its_files(fixture: FixtureSet) -> None:
    assert fixture.data_files or fixture.manifest_entry.get("kind")
    assert fixture.expected_file is None or fixture.expected_file.exists()
    if fixture.expected and "rows_file" in fixture.expected:
        rows = fixture.expected_rows() or []
        assert len(rows) == fixture.expected["rows_count"]


def test_every_version_has_a_copied_set() -> None:
    versions = {version_of(path) for fixture in copied_sets() for path in fixture.data_files}
    assert versions >= {"ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa", "da"}


@pytest.mark.parametrize(
    "id_",
    [
        "cassandra-5.0/nb/alltypes",
        "cassandra-5.0/oa/deletes",
        "cassandra-5.0/nb/ranges_desc",
        "cassandra-5.0/nb/node/system_schema.columns",
        "cassandra/ma/legacy_tables/legacy_ma_simple",
        "corrupt/derived/nb_toc_missing",
        "cassandra-5.0/oa/collections",
        "cassandra-5.0/nb/counters_static",
    ],
)
def test_any_types_are_served(id_: str) -> None:
    assert refusal(BY_ID[id_]) is None


@pytest.mark.parametrize(
    ("id_", "reason"),
    [
        ("other-versions/aa/legacy_tables/legacy_aa_simple", "version aa"),
        ("corrupt/derived/nb_data_empty", "damaged: Data.db of 0 bytes"),
    ],
)
def test_what_is_not_served_has_its_reason(id_: str, reason: str) -> None:
    assert refusal(BY_ID[id_]) == reason


def test_sstables_that_a_transaction_log_left_behind_are_no_part_of_their_set() -> None:
    names = [path.name for path in BY_ID["cassandra-5.0/nb/node/layout.compaction_unfinished"].data_files]
    assert "nb-5-big-Data.db" not in names
    assert "nb-6-big-Data.db" in names
