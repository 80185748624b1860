"""Scans of tables drawn at random give what Cassandra selects; python -m tests.oracle.random_tables plays many more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.judge import FORMATS, Judge
from tests.oracle.random_tables.runs import Court
from tests.oracle.random_tables.scripts import draw_script

SEEDS = range(1000, 1008)
FEWEST_SSTABLES = 5


@pytest.mark.oracle
@pytest.mark.parametrize("judge", list(FORMATS), indirect=True, scope="session")
def test_a_scan_gives_what_cassandra_selects(judge: Judge, tmp_path: Path) -> None:
    results = Court.of(judge, tmp_path).results([draw_script(seed) for seed in SEEDS], SEEDS)
    for seed, result in zip(SEEDS, results, strict=True):
        assert result.played.is_created, result.played.refusals
        assert not result.differences, f"--seed {seed}: {result.differences[0]}"
        for comparison in result.comparisons.values():
            assert comparison.refusal is None
            assert comparison.sstables >= FEWEST_SSTABLES
    assert sum(comparison.rows for result in results for comparison in result.comparisons.values()) > 100
