from __future__ import annotations

from dataclasses import fields

import pytest

from flightsrv.errors import UnsupportedSSTableError
from flightsrv.sstable.version import VERSIONS, Version, version_of


def flags_of(format: str, letters: str) -> set[str]:
    version = version_of(format, letters, "x")
    return {field.name for field in fields(Version) if getattr(version, field.name) is True}


def test_each_version_has_its_own_row() -> None:
    assert [row.name for row in VERSIONS.values()] == ["ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa", "bti-da"]
    assert all((row.format, row.letters) == key for key, row in VERSIONS.items())


@pytest.mark.parametrize(
    ("before", "after", "gained", "lost"),
    [
        ("ma", "mb", {"has_commit_log_lower_bound"}, set()),
        ("mb", "mc", {"has_commit_log_intervals"}, set()),
        ("mc", "md", {"has_accurate_min_max"}, set()),
        ("md", "me", {"has_originating_host_id"}, set()),
        (
            "me",
            "na",
            {
                "has_max_compressed_length",
                "has_pending_repair",
                "has_is_transient",
                "has_metadata_checksum",
                "has_unsure_bf_format",
            },
            {"has_originating_host_id", "has_old_bf_format"},
        ),
        ("na", "nb", {"has_originating_host_id"}, {"has_unsure_bf_format"}),
        (
            "nb",
            "nc",
            {"has_improved_min_max", "has_partition_level_deletions_presence_marker", "has_key_range"},
            set(),
        ),
        (
            "nc",
            "oa",
            {"has_uint_deletion_time", "has_token_space_coverage"},
            {"has_legacy_min_max", "has_accurate_min_max"},
        ),
    ],
)
def test_what_came_and_went_from_one_version_to_the_next(
    before: str, after: str, gained: set[str], lost: set[str]
) -> None:
    assert flags_of("big", after) - flags_of("big", before) == gained
    assert flags_of("big", before) - flags_of("big", after) == lost


def test_da_stores_what_oa_stores() -> None:
    assert flags_of("bti", "da") - flags_of("big", "oa") == {"has_accurate_min_max"}


@pytest.mark.parametrize(
    ("format", "letters", "known"),
    [
        ("big", "pa", "Cassandra 6"),
        ("big", "pb", "Cassandra 6"),
        ("bti", "ea", "Cassandra 6"),
        ("bti", "eb", "Cassandra 6"),
        ("big", "ms", "ScyllaDB"),
        ("big", "mt", "ScyllaDB"),
        ("bti", "aa", "DataStax Enterprise 6.0"),
        ("bti", "bb", "DataStax Enterprise 6.8"),
        ("bti", "cc", "Converged Cassandra"),
        ("big", "la", "2.2 or older"),
        ("big", "jb", "2.2 or older"),
        ("big", "mf", "unknown"),
        ("big", "zz", "unknown"),
        ("bti", "nb", "unknown"),
        ("tree", "nb", "unknown format"),
    ],
)
def test_any_other_version_is_refused_by_name(format: str, letters: str, known: str) -> None:
    with pytest.raises(UnsupportedSSTableError, match=f"version {letters} of format {format} is .*{known}"):
        version_of(format, letters, f"/data/{letters}-1-{format}-Data.db")
