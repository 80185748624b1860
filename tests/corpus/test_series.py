"""The series: what happens to a row in several runs, read as its expectation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus import collections, mixed, rows_hash, sparse, sparse_80, wide
from corpus.series import Series
from corpus.series_cells import FIRST_MS
from tests.corpus.reading import json_rows, sstables_in, stored_rows, types_in
from tests.reference.model import Row

NOW_S = FIRST_MS // 1000 + 5 * 365 * 86_400
KEY_NAMES = ["sensor", "at"]
SERIES = [each.SERIES for each in (mixed, wide, collections, sparse, sparse_80)]
CONTENTS = [
    {"sensors": 1, "rows_per_sensor": 1, "runs": 3},
    {"sensors": 20, "rows_per_sensor": 20},
    {"sensors": 2, "rows_per_sensor": 1500},
    {"sensors": 20, "rows_per_sensor": 20, "runs": 3},
    {"sensors": 20, "rows_per_sensor": 20, "ttl_share": 0.5},
    {"sensors": 60, "rows_per_sensor": 12, "deletion_share": 0.3},
    {"sensors": 60, "rows_per_sensor": 12, "runs": 3, "ttl_share": 0.4, "deletion_share": 0.3},
    {"sensors": 3, "rows_per_sensor": 1500, "runs": 2, "ttl_share": 0.1, "deletion_share": 0.5},
]
EVERYTHING = {"sensors": 40, "rows_per_sensor": 9, "runs": 3, "ttl_share": 0.4, "deletion_share": 0.3}
BY_SERIES = pytest.mark.parametrize("series", SERIES, ids=lambda series: series.name)


def is_read_as_expected(series: Series, folder: Path, version: str, content: dict[str, float]) -> bool:
    written = series.write(folder, version=version, **content).folder  # type: ignore[arg-type]
    expected = series.expected_rows(**content, now_s=NOW_S)  # type: ignore[arg-type]
    return stored_rows(written, KEY_NAMES, NOW_S) == json_rows(expected, types_in(written, KEY_NAMES))


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_the_reference_reads_the_expected_rows(tmp_path: Path, version: str, content: dict[str, float]) -> None:
    assert is_read_as_expected(mixed.SERIES, tmp_path, version, content)


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize("content", [CONTENTS[0], CONTENTS[1], EVERYTHING], ids=["one-row", "plain", "everything"])
@pytest.mark.parametrize("series", SERIES[1:], ids=lambda series: series.name)
def test_whatever_the_columns_are(tmp_path: Path, series: Series, version: str, content: dict[str, float]) -> None:
    assert is_read_as_expected(series, tmp_path, version, content)


@BY_SERIES
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, series: Series) -> None:
    folders = [
        series.write(tmp_path / name, 30, 10, 2, seed=7, ttl_share=0.1, deletion_share=0.1).folder
        for name in ("first", "second")
    ]
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert first == second


@BY_SERIES
def test_another_seed_gives_other_rows(series: Series) -> None:
    assert rows_hash(series.expected_batches(30, 10, seed=1)) != rows_hash(series.expected_batches(30, 10, seed=2))


def column_counts(series: Series, folder: Path) -> list[int]:
    """How many columns each row of an SSTable of one run has."""
    (sstable,) = sstables_in(series.write(folder, 200, 10).folder)
    unfiltered = [each for partition in sstable.partitions() for each in partition.unfiltered]
    return [len(row.columns) for row in unfiltered if isinstance(row, Row)]


@pytest.mark.parametrize("series", [sparse.SERIES, sparse_80.SERIES], ids=lambda series: series.name)
def test_sparse_rows_have_a_tenth_of_their_columns_and_a_few_nearly_all(tmp_path: Path, series: Series) -> None:
    counts = sorted(column_counts(series, tmp_path))
    columns = len(series.columns)
    assert abs(counts[len(counts) // 2] - columns / 10) <= 1
    assert 0 < sum(count > columns / 2 for count in counts) < 30


def test_collections_have_no_to_eight_elements() -> None:
    rows = collections.expected_rows(200, 10)
    for name in ("counts", "labels", "samples"):
        sizes = {len(value) for value in rows[name].to_pylist() if value is not None}
        assert sizes == set(range(1, 9)), name  # an empty one is null
    assert {len(value) for value in rows["fixed"].to_pylist()} == set(range(9))
    homes = rows["home"].to_pylist()
    assert {sum(field is not None for field in home.values()) for home in homes if home} == {1, 2, 3}
    assert None in homes
