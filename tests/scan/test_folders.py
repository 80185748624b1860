from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from flightsrv.errors import SSTableError
from flightsrv.scan import folders
from flightsrv.scan.folders import TableFolder, find_table_folders, list_stamps, snapshot_folders

ID = UUID("a904b870ece911f18c12e51b6daaa362")
USERS = "shop/users-a904b870ece911f18c12e51b6daaa362"


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
    assert found[1] == TableFolder(data / USERS, "shop", "users", ID, is_of_node=True)


def test_a_keyspaces_folder_holds_tables(data: Path) -> None:
    assert names(find_table_folders(data / "shop")) == [("shop", "orders"), ("shop", "users")]


def test_a_tables_folder_is_one_table(data: Path) -> None:
    (found,) = find_table_folders(data / USERS)
    assert (found.keyspace, found.table, found.id) == ("shop", "users", ID)


def test_a_snapshots_folder_is_its_table(data: Path) -> None:
    path = data / USERS / "snapshots/before"
    assert find_table_folders(path) == [TableFolder(path, "shop", "users", ID)]


def test_a_backups_folder_is_its_table(data: Path) -> None:
    path = data / USERS / "backups"
    assert find_table_folders(path) == [TableFolder(path, "shop", "users", ID)]


def test_a_folder_that_is_called_so_and_is_none_is_a_table_of_its_own(tmp_path: Path) -> None:
    path = touch(tmp_path / "mnt/backups", "nb-1-big-Data.db")
    assert find_table_folders(path) == [TableFolder(path, "mnt", "backups", None)]


def test_a_tables_folder_is_one_when_only_snapshots_are_left_of_it(data: Path) -> None:
    for path in (data / USERS).glob("nb-*"):
        path.unlink()
    assert find_table_folders(data / USERS) == [TableFolder(data / USERS, "shop", "users", ID)]


def test_the_tables_of_one_keyspace_are_found_without_a_look_at_others(data: Path, monkeypatch: Any) -> None:
    touch(data / "other/things-b0df5f00ece911f18c12e51b6daaa362")
    listed = []
    real = folders._subfolders
    monkeypatch.setattr(folders, "_subfolders", lambda path, **options: listed.append(path) or real(path, **options))
    assert names(find_table_folders(data, "shop")) == [("shop", "orders"), ("shop", "users")]
    assert listed == [data, data / "shop"]
    assert names(find_table_folders(data, "nowhere")) == []
    assert names(find_table_folders(data / "shop", "other")) == []


def test_what_is_no_keyspace_in_a_data_folder_is_left_alone(data: Path) -> None:
    """A file system's own folder cannot be listed by all."""
    (data / "lost+found").mkdir(mode=0)
    (data / "shop/lost+found").mkdir(mode=0)
    touch(data / ".hidden/users-a904b870ece911f18c12e51b6daaa362")
    assert names(find_table_folders(data)) == [("shop", "orders"), ("shop", "users")]


def test_a_keyspace_that_goes_away_meanwhile_has_no_tables(data: Path, monkeypatch: Any) -> None:
    real = folders._subfolders

    def too_late(path: Path, **options: Any) -> list[Path]:
        found = real(path, **options)
        if path == data:
            shutil.rmtree(data / "shop")
        return found

    monkeypatch.setattr(folders, "_subfolders", too_late)
    assert find_table_folders(data) == []


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


def test_the_snapshots_of_a_table_lie_below_its_folders(data: Path) -> None:
    tables = find_table_folders(data)
    assert snapshot_folders(tables, "before") == [tables[1].path / "snapshots/before"]
    assert snapshot_folders(tables, "after") == []


@pytest.mark.parametrize("name", ["", ".", "..", "../backups", "../snapshots/before", "before/", "before/."])
def test_a_snapshots_name_leads_nowhere_else(data: Path, name: str) -> None:
    assert snapshot_folders(find_table_folders(data), name) == []


def test_stamps_tell_a_file_from_another_of_its_name(data: Path) -> None:
    path = data / USERS / "nb-1-big-Data.db"
    before = list_stamps(data / USERS)
    assert before == list_stamps(data / USERS)
    path.with_name("new").write_bytes(b"other")
    path.with_name("new").replace(path)
    assert list_stamps(data / USERS) != before
    assert list_stamps(data / USERS).keys() == before.keys()
