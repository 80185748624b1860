"""What the corpus writes is what Cassandra reads: its scans, its point reads, its compaction and its offline tools."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpus import collections, keyvalue, mixed, sparse, sparse_80, wide
from flightsrv.sstable.describe import describe
from tests.corpus.scanning import scanned
from tests.oracle.contents import CONTENTS, EPOCH, Content, Row, of_driver
from tests.oracle.judge import Judge
from tests.reference.sstables import SSTable

pytestmark = [pytest.mark.oracle, pytest.mark.parametrize("judge", ["nb", "oa"], indirect=True, scope="session")]

REWRITTEN = [
    Content(keyvalue, {"partitions": 3000, "deletion_share": 0.2}),
    Content(mixed, {"sensors": 150, "rows_per_sensor": 20}),
    Content(mixed, {"sensors": 16, "rows_per_sensor": 1200, "deletion_share": 0.5}),
    Content(mixed, {"sensors": 300, "rows_per_sensor": 12, "deletion_share": 0.3}),
    *(Content(shape, {"sensors": 150, "rows_per_sensor": 20}) for shape in (wide, collections, sparse, sparse_80)),
    Content(collections, {"sensors": 300, "rows_per_sensor": 12, "deletion_share": 0.3}),
    Content(collections, {"sensors": 8, "rows_per_sensor": 1200}),
]
"""One run, and no TTL: when Cassandra rewrites what has expired, it makes tombstones of it."""
NO_ONE_RIGHT_VALUE = ("crc", "offset", "compression_ratio", "commit_log", "host_id", "cardinality", "drop_times.count")
BY_CONTENT = pytest.mark.parametrize("content", CONTENTS, ids=str)


def selected(judge: Judge, content: Content, where: str = "", *values: Any) -> list[Row]:
    names = ", ".join(content.shape.ARROW_SCHEMA.names)
    rows = judge.select(f"SELECT {names} FROM bench.{content.shape.TABLE.name} {where}", *values)
    return [tuple(map(of_driver, row)) for row in rows]


@BY_CONTENT
def test_cassandra_selects_the_expected_rows(judge: Judge, content: Content, tmp_path: Path) -> None:
    judge.take_in(content.shape.TABLE, content.write(tmp_path, judge.version))
    expected = content.expected(int(time.time()))
    assert len(expected) > 1000
    assert selected(judge, content) == expected
    judge.nodetool("compact", "bench", content.shape.TABLE.name)
    assert selected(judge, content) == expected


@BY_CONTENT
def test_a_scan_gives_what_cassandra_selects(judge: Judge, content: Content, tmp_path: Path) -> None:
    """Of the SSTables that the corpus wrote, and of what Cassandra made of them."""
    table = content.shape.TABLE
    folder = content.write(tmp_path, judge.version)
    judge.take_in(table, folder)
    now_s = int(time.time())
    rows = selected(judge, content)
    assert rows_of_scan(content, folder, now_s) == rows
    judge.nodetool("compact", "bench", table.name)
    assert rows_of_scan(content, judge.folder(table), now_s) == rows


def rows_of_scan(content: Content, folder: Path, now_s: int) -> list[Row]:
    with scanned(content.shape.TABLE, folder, now_s) as batches:
        return [row for batch in batches for row in content.as_rows(batch)]


@pytest.mark.parametrize("content", [CONTENTS[2], CONTENTS[-1]], ids=str)
def test_cassandra_finds_single_rows(judge: Judge, content: Content, tmp_path: Path) -> None:
    """By Index.db, Summary.db, Filter.db and, in wide partitions, promoted indexes."""
    judge.take_in(content.shape.TABLE, content.write(tmp_path, judge.version))
    key_names = [name for name in content.shape.ARROW_SCHEMA.names if name in ("key", "sensor", "at")]
    where = "WHERE " + " AND ".join(f"{name} = ?" for name in key_names)
    expected = content.expected(int(time.time()))
    for row in expected[:: len(expected) // 60]:
        key = [
            EPOCH + timedelta(milliseconds=value) if isinstance(value, int) else value
            for value in row[: len(key_names)]
        ]
        assert selected(judge, content, where, *key) == [row]
    gone = ["user:9999999999"] if len(key_names) == 1 else ["sensor-0", EPOCH]
    assert selected(judge, content, where, *gone) == []


def test_cassandra_slices_a_wide_partition(judge: Judge, tmp_path: Path) -> None:
    content = CONTENTS[-1]
    judge.take_in(content.shape.TABLE, content.write(tmp_path, judge.version))
    rows = [row for row in content.expected(int(time.time())) if row[0] == "sensor-2"]
    for start in range(0, len(rows) - 40, len(rows) // 20):
        newest, oldest = (EPOCH + timedelta(milliseconds=rows[place][1]) for place in (start, start + 40))
        where = "WHERE sensor = ? AND at <= ? AND at > ?"
        assert selected(judge, content, where, "sensor-2", newest, oldest) == rows[start : start + 40]


@pytest.mark.parametrize("content", REWRITTEN, ids=str)
def test_cassandra_would_write_the_same_bytes(judge: Judge, content: Content, tmp_path: Path) -> None:
    """upgradesstables makes Cassandra read every row, and write it again with all that is said about it."""
    folder = content.write(tmp_path, judge.version)
    judge.take_in(content.shape.TABLE, folder)
    judge.nodetool("upgradesstables", "--include-all-sstables", "bench", content.shape.TABLE.name)
    ours, theirs = (only_sstable(each) for each in (folder, judge.folder(content.shape.TABLE)))
    assert ours.data() == theirs.data()
    for component in ("Index.db", "Summary.db"):
        assert ours.component(component).read_bytes() == theirs.component(component).read_bytes(), component
    assert comparable_statistics(ours) == comparable_statistics(theirs)


def only_sstable(folder: Path) -> SSTable:
    (data_file,) = folder.glob("*-Data.db")
    return SSTable(data_file)


def comparable_statistics(sstable: SSTable) -> dict[str, str]:
    """Every field of Statistics.db that has but one right value.

    Not where it stands, what depends on the compressor, who wrote it when, how few keys are counted, and of more points
    than a histogram holds where its bins are.
    """
    path = sstable.component("Statistics.db")
    fields = {}
    for line in describe(path.name, path.read_bytes()):
        if any(word in line.field for word in NO_ONE_RIGHT_VALUE):
            continue
        is_full = line.field.startswith("STATS.tombstone_drop_times.point") and len(line.value) > 90
        fields[line.field] = str(line.value["count"].sum() if is_full else line.value)
    return fields


def test_sstabledump_reads_every_row(judge: Judge, tmp_path: Path) -> None:
    data_files: list[Path] = []
    row_count = 0
    for number, content in enumerate(CONTENTS):
        written = content.shape.write(tmp_path / str(number), version=judge.version, **content.options)
        data_files += written.folder.glob("*-Data.db")
        row_count += written.rows
    dumps = judge.sstabledump(data_files, tmp_path)
    assert row_count == sum(row["type"] == "row" for dump in dumps for partition in dump for row in partition["rows"])


@pytest.mark.parametrize("content", {content.shape: content for content in CONTENTS}.values(), ids=str)
def test_sstableverify_accepts_each_table(judge: Judge, content: Content, tmp_path: Path) -> None:
    judge.take_in(content.shape.TABLE, content.write(tmp_path, judge.version))
    judge.nodetool("flush", "system_schema")
    assert "Verify of" in judge.sstableverify(content.shape.TABLE)
