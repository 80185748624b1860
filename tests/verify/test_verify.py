"""SSTables that real nodes wrote verify without an error; of damaged ones the errors say where the damage is."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.keyvalue import write as write_keyvalue
from corpus.mixed import write as write_mixed
from flightsrv.errors import SSTableError
from flightsrv.verify import Finding, Verification, verify_folder
from tests.reference.fixtures import SERVED_VERSIONS, FixtureSet, params, version_of
from tests.sstable.components import copied
from tests.verify.damaging import copy_of

EXPLAINED = {
    "cassandra/invalid/mb/Keyspace1/cf_with_duplicates_3_0": (
        "Data.db: position 0, clustering order",
        "a bug of 3.0 wrote rows twice, and this is Cassandra's own sample of them",
    ),
}
"""Good sets with an error that is right: what it says, and why it is there."""

UNSEEN_DAMAGE = {
    "nb_toc_missing": "TOC.txt is not needed",
}
"""Damage that is a note."""

SMALL = copied("cassandra-5.0/nb/ttl/nb-3-big-Data.db")


def errors_of(fixture: FixtureSet) -> list[str]:
    folders = {path.parent for path in fixture.data_files}
    return [str(each) for folder in folders for each in verify_folder(folder) if each.severity == "error"]


def is_damaged(fixture: FixtureSet) -> bool:
    return "damage" in fixture.manifest_entry or fixture.id.startswith("corrupt/")


def is_good(fixture: FixtureSet) -> bool:
    return not is_damaged(fixture) and all(version_of(path) in SERVED_VERSIONS for path in fixture.data_files)


@pytest.mark.parametrize("fixture", params(is_good))
def test_a_good_set_has_no_error(fixture: FixtureSet) -> None:
    errors = errors_of(fixture)
    if fixture.id in EXPLAINED:
        assert [EXPLAINED[fixture.id][0] in error for error in errors] == [True]
    else:
        assert errors == []


@pytest.mark.parametrize("fixture", params(is_damaged))
def test_every_error_about_a_damaged_set_says_where(fixture: FixtureSet) -> None:
    errors = [each for each in verify_folder(fixture.folder) if each.severity == "error"]
    if fixture.id.removeprefix("corrupt/derived/") in UNSEEN_DAMAGE:
        assert errors == []
    else:
        assert errors
        assert all(map(has_place, errors))


def has_place(finding: Finding) -> bool:
    return finding.offset is not None or finding.position is not None or finding.field is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nb_bad_digest", "Digest.crc32: offset 0, crc32: 1234567890 in the file, 3400459090 computed over Data.db"),
        ("nb_chunk_bitflip", "Data.db: offset 2933: chunk 7 checksum: 0x4434cc41 in the file, 0xcca043eb computed"),
        ("nb_lz4_huge_length", "Data.db: offset 0: chunk 0 length: 2147483647 in the file, 173 expected"),
        ("nb_data_empty", "Data.db: offset 0: the file is empty"),
        ("nb_index_missing", "Index.db: file: the file is missing"),
        ("nb_statistics_missing", "Statistics.db: file: the file is missing"),
        ("nb_compressioninfo_missing", "CompressionInfo.db: file: TOC.txt lists the file, but it is missing"),
        ("oa_index_truncated", "Index.db: offset 63004, promoted: its 31491 bytes are not the file's: 6993 are left"),
        ("da_partitions_truncated", "Partitions.db: offset 28, keys_offset: there are no keys at 18044360201416704 of"),
        ("da_partitions_missing", "Partitions.db: file: the file is missing"),
        ("da_rows_empty", "Rows.db: offset 0, entry: it points at 93, outside of the file"),
        ("unknown_version", "Data.db: version: version zz of format big is unknown"),
    ],
)
def test_damage_is_named(name: str, message: str) -> None:
    folder = copied(f"corrupt/derived/{name}/x").data_file.parent
    first = next(each for each in verify_folder(folder) if each.severity == "error")
    assert message in str(first)


@pytest.mark.parametrize("version", ["nb", "oa"])
@pytest.mark.parametrize(
    "content",
    [
        {"partitions": 1},
        {"partitions": 40_000},
        {"partitions": 2_000, "runs": 3, "ttl_share": 0.4, "deletion_share": 0.4},
    ],
    ids=str,
)
def test_what_the_corpus_writes_verifies_without_a_word(
    tmp_path: Path, version: str, content: dict[str, float]
) -> None:
    written = write_keyvalue(tmp_path, version=version, **content)  # type: ignore[arg-type]
    verification = verify_folder(written.folder)
    assert list(verification) == []
    assert verification.summary.rows == written.rows
    assert verification.summary.bytes == written.data_bytes


@pytest.mark.parametrize("version", ["nb", "oa"])
def test_what_the_corpus_writes_of_wide_partitions_verifies_without_a_word(tmp_path: Path, version: str) -> None:
    folder = write_mixed(tmp_path, 3, 6000, 2, version=version, ttl_share=0.1, deletion_share=0.5).folder
    assert list(verify_folder(folder)) == []


def test_a_damaged_component_does_not_stop_the_check_of_the_others(tmp_path: Path) -> None:
    copy = copy_of(SMALL, tmp_path)
    for component in ("Statistics.db", "Filter.db", "Summary.db", "Digest.crc32", "TOC.txt", "Index.db"):
        copy.write(component, b"\xff" + copy.read(component)[1:])
    copy.patch("Data.db", 3, b"\xff\xff")
    damaged = {each.component for each in copy.findings() if each.severity == "error"}
    assert damaged == {
        "Statistics.db", "Filter.db", "Summary.db", "Digest.crc32", "TOC.txt", "Index.db", "Data.db"
    }  # fmt: skip


def test_a_damaged_sstable_does_not_stop_the_check_of_the_next(tmp_path: Path) -> None:
    first, second, good = (copy_of(copied(path), tmp_path) for path in THREE)
    first.remove("Data.db")
    second.patch("Data.db", 100, b"\xff\xff")
    verification = verify_folder(tmp_path)
    assert {each.sstable for each in verification if each.severity == "error"} == {"nb-1-big", "nb-3-big"}
    summary = verification.summary
    assert (summary.sstables, summary.damaged_sstables) == (3, 2)
    assert summary.rows == good.sstable.parse("Statistics.db").stats.total_rows


THREE = (
    "cassandra-5.0/nb/wide_desc/nb-1-big-Data.db",
    "cassandra-5.0/nb/ttl/nb-3-big-Data.db",
    "cassandra-5.0/oa/wide/oa-3-big-Data.db",
)


def test_a_data_folder_is_verified_with_all_its_tables(tmp_path: Path) -> None:
    for keyspace in ("one", "two"):
        folder = tmp_path / keyspace / f"t-{'0' * 32}"
        folder.mkdir(parents=True)
        copy_of(SMALL, folder).remove("Statistics.db")
    verification = verify_folder(tmp_path)
    errors = [each for each in verification if each.severity == "error"]
    assert [each.sstable for each in errors] == [f"{keyspace}/t-{'0' * 32}/nb-3-big" for keyspace in ("one", "two")]
    assert str(errors[0]) == f"one/t-{'0' * 32}/nb-3-big-Statistics.db: file: the file is missing"
    assert verification.summary.sstables == 2


@pytest.mark.parametrize(
    ("end", "not_live"),
    [(b"", {"nb-5-big"}), (b"COMMIT:[,0,0][2613697770]\n", {"nb-3-big"})],
    ids=["open", "committed"],
)
def test_an_sstable_that_is_not_live_is_left_alone(tmp_path: Path, end: bytes, not_live: set[str]) -> None:
    copy_of(SMALL, tmp_path)
    for name in ("nb-5-big-Data.db", "nb-3-big-Data.db"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "nb_txn_compaction_x.log").write_bytes(ADD_5 + REMOVE_3 + end)
    findings = list(verify_folder(tmp_path))
    assert {each.sstable for each in findings if each.severity == "note"} == not_live
    assert {each.sstable for each in findings if each.severity == "error"} == {"nb-5-big", "nb-3-big"} - not_live


ADD_5 = b"ADD:[/d/nb-5-big-,0,8][1196820527]\n"
REMOVE_3 = b"REMOVE:[/d/nb-3-big-,0,8][2184383064]\n"


def test_a_damaged_transaction_log_is_told_and_ignored(tmp_path: Path) -> None:
    copy_of(SMALL, tmp_path)
    (tmp_path / "nb_txn_compaction_x.log").write_bytes(b"hello\n" + ADD_5)
    (finding,) = verify_folder(tmp_path)
    assert str(finding).startswith("nb_txn_compaction_x.log: offset 0, record: it is no record")


def test_progress_ends_at_the_size_of_data(tmp_path: Path) -> None:
    copy = copy_of(copied(THREE[0]), tmp_path)
    heard: list[tuple[str, int, int]] = []
    list(verify_folder(tmp_path, lambda *told: heard.append(told)))
    size = len(copy.read("Data.db"))
    assert heard[-1] == ("nb-1-big", size, size)


def test_a_missing_optional_component_is_a_note(tmp_path: Path) -> None:
    copy = copy_of(SMALL, tmp_path)
    for component in ("Filter.db", "Summary.db", "Digest.crc32", "TOC.txt"):
        copy.remove(component)
    findings = copy.findings()
    assert {each.component for each in findings} == {"Filter.db", "Summary.db", "Digest.crc32", "TOC.txt"}
    assert {each.severity for each in findings} == {"note"}


def test_uncompressed_data_needs_no_checksums(tmp_path: Path) -> None:
    copy = copy_of(SMALL, tmp_path)
    copy.store_uncompressed()
    assert copy.findings() == []
    copy.remove("CRC.db")
    assert [(each.component, each.severity) for each in copy.findings()] == [("CRC.db", "note")]


def test_a_component_that_toc_does_not_list_is_an_error_if_cassandra_would_miss_it(tmp_path: Path) -> None:
    copy = copy_of(SMALL, tmp_path)
    copy.write("Custom.db", b"")
    copy.write("TOC.txt", copy.read("TOC.txt").replace(b"Filter.db\n", b"Other.db\n"))
    assert [(each.severity, each.what) for each in copy.findings()] == [
        ("note", "it lists Other.db, which is missing"),
        ("note", "it does not list Custom.db, which is there"),
        ("error", "it does not list Filter.db, which is there"),
    ]


def test_too_many_findings_about_a_component_are_counted_only(tmp_path: Path) -> None:
    folder = write_keyvalue(tmp_path, 1000).folder
    (filter_file,) = folder.glob("*-Filter.db")
    data = filter_file.read_bytes()
    filter_file.write_bytes(data[:8] + bytes(len(data) - 8))
    verification = verify_folder(folder)
    findings = list(verification)
    assert len(findings) == 100
    assert findings[-1].what == "99 findings are listed, more are not"
    assert verification.summary.errors == 100


def test_a_file_that_has_gone_is_an_error(tmp_path: Path) -> None:
    copy = copy_of(SMALL, tmp_path)
    copy.remove("Data.db")
    copy.sstable.data_file.symlink_to(tmp_path / "nowhere")
    assert copy.errors() == ["Data.db: file: a file cannot be looked at: No such file or directory"]


@pytest.mark.parametrize("end", [lambda verification: verification.close(), lambda _: None], ids=["closed", "let go"])
def test_threads_end_with_a_verification_that_nobody_wants_to_end(end: Callable[[Verification], None]) -> None:
    before = set(threading.enumerate())
    gc.disable()  # so it must not depend on when garbage is collected
    try:
        verification = verify_folder(copied("corrupt/derived/nb_chunk_bitflip/x").data_file.parent)
        next(verification)
        assert set(threading.enumerate()) > before
        end(verification)
        del verification
        assert set(threading.enumerate()) == before
    finally:
        gc.enable()


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SSTableError, match="is not a folder"):
        verify_folder(tmp_path / "none")


def test_a_folder_without_sstables_has_none(tmp_path: Path) -> None:
    verification = verify_folder(tmp_path)
    assert list(verification) == []
    assert verification.summary.sstables == 0
