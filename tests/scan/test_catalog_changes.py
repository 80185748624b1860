"""Files and schemas that come and go between scans, while one opens, and under one."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flightsrv.scan.request import ScanRequest
from flightsrv.scan.run import Scan
from tests.reference.fixtures import COPIED
from tests.scan.nodes import BOTH_DISKS, INDEXED, NODE, MakeEngine, columns, move, named, rows
from tests.scan.scanning import copied


def test_sstables_may_come_and_go_between_two_scans(engine: MakeEngine, node: Path, tmp_path: Path) -> None:
    folder, away = node / "layout" / "two_directories-ac6aede0ece911f18c12e51b6daaa362", tmp_path / "away"
    found = engine(node)
    before = rows(found, "layout", "two_directories", now_s=0)
    names = sorted({path.name.rpartition("-")[0] for path in folder.glob("*-Data.db")})
    assert len(names) > 1
    move(names[0], folder, away)
    fewer = rows(found, "layout", "two_directories", now_s=0)
    assert 0 < len(fewer) < len(before)
    move(names[0], away, folder)
    assert rows(found, "layout", "two_directories", now_s=0) == before


def test_an_sstable_that_takes_the_name_of_another_is_read_as_itself(engine: MakeEngine, tmp_path: Path) -> None:
    """As after TRUNCATE and a restart, when a node counts from 1 again."""
    folder = tmp_path / "t"
    shutil.copytree(COPIED / "cassandra-5.0/nb/ttl_default", folder)
    found = engine(tables=named(folder))
    before = rows(found, "ks", "t", now_s=0)
    shutil.rmtree(folder)
    shutil.copytree(COPIED / "cassandra-5.0/nb/ranges_mixed", folder)
    after = rows(found, "ks", "t", now_s=0)
    assert after == rows(engine(tables=named(folder)), "ks", "t", now_s=0)
    assert after != before


def test_an_sstable_that_is_as_before_is_not_opened_again(engine: MakeEngine) -> None:
    catalog = engine(*BOTH_DISKS).catalog
    table = catalog.table("layout", "indexed")
    first, second = catalog.sstables(table), catalog.sstables(table)
    assert [a is b for a, b in zip(first, second, strict=True)] == [True] * len(first)


def test_sstables_that_went_are_forgotten(engine: MakeEngine, node: Path) -> None:
    catalog = engine(node).catalog
    catalog.sstables(catalog.table("layout", "indexed"))
    for path in (node / "layout" / INDEXED).glob("nb-*"):
        path.unlink()
    assert catalog.sstables(catalog.table("layout", "indexed")) == ()
    assert not any(catalog._opened.values())


def test_a_schema_that_changes_on_disk_is_read_again(engine: MakeEngine, node: Path, tmp_path: Path) -> None:
    found = engine(node)
    assert columns(found, "layout", "recreated") == ["pk", "w"]
    shutil.move(node / "system_schema", tmp_path / "away")
    assert columns(found, "layout", "recreated") == ["key", "w"]
    shutil.move(tmp_path / "away", node / "system_schema")
    assert columns(found, "layout", "recreated") == ["pk", "w"]


def test_a_system_schema_whose_sstables_are_replaced_under_their_names_is_read_again(
    engine: MakeEngine, node: Path, tmp_path: Path
) -> None:
    """As when a node's data are restored from a backup."""
    found = engine(node)
    assert columns(found, "layout", "indexed") == ["pk", "ck", "v", "w", "x"]
    (folder,) = node.glob("system_schema/columns-*")
    (newest,) = (max(folder.glob("*-Data.db"), key=lambda path: path.stat().st_size),)
    for path in folder.glob(f"{newest.name.removesuffix('Data.db')}*"):
        other = tmp_path / path.name
        shutil.copy(path, other)
        other.replace(path)
    read = []
    real = found.catalog._schemas._read_rows
    found.catalog._schemas._read_rows = lambda *arguments: read.append(arguments[0].table) or real(*arguments)
    for _ in range(2):
        assert columns(found, "layout", "indexed") == ["pk", "ck", "v", "w", "x"]
    assert len(read) == 5  # once each


def test_a_system_schema_that_is_compacted_meanwhile_is_read_as_it_is_then(
    engine: MakeEngine, node: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,) = node.glob("system_schema/columns-*")
    numbers = sorted(path.name.removesuffix("-Data.db") for path in folder.glob("*-Data.db"))
    assert len(numbers) > 1
    real = Scan.__init__
    aside = tmp_path / "aside"

    def vanished(scan: Scan, *arguments: Any) -> None:
        if arguments[0].table.table == "columns" and not aside.exists():
            move(numbers[0], folder, aside)
            for path in aside.iterdir():
                shutil.copy(path, folder / path.name.replace(numbers[0], "nb-999-big"))
        real(scan, *arguments)

    monkeypatch.setattr(Scan, "__init__", vanished)
    assert columns(engine(node), "layout", "indexed") == ["pk", "ck", "v", "w", "x"]
    assert aside.exists()


@pytest.mark.parametrize("request_", [{}, {"token_start": 1 << 62, "token_end": -(1 << 62)}], ids=["all", "two-ranges"])
def test_files_that_are_deleted_under_a_scan_do_not_disturb_it(
    engine: MakeEngine, node: Path, request_: dict[str, int]
) -> None:
    """Not those it reads yet, nor the indexes that it has not looked at."""
    found = engine(node, batch_rows=1)
    (folder,) = node.glob("layout/compaction_committed-*")
    expected = rows(found, "layout", "compaction_committed", now_s=0, **request_)
    with closing(found.open_scan(ScanRequest("layout", "compaction_committed", now_s=0, **request_))) as scan:
        batches = scan.batches()
        got = copied(next(batches)).to_pylist()
        shutil.rmtree(folder)
        got += [row for batch in batches for row in copied(batch).to_pylist()]
    assert got == expected
    assert len(expected) > 50


def test_a_compaction_that_ends_while_a_scan_opens_does_not_disturb_it(
    engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = (NODE / "data/layout").glob("compaction_committed-*")
    folder, away = tmp_path / "t", tmp_path / "away"
    shutil.copytree(source, folder)
    for log in folder.glob("*.log"):
        log.unlink()
    move("nb-5-big", folder, away)  # before the compaction: nb-1 and nb-3
    found = engine(tables=named(folder))
    before = rows(found, "ks", "t", now_s=0)
    real = Scan.__init__

    def compacted(*arguments: Any) -> None:
        if away.exists():
            move("nb-5-big", away, folder)
            away.rmdir()
            for path in [*folder.glob("nb-1-big-*"), *folder.glob("nb-3-big-*")]:
                path.unlink()
        real(*arguments)

    monkeypatch.setattr(Scan, "__init__", compacted)
    assert rows(found, "ks", "t", now_s=0) == before
