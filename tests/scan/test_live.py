"""Which SSTables are live, by the logs of transactions that had not ended when their node stopped, or that end now."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flightsrv.errors import CorruptSSTableError, SSTableError, UnsupportedSSTableError
from flightsrv.scan import live
from flightsrv.scan.live import MAX_LISTINGS, find_sstables, live_sstables, settled
from tests.reference.fixtures import COLLECTION, COPIED
from tests.scan.test_folders import touch
from tests.sstable.test_txn_log import ABORT, COMMIT, line

LAYOUT = COPIED / "cassandra-5.0/nb/node/data/layout"
ALL = ("Data.db", "Statistics.db")
LOG = "nb_txn_compaction_b558b220-ece9-11f1-8c12-e51b6daaa362.log"
DAY_S = 1_700_000_000


def names(*folders: Path) -> list[list[str]]:
    """The live SSTables in each folder."""
    return [[each.name for each in found] for found in live_sstables(folders).values()]


def test_sstables_come_oldest_first_with_their_components(tmp_path: Path) -> None:
    touch(tmp_path, "nb-10-big-Data.db", "nb-10-big-Statistics.db", "nb-9-big-Data.db", "nb-9-big-TOC.txt")
    touch(tmp_path, "oa-3gdv_0vos_48lts2l3kqtv0q1se8-big-Data.db", "da-2-bti-Data.db", "manifest.txt", "nb-1-big.tmp")
    found = find_sstables(tmp_path)
    assert [each.name for each in found] == [
        "da-2-bti",
        "nb-9-big",
        "nb-10-big",
        "oa-3gdv_0vos_48lts2l3kqtv0q1se8-big",
    ]
    assert [sorted(components) for components in found.values()][1:3] == [["Data.db", "TOC.txt"], list(ALL)]


def test_folders_and_unfinished_files_are_no_sstables(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Data.db", "nb-1-big-SAI+aa+GroupComplete.db", "nb-1-big-Statistics.db.tmp")
    touch(
        tmp_path, "tmp-la-2-big-Data.db", "ks-t-tmp-ka-3-Data.db", "nb-4-big-Data.db.8b4d1a30.tmp", "tmplink-lb-5-big"
    )
    for folder in (".t_idx", "backups", "snapshots/first"):
        touch(tmp_path / folder, "nb-7-big-Data.db")
    (found,) = live_sstables([tmp_path]).values()
    assert {each.name: parts for each, parts in found.items()} == {
        "nb-1-big": {"Data.db", "SAI+aa+GroupComplete.db"},
    }


def test_what_is_left_of_a_deleted_sstable_is_none(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Filter.db", "nb-1-big-TOC.txt", "nb-2-big-Data.db")
    assert names(tmp_path) == [["nb-2-big"]]


def test_an_sstable_without_its_data_is_corrupt(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Statistics.db")
    with pytest.raises(CorruptSSTableError, match=r"^nb-1-big-Data\.db: the file is missing$"):
        find_sstables(tmp_path)


@pytest.mark.parametrize("name", ["ne-1-big-Data.db", "ka-1-big-Data.db", "ks-t-ka-7-Data.db", "zz-1-bti-Data.db"])
def test_an_sstable_of_an_unknown_version_is_refused(tmp_path: Path, name: str) -> None:
    touch(tmp_path, name)
    with pytest.raises(UnsupportedSSTableError, match=r"version .. of format "):
        find_sstables(tmp_path)


def test_sstables_of_the_same_id_in_two_folders_are_two(tmp_path: Path) -> None:
    one, two = (touch(tmp_path / name, "nb-1-big-Data.db", "da-1-bti-Data.db") for name in "ab")
    assert names(one, two) == [["da-1-bti", "nb-1-big"]] * 2


# --- transaction logs ---------------------------------------------------------------------------------------------

LIVE = {"unfinished": ["nb-1-big", "nb-3-big"], "committed": ["nb-5-big"], "aborted": ["nb-1-big", "nb-3-big"]}


@pytest.mark.parametrize("compaction", LIVE)
def test_transaction_logs_say_what_is_live(compaction: str) -> None:
    (folder,) = LAYOUT.glob(f"compaction_{compaction}-*")
    assert names(folder) == [LIVE[compaction]]
    assert len(find_sstables(folder)) > len(LIVE[compaction]) or compaction == "aborted"


@pytest.mark.shared
@pytest.mark.parametrize("version", ["nb", "oa", "da"])
@pytest.mark.parametrize("compaction", LIVE)
def test_logs_of_all_versions_say_what_is_live(version: str, compaction: str) -> None:
    folders = list(COLLECTION.glob(f"cassandra-5.0/{version}/node/data/layout/compaction_{compaction}-*"))
    if not folders:
        pytest.skip(f"the whole collection is not at {COLLECTION}")
    expected = [name.replace("nb", version) for name in LIVE[compaction]]
    assert names(*folders) == [[name.replace("big", "bti") if version == "da" else name for name in expected]]


def sstable(folder: Path, number: int, changed_s: int = DAY_S) -> None:
    touch(folder, *(f"nb-{number}-big-{part}" for part in ALL))
    for part in ALL:
        os.utime(folder / f"nb-{number}-big-{part}", (changed_s, changed_s))


def write_log(folder: Path, *lines: bytes) -> None:
    (folder / LOG).write_bytes(b"".join(each + b"\n" for each in lines))


def added(folder: Path | str, number: int) -> bytes:
    return line("ADD", f"{folder}/nb-{number}-big-", 0, 8)


def removed(folder: Path | str, number: int, changed_s: int = DAY_S) -> bytes:
    return line("REMOVE", f"{folder}/nb-{number}-big-", changed_s * 1000 + 123, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """1 and 2 are compacted into 3."""
    for number in (1, 2, 3):
        sstable(tmp_path / "t", number)
    return tmp_path / "t"


@pytest.mark.parametrize("where", ["here", "/var/lib/cassandra/data/ks/t", ""])
@pytest.mark.parametrize(("end", "expected"), [(COMMIT, [3]), (ABORT, [1, 2]), (COMMIT[:-1], [1, 2]), (b"", [1, 2])])
def test_a_log_counts_where_it_lies_and_where_it_was_copied_to(
    folder: Path, where: str, end: bytes, expected: list[int]
) -> None:
    there = folder if where == "here" else where
    write_log(folder, added(there, 3), removed(there, 1), removed(there, 2), *([end] if end else []))
    assert names(folder) == [[f"nb-{number}-big" for number in expected]]


def test_a_log_of_3_0_may_have_names_alone(folder: Path) -> None:
    write_log(folder, line("ADD", "nb-3-big"), line("REMOVE", "nb-1-big", 5), COMMIT)
    assert names(folder) == [["nb-2-big", "nb-3-big"]]


def test_files_brought_back_where_a_log_removed_them_are_an_error(folder: Path) -> None:
    """A node does not start, and leaves it to its owner which of the two is meant."""
    write_log(folder, added(folder, 3), removed(folder, 1), removed(folder, 2), COMMIT)
    sstable(folder, 2, DAY_S + 1)
    with pytest.raises(CorruptSSTableError, match=rf"^{LOG}: it says that nb-2-big was to be deleted, .*{DAY_S + 1} s"):
        names(folder)
    write_log(folder, added(folder, 3), removed(folder, 1), removed(folder, 2), ABORT)
    assert names(folder) == [["nb-1-big", "nb-2-big"]]


def test_copies_may_have_times_of_their_own(folder: Path) -> None:
    write_log(folder, removed("/elsewhere/t", 1), removed("/elsewhere/t", 2), COMMIT)
    sstable(folder, 2, DAY_S + 1)
    assert names(folder) == [["nb-3-big"]]


def test_an_old_sstable_that_is_half_deleted_is_gone(folder: Path) -> None:
    """A node deletes the newest file last."""
    write_log(folder, added(folder, 3), removed(folder, 1), removed(folder, 2), COMMIT)
    (folder / "nb-1-big-Data.db").unlink()
    os.utime(folder / "nb-2-big-Data.db", (5, 5))
    assert names(folder) == [["nb-3-big"]]


@pytest.mark.parametrize("end", [[], [COMMIT[:-1]]])
@pytest.mark.parametrize("where", ["here", "/elsewhere/t"])
def test_an_old_sstable_that_is_missing_before_the_end_is_an_error(folder: Path, where: str, end: list[bytes]) -> None:
    """As in a copy for which one file was taken after the other: neither the old rows are there, nor all of the new."""
    there = folder if where == "here" else where
    write_log(folder, added(there, 3), removed(there, 1), removed(there, 2), *end)
    (folder / "nb-1-big-Data.db").unlink()
    (folder / "nb-1-big-Statistics.db").unlink()
    with pytest.raises(
        CorruptSSTableError, match=rf"^{LOG}: it did not commit to delete nb-1-big, but that is missing$"
    ):
        names(folder)


def test_it_may_lie_in_a_data_folder_that_is_not_served(folder: Path) -> None:
    write_log(folder, added("/disk1/t", 3), removed("/disk1/t", 1), removed("/disk2/t", 7))
    assert names(folder) == [["nb-1-big", "nb-2-big"]]


def test_an_sstable_that_is_being_written_may_lack_its_data(tmp_path: Path) -> None:
    touch(tmp_path, "nb-5-big-Statistics.db", "nb-1-big-Data.db")
    write_log(tmp_path, added(tmp_path, 5))
    assert names(tmp_path) == [["nb-1-big"]]


def test_a_log_that_makes_no_sense_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Data.db")
    (tmp_path / LOG).write_text("nonsense\nnonsense\n")
    with pytest.raises(CorruptSSTableError, match=rf"^{LOG}: "):
        names(tmp_path)


# --- several data folders -----------------------------------------------------------------------------------------


@pytest.fixture
def disks(tmp_path: Path) -> tuple[Path, Path]:
    """1 on the first and 2 on the second are compacted into 3 on the first and 4 on the second."""
    first, second = tmp_path / "disk1/t", tmp_path / "disk2/t"
    for place, numbers in ((first, (1, 3)), (second, (2, 4))):
        for number in numbers:
            sstable(place, number)
    return first, second


def write_logs(disks: tuple[Path, Path], where: tuple[Path | str, Path | str], *ends: bytes) -> None:
    first, second = where
    lines = [added(first, 3), added(second, 4), removed(first, 1), removed(second, 2)]
    for disk, end in zip(disks, ends, strict=True):
        write_log(disk, *lines, *([end] if end else []))


@pytest.mark.parametrize("where", [None, ("/old/disk1/t", "/old/disk2/t")])
@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((COMMIT, COMMIT), [["nb-3-big"], ["nb-4-big"]]),
        ((COMMIT, b""), [["nb-3-big"], ["nb-4-big"]]),
        ((b"", COMMIT), [["nb-3-big"], ["nb-4-big"]]),
        ((COMMIT[:9], COMMIT), [["nb-3-big"], ["nb-4-big"]]),
        ((b"", b""), [["nb-1-big"], ["nb-2-big"]]),
        ((COMMIT[:9], b""), [["nb-1-big"], ["nb-2-big"]]),
        ((ABORT, b""), [["nb-1-big"], ["nb-2-big"]]),
    ],
)
def test_a_transaction_ends_on_all_disks_or_on_none(
    disks: tuple[Path, Path], where: tuple[str, str] | None, ends: tuple[bytes, bytes], expected: list[list[str]]
) -> None:
    write_logs(disks, where or disks, *ends)
    assert names(*disks) == expected
    assert names(*reversed(disks)) == expected[::-1]


def test_replicas_that_tell_different_things_are_an_error(disks: tuple[Path, Path]) -> None:
    write_logs(disks, disks, COMMIT, ABORT)
    with pytest.raises(CorruptSSTableError, match="another replica of the log has another record here"):
        names(*disks)


def test_a_log_speaks_of_sstables_in_folders_where_it_has_no_replica(disks: tuple[Path, Path]) -> None:
    write_logs(disks, disks, COMMIT, b"")
    (disks[1] / LOG).unlink()
    assert names(*disks) == [["nb-3-big"], ["nb-4-big"]]


def test_a_log_does_not_speak_of_an_sstable_of_the_same_name_elsewhere(
    disks: tuple[Path, Path], tmp_path: Path
) -> None:
    """Such as another node's."""
    write_logs(disks, disks, COMMIT, COMMIT)
    other = tmp_path / "other/t"
    sstable(other, 1)
    assert names(*disks, other) == [["nb-3-big"], ["nb-4-big"], ["nb-1-big"]]


def test_one_disk_alone_is_read_by_its_own_replica(disks: tuple[Path, Path]) -> None:
    write_logs(disks, ("/old/disk1/t", "/old/disk2/t"), b"", b"")
    assert names(disks[0]) == [["nb-1-big"]]


# --- a node at work -----------------------------------------------------------------------------------------------


def after_the_first_listing(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], None]) -> None:
    """Something happens once, when all folders have been listed, and before a log is read."""
    real, pending = live.transactions, [happen]

    def transactions(listed: live.Names) -> dict[str, list[Path]]:
        if pending:
            pending.pop()()
        return real(listed)

    monkeypatch.setattr(live, "transactions", transactions)


def test_a_compaction_that_ends_while_the_folder_is_read_makes_it_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,) = LAYOUT.glob("compaction_committed-*")
    folder = tmp_path / "folder"
    shutil.copytree(source, folder)

    def end() -> None:
        for each in [*folder.glob("nb-1-big-*"), *folder.glob("nb-3-big-*"), *folder.glob("*.log")]:
            each.unlink()

    after_the_first_listing(monkeypatch, end)
    assert names(folder) == [["nb-5-big"]]


def test_an_sstable_that_gets_its_last_files_meanwhile_is_seen_with_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CompressionInfo.db comes when the data are written: without it they would be taken for uncompressed ones."""
    write_log(folder, added(folder, 3), removed(folder, 1), removed(folder, 2))

    def commit() -> None:
        touch(folder, "nb-3-big-CompressionInfo.db")
        write_log(folder, added(folder, 3), removed(folder, 1), removed(folder, 2), COMMIT)

    after_the_first_listing(monkeypatch, commit)
    ((parts,),) = (found.values() for found in live_sstables([folder]).values())
    assert parts == {"CompressionInfo.db", *ALL}


def test_an_sstable_that_moves_from_disk_to_disk_is_seen_once(
    disks: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither not at all, because the disk it goes to was listed before, nor twice."""

    def move() -> None:
        for path in disks[0].glob("nb-1-big-*"):
            shutil.move(path, disks[1])

    after_the_first_listing(monkeypatch, move)
    assert names(*disks) == [["nb-3-big"], ["nb-1-big", "nb-2-big", "nb-4-big"]]


def test_a_folder_that_never_stays_as_it_is_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = iter(range(10 * MAX_LISTINGS))
    monkeypatch.setattr(live, "list_names", lambda _: [f"file {next(count)}"])
    with pytest.raises(SSTableError, match=rf"^t: it changed each time of {MAX_LISTINGS} that it was listed$"):
        names(folder)


def test_what_fails_is_tried_again_with_what_is_there_by_then() -> None:
    states = iter([1, 2, 3, 3])

    def use(seen: int) -> int:
        if seen < 3:
            raise SSTableError("gone", live.Where("f"))
        return seen

    assert settled(lambda: next(states), use) == 3
    with pytest.raises(SSTableError, match="gone"):
        settled(lambda: 1, use)


# --- snapshots ----------------------------------------------------------------------------------------------------

FIRST = "indexed-a904b870ece911f18c12e51b6daaa362/snapshots/first"


def test_a_snapshot_is_whole_when_all_that_its_manifest_lists_is_in_one_of_its_folders() -> None:
    disks = [LAYOUT / FIRST, LAYOUT.parents[1] / "data2/layout" / FIRST]
    assert names(*disks) == [["nb-1-big"], ["nb-2-big"]]
    with pytest.raises(CorruptSSTableError, match=r"^manifest\.json: it lists nb-2-big-Data\.db, which is missing$"):
        names(disks[0])
    assert names(disks[1]) == [["nb-2-big"]]  # it has no manifest


def test_a_manifest_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    touch(tmp_path, "nb-1-big-Data.db")
    (tmp_path / "manifest.json").write_text('{"files":["nb-1')
    with pytest.raises(CorruptSSTableError, match=r"^manifest\.json: it is no JSON$"):
        names(tmp_path)
