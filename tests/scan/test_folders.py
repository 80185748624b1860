from __future__ import annotations

import shutil
from pathlib import Path
from uuid import UUID

import pytest

from flightsrv.errors import CorruptSSTableError, SSTableError, UnsupportedSSTableError
from flightsrv.scan import folders
from flightsrv.scan.folders import TableFolder, find_sstables, find_table_folders, live_sstables, snapshot_folders
from tests.reference.fixtures import COPIED
from tests.sstable.test_txn_log import ADD

LAYOUT = COPIED / "cassandra-5.0/nb/node/data/layout"
ID = UUID("a904b870ece911f18c12e51b6daaa362")
ALL = ("Data.db", "Statistics.db")


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a keyspace of two tables, one with a snapshot, an index and hidden files."""
    users = tmp_path / "data/shop/users-a904b870ece911f18c12e51b6daaa362"
    touch(users, "nb-1-big-Data.db", "nb-1-big-Statistics.db")
    touch(users / "snapshots/before", "nb-1-big-Data.db")
    touch(users / "backups")
    touch(users / ".users_idx", "nb-1-big-Data.db")
    touch(tmp_path / "data/shop/orders-b0df5f00ece911f18c12e51b6daaa362")
    touch(tmp_path / "data/shop/.hidden")
    touch(tmp_path / "data", "a file")
    return tmp_path / "data"


def names(found: list[TableFolder]) -> list[tuple[str, str]]:
    return [(each.keyspace, each.table) for each in found]


def test_a_data_folder_holds_keyspaces_that_hold_tables(data: Path) -> None:
    found = find_table_folders(data)
    assert names(found) == [("shop", "orders"), ("shop", "users")]
    assert found[1] == TableFolder(data / "shop/users-a904b870ece911f18c12e51b6daaa362", "shop", "users", ID)


def test_a_keyspaces_folder_holds_tables(data: Path) -> None:
    assert names(find_table_folders(data / "shop")) == [("shop", "orders"), ("shop", "users")]


def test_a_tables_folder_is_one_table(data: Path) -> None:
    (found,) = find_table_folders(data / "shop/users-a904b870ece911f18c12e51b6daaa362")
    assert (found.keyspace, found.table, found.id) == ("shop", "users", ID)


def test_a_snapshots_folder_is_its_table(data: Path) -> None:
    path = data / "shop/users-a904b870ece911f18c12e51b6daaa362/snapshots/before"
    assert find_table_folders(path) == [TableFolder(path, "shop", "users", ID)]


def test_a_folder_by_another_name_is_a_table_of_the_folder_above(tmp_path: Path) -> None:
    path = touch(tmp_path / "my stuff/users copy", "nb-1-big-Data.db")
    assert find_table_folders(path) == [TableFolder(path, "my_stuff", "users_copy", None)]


def test_a_folder_may_be_given_by_a_way_round(data: Path) -> None:
    assert find_table_folders(data / "shop/..") == find_table_folders(data)


@pytest.mark.parametrize("name", ["nowhere", "a file"])
def test_what_is_no_folder_is_an_error(data: Path, name: str) -> None:
    with pytest.raises(SSTableError, match=f"^{name}: is not a folder$"):
        find_table_folders(data / name)


def test_an_empty_folder_holds_no_table(tmp_path: Path) -> None:
    assert find_table_folders(tmp_path) == []


def test_sstables_come_oldest_first_with_their_components(tmp_path: Path) -> None:
    touch(tmp_path, "nb-10-big-Data.db", "nb-10-big-Statistics.db", "nb-9-big-Data.db", "nb-9-big-TOC.txt")
    touch(tmp_path, "oa-3gdv_0vos_48lts2l3kqtv0q1se8-big-Data.db", "da-2-bti-Data.db", "manifest.json", "nb-1-big.tmp")
    found = find_sstables(tmp_path)
    assert [each.name for each in found] == [
        "da-2-bti",
        "nb-9-big",
        "nb-10-big",
        "oa-3gdv_0vos_48lts2l3kqtv0q1se8-big",
    ]
    assert [sorted(components) for components in found.values()][1:3] == [["Data.db", "TOC.txt"], list(ALL)]


def test_what_is_left_of_a_deleted_sstable_is_none(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Filter.db", "nb-1-big-TOC.txt", "nb-2-big-Data.db")
    assert [each.name for each in find_sstables(tmp_path)] == ["nb-2-big"]


def test_an_sstable_without_its_data_is_corrupt(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Statistics.db")
    with pytest.raises(CorruptSSTableError, match=r"^nb-1-big-Data\.db: the file is missing$"):
        find_sstables(tmp_path)


@pytest.mark.parametrize("name", ["ne-1-big-Data.db", "ka-1-big-Data.db", "ks-t-ka-7-Data.db", "zz-1-bti-Data.db"])
def test_an_sstable_of_an_unknown_version_is_refused(tmp_path: Path, name: str) -> None:
    touch(tmp_path, name)
    with pytest.raises(UnsupportedSSTableError, match=r"version .. of format "):
        find_sstables(tmp_path)


LIVE = {"unfinished": ["nb-1-big", "nb-3-big"], "committed": ["nb-5-big"], "aborted": ["nb-1-big", "nb-3-big"]}


@pytest.mark.parametrize("compaction", LIVE)
def test_transaction_logs_say_what_is_live(compaction: str) -> None:
    (folder,) = LAYOUT.glob(f"compaction_{compaction}-*")
    assert [each.name for each in live_sstables(folder)] == LIVE[compaction]
    assert len(find_sstables(folder)) > len(LIVE[compaction]) or compaction == "aborted"


def test_an_sstable_that_is_being_written_may_lack_its_data(tmp_path: Path) -> None:
    touch(tmp_path, "nb-5-big-Statistics.db", "nb-1-big-Data.db")
    (tmp_path / "nb_txn_flush_b558b220-ece9-11f1-8c12-e51b6daaa362.log").write_bytes(ADD)
    assert [each.name for each in live_sstables(tmp_path)] == ["nb-1-big"]


def test_a_log_that_makes_no_sense_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Data.db")
    (tmp_path / "nb_txn_compaction_b558b220-ece9-11f1-8c12-e51b6daaa362.log").write_text("nonsense\nnonsense\n")
    with pytest.raises(CorruptSSTableError, match=r"^nb_txn_compaction_.*\.log: "):
        live_sstables(tmp_path)


def test_a_compaction_that_ends_while_the_folder_is_read_makes_it_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = LAYOUT.glob("compaction_committed-*")
    folder = tmp_path / "folder"
    shutil.copytree(source, folder)
    read = folders.read_component

    def read_late(path: str) -> bytes:
        for each in [*folder.glob("nb-1-big-*"), *folder.glob("nb-3-big-*"), *folder.glob("*.log")]:
            each.unlink()
        return read(path)

    monkeypatch.setattr(folders, "read_component", read_late)
    assert [each.name for each in live_sstables(folder)] == ["nb-5-big"]


def test_the_snapshots_of_a_table_lie_below_its_folders(data: Path) -> None:
    tables = find_table_folders(data)
    assert snapshot_folders(tables, "before") == [tables[1].path / "snapshots/before"]
    assert snapshot_folders(tables, "after") == []


@pytest.mark.parametrize("name", ["", ".", "..", "../backups", "../snapshots/before", "before/", "before/."])
def test_a_snapshots_name_leads_nowhere_else(data: Path, name: str) -> None:
    assert snapshot_folders(find_table_folders(data), name) == []
