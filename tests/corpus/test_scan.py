"""A scan gives the rows that the corpus expects, by hash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from corpus import collections, keyvalue, mixed, rows_hash, sparse, sparse_80, wide
from tests.corpus.scanning import scanned

NOW_S = keyvalue.FIRST_TIMESTAMP_US // 1_000_000 + 5 * 365 * 86_400
EVENTS = {"ttl_share": 0.2, "deletion_share": 0.3}
CASES = [
    (keyvalue, {"partitions": 50_000}),
    (keyvalue, {"partitions": 30_000, "runs": 4, **EVENTS}),
    (mixed, {"sensors": 1500, "rows_per_sensor": 20}),
    (mixed, {"sensors": 2, "rows_per_sensor": 20_000}),
    (mixed, {"sensors": 1500, "rows_per_sensor": 20, "runs": 3}),
    (mixed, {"sensors": 1500, "rows_per_sensor": 20, **EVENTS}),
    (mixed, {"sensors": 1500, "rows_per_sensor": 20, "runs": 4, **EVENTS}),
    (mixed, {"sensors": 4, "rows_per_sensor": 5000, "runs": 3, **EVENTS}),
    *((shape, {"sensors": 600, "rows_per_sensor": 20}) for shape in (wide, collections, sparse, sparse_80)),
    *((shape, {"sensors": 300, "rows_per_sensor": 20, "runs": 3, **EVENTS}) for shape in (wide, collections, sparse)),
]


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize(("shape", "options"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_scan_gives_the_expected_rows(
    tmp_path: Path, shape: ModuleType, options: Mapping[str, float], version: str
) -> None:
    folder = shape.write(tmp_path, version=version, **options).folder
    with scanned(shape.TABLE, folder, NOW_S) as batches:
        assert rows_hash(batches) == rows_hash(shape.expected_batches(**options, now_s=NOW_S))
