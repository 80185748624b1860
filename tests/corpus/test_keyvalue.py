"""bench.keyvalue: the same for the same seed, and read as its expectation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus import rows_hash
from corpus.keyvalue import ARROW_SCHEMA, FIRST_TIMESTAMP_US, expected_batches, expected_rows, write
from tests.corpus.reading import json_rows, stored_rows, types_in

NOW_S = FIRST_TIMESTAMP_US // 1_000_000 + 5 * 365 * 86_400
CONTENTS = [
    {"partitions": 1},
    {"partitions": 400},
    {"partitions": 400, "runs": 3},
    {"partitions": 400, "ttl_share": 0.5},
    {"partitions": 400, "runs": 3, "ttl_share": 0.4, "deletion_share": 0.4},
]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_the_reference_reads_the_expected_rows(tmp_path: Path, version: str, content: dict[str, float]) -> None:
    folder = write(tmp_path, version=version, **content).folder  # type: ignore[arg-type]
    expected = expected_rows(**content, now_s=NOW_S)  # type: ignore[arg-type]
    assert stored_rows(folder, ["key"], NOW_S) == json_rows(expected, types_in(folder, ["key"]))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write(tmp_path / "first", 300, 2, seed=7, ttl_share=0.1, deletion_share=0.1)
    second = write(tmp_path / "second", 300, 2, seed=7, ttl_share=0.1, deletion_share=0.1)
    assert files_of(first.folder) == files_of(second.folder)


def test_another_seed_gives_other_rows() -> None:
    assert rows_hash(expected_batches(300, seed=1)) != rows_hash(expected_batches(300, seed=2))


def test_a_folder_that_holds_sstables_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, 10)
    with pytest.raises(FileExistsError, match="already holds SSTables"):
        write(tmp_path, 10)


def test_progress_hears_of_every_partition(tmp_path: Path) -> None:
    heard: list[int] = []
    write(tmp_path, 20_000, progress=heard.append)
    assert sum(heard) == 20_000


def test_expectations_are_cut_where_asked() -> None:
    batches = list(expected_batches(1000, batch_rows=300))
    assert [batch.num_rows for batch in batches] == [300, 300, 300, 100]
    assert batches[0].schema == ARROW_SCHEMA
    assert rows_hash(batches) == rows_hash(expected_batches(1000))
