"""The same rows in SSTables that Cassandra wrote, as BIG and as BTI, are the same to a scan."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus import collections, keyvalue, mixed, rows_hash, sparse, sparse_80, wide
from tests.corpus.scanning import scanned
from tests.oracle.contents import Content
from tests.oracle.judge import Judge
from tests.oracle.rewrite import rewrite

pytestmark = [pytest.mark.oracle, pytest.mark.parametrize("judge", ["oa", "da"], indirect=True, scope="session")]

SERIES = {"sensors": 150, "rows_per_sensor": 20}
CONTENTS = [
    Content(keyvalue, {"partitions": 3000}),
    *(Content(shape, SERIES) for shape in (mixed, wide, collections, sparse, sparse_80)),
]


@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_a_table_that_cassandra_wrote_anew_has_the_same_rows(judge: Judge, content: Content, tmp_path: Path) -> None:
    content.write(tmp_path / "ours", "oa")
    folder = rewrite(judge, content.shape, tmp_path / "ours", tmp_path / "theirs")
    assert list(folder.glob(f"{judge.version}-*-Data.db"))
    with scanned(content.shape.TABLE, folder, 0) as batches:
        assert rows_hash(batches) == rows_hash(content.shape.expected_batches(**content.options))
