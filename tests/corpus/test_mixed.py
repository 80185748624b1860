"""bench.mixed: what happens to a row in several runs, read as its expectation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus import rows_hash
from corpus.mixed import expected_batches, expected_rows, write
from corpus.mixed_values import FIRST_MS
from tests.corpus.reading import expected_rows as stored_expectation
from tests.corpus.reading import stored_rows

NOW_S = FIRST_MS // 1000 + 5 * 365 * 86_400
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


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_the_reference_reads_the_expected_rows(tmp_path: Path, version: str, content: dict[str, float]) -> None:
    folder = write(tmp_path, version=version, **content).folder  # type: ignore[arg-type]
    expected = expected_rows(**content, now_s=NOW_S)  # type: ignore[arg-type]
    assert stored_rows(folder, ["sensor", "at"], NOW_S) == stored_expectation(expected)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    folders = [
        write(tmp_path / name, 30, 10, 2, seed=7, ttl_share=0.1, deletion_share=0.1).folder
        for name in ("first", "second")
    ]
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert first == second


def test_another_seed_gives_other_rows() -> None:
    assert rows_hash(expected_batches(30, 10, seed=1)) != rows_hash(expected_batches(30, 10, seed=2))
