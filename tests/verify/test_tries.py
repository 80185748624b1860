"""Partitions.db and Rows.db that are well-formed but say something else than Data.db."""

from __future__ import annotations

from pathlib import Path

import pytest

from flightsrv.sstable.cursor import Line
from flightsrv.verify import chunks, partitions, row_tries, trie_batches
from tests.sstable.components import SSTable, copied, described
from tests.verify.damaging import Copy, copy_of

NARROW = copied("cassandra-5.0/da/deletes/da-3h5y_1e7k_5iosa2vpc6ab5h8h1s-bti-Data.db")
"""24 partitions without a row index."""
WIDE = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")
"""One partition of six blocks, with a range deletion that is open where one starts."""
CLUSTERED = copied("cassandra/da/legacy_tables/legacy_da_clust/da-1-bti-Data.db")
"""Five wide partitions."""


@pytest.fixture
def narrow(tmp_path: Path) -> Copy:
    return copy_of(NARROW, tmp_path)


@pytest.fixture
def wide(tmp_path: Path) -> Copy:
    return copy_of(WIDE, tmp_path)


def line_of(copy: Copy, component: str, end: str, nth: int = 0) -> Line:
    """A field by the end of its name."""
    return [line for line in described(copy.sstable, component) if line.field.endswith(end)][nth]


def change(copy: Copy, component: str, end: str, new: bytes, nth: int = 0) -> int:
    """Put something else in place of a field's last bytes. Returns the offset of the field."""
    line = line_of(copy, component, end, nth)
    copy.patch(component, line.offset + line.size - len(new), new)
    return line.offset


def test_another_position_is_told_of_both_partitions(narrow: Copy) -> None:
    change(narrow, "Partitions.db", "inverted position", b"\xae", nth=1)  # 81 instead of 80
    node = line_of(narrow, "Partitions.db", "type, flags", nth=1).offset
    assert narrow.errors() == [
        f"Partitions.db: offset {node}, trie: the partition at position 80 is not in it",
        f"Partitions.db: offset {node}, target: no partition starts at position 81",
    ]


@pytest.mark.parametrize("inverted", [b"\xff", b"\x80"], ids=["first", "later"])
def test_a_position_out_of_order_is_told(narrow: Copy, inverted: bytes) -> None:
    change(narrow, "Partitions.db", "inverted position", inverted, nth=1)  # 0 or 127 instead of 80
    node = line_of(narrow, "Partitions.db", "type, flags", nth=1).offset
    position = 255 - inverted[0]
    assert narrow.errors() == [
        f"Partitions.db: offset {node}, target: position {position} is not between that of the partition before, 0, "
        "and of the one behind",
        f"Partitions.db: offset {node + 3}, trie: the partition at position 80 is not in it",
    ]


def test_another_hash_is_told(narrow: Copy) -> None:
    change(narrow, "Partitions.db", "hash", b"\x00", nth=2)
    node = line_of(narrow, "Partitions.db", "type, flags", nth=2).offset
    assert narrow.errors() == [
        f"Partitions.db: offset {node}, hash: the key of the partition at position 115 has another hash"
    ]


def test_a_path_that_is_not_the_keys_is_told(narrow: Copy) -> None:
    line = line_of(narrow, "Partitions.db", "node 40.transitions")
    narrow.patch("Partitions.db", line.offset + 1, bytes([line.value[1] + 1]))
    node = line_of(narrow, "Partitions.db", "type, flags", nth=1).offset
    assert narrow.errors() == [
        f"Partitions.db: offset {node}, node: the key of the partition at position 80 does not lead here"
    ]


def test_a_damaged_node_ends_the_check_of_the_trie(narrow: Copy) -> None:
    narrow.patch("Partitions.db", 6, b"\x00")  # a leaf without a payload
    assert narrow.errors() == ["Partitions.db: offset 6, type, flags: the node has neither children nor a payload"]


def test_another_count_of_keys_is_told(narrow: Copy) -> None:
    change(narrow, "Partitions.db", "key_count", b"\x17")
    assert narrow.errors() == ["Partitions.db: offset 146, key_count: 23 in the file, 24 in the trie"]


@pytest.mark.parametrize("field", ["first_key", "last_key"])
def test_another_first_or_last_key_is_told(narrow: Copy, field: str) -> None:
    key: bytes = line_of(narrow, "Partitions.db", field).value
    change(narrow, "Partitions.db", field, b"x")
    said = key[:-1] + b"x"
    assert narrow.errors() == [f"Partitions.db: {field}: 0x{said.hex()} in the file, 0x{key.hex()} in Data.db"]


ROW_INDEX_DAMAGE = [
    ("partition 0.key", b"x", "key: the key of the partition at position 0 is another"),
    ("partition 0.position", b"\x01", "Partitions.db: offset 0, trie: the partition at position 0 is not in it"),
    ("partition 0.block count", b"\x05", "block count: 5 blocks in the entry, 6 in its trie"),
    ("partition 0.root", b"\x15", "Rows.db: offset 57, transitions: its length is 33, 3 bytes are left"),
    ("partition 0.root", b"\x17", "block count: 6 blocks in the entry, 5 in its trie"),
    ("root.start", b"\x08", "start: the head of the partition at position 0 is not so long"),
    ("4080002ce8.start", b"\x1a", "start: no row or marker of the partition at 0 starts at position 12314"),
    ("4080004f.start", b"\xd3", "start: no row or marker of the partition at 0 starts at position 20947"),
    (
        "4080001fe3.open_deletion.marked_for_delete_at_us",
        b"\x29",
        "start: another range deletion is open at position 8208",
    ),
    (
        "4080001fe3.open_deletion.local_deletion_time_s",
        b"\xe1",
        "start: another range deletion is open at position 8208",
    ),
    ("node 4080002c.transition", b"\x00", "separator: what leads to the block at position 12313 does not lie between"),
    ("node 4080002c.transition", b"\xff", "separator: what leads to the block at position 12313 does not lie between"),
    ("node 408000.transitions", b"\x4d", "separator: what leads to the block at position 20946 does not lie between"),
]
"""A field of WIDE, its last byte, and what is said of it."""


@pytest.mark.parametrize(("field", "new", "message"), ROW_INDEX_DAMAGE)
def test_a_row_index_that_does_not_fit_the_rows_is_told(wide: Copy, field: str, new: bytes, message: str) -> None:
    change(wide, "Rows.db", field, new)
    errors = wide.errors()
    assert message in errors[0]
    assert all(error.startswith(("Rows.db: ", "Partitions.db: offset 0, t")) for error in errors)


def test_another_deletion_of_a_wide_partition_is_told(tmp_path: Path) -> None:
    copy = copy_of(CLUSTERED, tmp_path)
    offset = change(copy, "Rows.db", "partition 2.deletion.flags", b"\x80")
    entry = line_of(copy, "Rows.db", "partition 2.key").offset
    live = copy.read("Rows.db")
    copy.write("Rows.db", live[:offset] + bytes(12) + live[offset + 1 :])
    assert any(f"offset {entry}, deletion: the partition at position" in error for error in copy.errors())


def test_bytes_behind_the_last_row_index_are_told(wide: Copy) -> None:
    wide.write("Rows.db", wide.read("Rows.db") + b"more")
    assert wide.errors() == ["Rows.db: offset 70, end: 4 bytes follow the last entry that Partitions.db points at"]


def test_a_row_index_of_no_partition_is_told(narrow: Copy) -> None:
    narrow.write("Rows.db", b"\0")
    assert narrow.errors() == ["Rows.db: offset 0, end: 1 bytes follow the last entry that Partitions.db points at"]


def test_rows_without_their_index_file_are_told_once(wide: Copy) -> None:
    wide.remove("Rows.db")
    assert wide.errors()[0] == "Rows.db: file: the file is missing"


def test_the_index_is_checked_by_itself_when_rows_cannot_be_decoded(narrow: Copy) -> None:
    narrow.remove("Statistics.db")
    narrow.patch("Partitions.db", 6, b"\x00")
    assert [error.split(":")[0] for error in narrow.errors()] == ["Statistics.db", "Partitions.db"]


@pytest.mark.parametrize("sstable", [NARROW, WIDE, CLUSTERED], ids=str)
def test_index_and_data_may_be_read_in_pieces_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sstable: SSTable
) -> None:
    monkeypatch.setattr(trie_batches, "BLOCKS_A_BATCH", 1)
    monkeypatch.setattr(row_tries, "PATH_BYTES", 16)
    monkeypatch.setattr(partitions, "PARTITIONS_A_CALL", 1)
    monkeypatch.setattr(chunks, "WINDOW_BYTES", 1)
    copy = copy_of(sstable, tmp_path)
    copy.store_uncompressed(chunk_size=61)
    assert copy.findings() == []


def test_separators_longer_than_there_is_room_for_are_an_error(wide: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_tries, "PATH_BYTES", 4)
    monkeypatch.setattr(row_tries, "MAX_PATH_BYTES", 8)
    assert wide.errors() == [
        "Rows.db: offset 60, separator: what leads to its blocks has more than 8 bytes",
    ]
