"""Index.db, Summary.db and Filter.db that are well-formed but say something else than Data.db."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from corpus.keyvalue import write as write_keyvalue
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.sstable.cursor import as_i64
from flightsrv.verify import chunks, index_batches, partitions
from tests.sstable.components import SSTable, copied
from tests.verify.damaging import Copy, copy_of

SMALL = copied("cassandra-5.0/nb/ranges_mixed/nb-1-big-Data.db")
WIDE = copied("cassandra-5.0/nb/wide_desc/nb-1-big-Data.db")
OPEN_RANGE = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")
"""Its row index has a range deletion that is open at a block's end."""


@pytest.fixture
def small(tmp_path: Path) -> Copy:
    return copy_of(SMALL, tmp_path)


def test_what_was_copied_and_written_again_is_whole(tmp_path: Path) -> None:
    for sstable in (SMALL, WIDE, OPEN_RANGE):
        folder = tmp_path / sstable.data_file.parent.name
        folder.mkdir()
        copy = copy_of(sstable, folder)
        copy.write_index(copy.raw_entries())
        copy.store_uncompressed()
        assert copy.findings() == []


def test_a_missing_entry_is_told_with_the_one_in_its_place(small: Copy) -> None:
    entries = small.raw_entries()
    small.write_index([entries[0], *entries[2:]])
    offset = len(entries[0][0]) + 4
    assert small.errors() == [
        f"Index.db: offset {offset}, entry: the partition at position {entries[1][1]} has no entry"
    ]


def test_missing_entries_at_the_end_are_told(small: Copy) -> None:
    entries = small.raw_entries()
    small.write_index(entries[:-1])
    assert small.errors() == [f"Index.db: entry: the partition at position {entries[-1][1]} has no entry"]


def test_an_entry_of_no_partition_is_told(small: Copy) -> None:
    entries = small.raw_entries()
    key, position, _ = entries[-1]
    small.write_index([*entries[:-1], (b"other", position - 1, b""), (key, position, b""), (b"more", 10**6, b"")])
    errors = small.errors()
    assert [error.split(": ")[-1] for error in errors] == [
        f"no partition starts at position {position - 1}",
        "no partition starts at position 1000000",
    ]


def test_an_entry_with_another_key_is_told(small: Copy) -> None:
    entries = small.raw_entries()
    entries[1] = (b"other", *entries[1][1:])
    small.write_index(entries)
    assert [error.split(", ")[1] for error in small.errors()] == [
        f"key: the key of the partition at position {entries[1][1]} is another"
    ]


ROW_INDEX_DAMAGE = [
    ("header_length", "promoted.header_length: the head of the partition at position 0 is not so long"),
    ("deletion.local_deletion_time_s", "promoted.deletion: the partition at position 0 has another deletion"),
    ("block count", "promoted.block offsets: 13 of 4 bytes do not fit in the 39 bytes left"),
    ("block 3.first.kind", "promoted.block 3.first.value count: 10 is more than the 2 clustering columns"),
    ("block 3.first.value 0", "promoted.blocks: the row or marker at position 12438 has another clustering than the"),
    ("block 3.last.value 0", "promoted.blocks: the row or marker before position 16578 has another clustering than"),
    ("block 3.start", "promoted.blocks: a block starts at position 12439, where the one before it does not end"),
    ("block 3.width - 65536", "promoted.blocks: a block starts at position 16578, where the one before it does not"),
    ("block 11.width - 65536", "promoted.blocks: no row or marker of the partition at 0 starts at position"),
    ("block 3.has_open_deletion", "promoted.block 4.first.kind: 49 is not that of a bound"),
    ("block offsets", "promoted.block offsets: they are [0, 47, 95"),
]
"""A field of the first row index of WIDE, and what is said when its last byte is another."""


@pytest.mark.parametrize(("field", "message"), ROW_INDEX_DAMAGE)
def test_a_row_index_that_does_not_fit_the_rows_is_told(tmp_path: Path, field: str, message: str) -> None:
    copy = copy_of(WIDE, tmp_path)
    flip_last_byte(copy, f"promoted.{field}")
    errors = copy.errors()
    assert message in errors[0]
    assert all(error.startswith("Index.db: offset ") for error in errors)


@pytest.mark.parametrize("field", ["marked_for_delete_at_us", "local_deletion_time_s"])
def test_another_open_range_than_that_of_the_rows_is_told(tmp_path: Path, field: str) -> None:
    copy = copy_of(OPEN_RANGE, tmp_path)
    flip_last_byte(copy, f"promoted.block 1.open_deletion.{field}")
    assert copy.errors() == ["Index.db: offset 0, promoted.blocks: another range deletion is open at position 8208"]


def flip_last_byte(copy: Copy, field: str) -> None:
    offset, size = copy.place("Index.db", field)
    copy.patch("Index.db", offset + size - 1, bytes([copy.read("Index.db")[offset + size - 1] ^ 1]))


def test_a_row_index_that_ends_before_its_partition_does_is_told(tmp_path: Path) -> None:
    copy = copy_of(WIDE, tmp_path)
    names = ("header_length", "block count", "block 11.first.kind", "block offsets")
    start, count, last, table = (copy.place("Index.db", f"promoted.{name}")[0] for name in names)
    (key, position, promoted), *others = copy.raw_entries()
    shorter = promoted[: count - start] + b"\x0b" + promoted[count - start + 1 : last - start]
    copy.write_index([(key, position, shorter + promoted[table - start : -4]), *others])
    assert copy.errors() == [
        "Index.db: offset 0, promoted.blocks: the partition at 0 does not end at position 45558, as its last block does"
    ]


@pytest.mark.parametrize("sstable", [SMALL, WIDE, OPEN_RANGE], ids=str)
def test_index_and_data_may_be_read_in_pieces_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sstable: SSTable
) -> None:
    monkeypatch.setattr(index_batches, "READ_BYTES", 7)
    monkeypatch.setattr(index_batches, "ENTRIES_A_BATCH", 1)
    monkeypatch.setattr(partitions, "PARTITIONS_A_CALL", 1)
    monkeypatch.setattr(chunks, "WINDOW_BYTES", 1)
    copy = copy_of(sstable, tmp_path)
    copy.store_uncompressed(chunk_size=61)
    assert copy.findings() == []
    entries = copy.raw_entries()
    copy.write_index([*entries[:-1], (b"other", *entries[-1][1:])])
    (error,) = copy.errors()
    assert f"key: the key of the partition at position {entries[-1][1]} is another" in error


def test_index_is_checked_by_itself_when_rows_cannot_be_decoded(small: Copy) -> None:
    small.remove("Statistics.db")
    small.patch("Index.db", 2, b"\xff")
    components = [error.split(":")[0] for error in small.errors()]
    assert components == ["Statistics.db", "Summary.db", "Summary.db", "Filter.db"]


@pytest.fixture
def sampled(tmp_path: Path) -> Copy:
    """An SSTable of 1000 partitions, so of 8 samples."""
    folder = write_keyvalue(tmp_path, 1000).folder
    return Copy(SSTable(next(folder.glob("*-Data.db"))))


def test_summaries_of_many_samples_fit(sampled: Copy) -> None:
    sampled.write_index(sampled.raw_entries())
    assert sampled.findings() == []


@pytest.mark.parametrize(
    ("field", "new", "message"),
    [
        ("min_index_interval", b"\0\0\0\x40", "entry 1: it points at entry 128 of Index.db, not 64"),
        ("size_at_full_sampling", b"\0\0\0\x09", "size_at_full_sampling: it is 9, but Index.db has 1000 entries, so"),
        ("entry 3.index offset", b"\xff\xff\0\0\0\0\0\0", "Summary.db: offset"),
        ("entry 7.index offset", b"\xff\xff\xff\0\0\0\0\0", "it points at offset 16777215, but Index.db ends before"),
        ("first_key", None, "first_key: it is not the key of Index.db's first entry"),
        ("last_key", None, "last_key: it is not the key of Index.db's last entry"),
        ("entry 5.key", None, "entry 5: its key is not that of Index.db's entry at offset"),
    ],
)
def test_a_summary_that_does_not_fit_the_index_is_told(
    sampled: Copy, field: str, new: bytes | None, message: str
) -> None:
    offset, size = sampled.place("Summary.db", field)
    if new is None:
        sampled.patch("Summary.db", offset + size - 1, b"\xff")
    else:
        sampled.patch("Summary.db", offset, new)
    assert message in sampled.errors()[0]


def test_a_summary_that_points_between_entries_is_told(sampled: Copy) -> None:
    offset, _ = sampled.place("Summary.db", "entry 5.index offset")
    place = int.from_bytes(sampled.read("Summary.db")[offset : offset + 8], "little")
    sampled.patch("Summary.db", offset, (place + 1).to_bytes(8, "little"))
    assert sampled.errors() == [f"Summary.db: entry 5: no entry of Index.db starts at offset {place + 1}"]


def test_a_key_that_the_filter_does_not_have_is_told(sampled: Copy) -> None:
    first = sampled.raw_entries()[0][0]
    bloom = sampled.sstable.parse("Filter.db")
    bit = bits_of(first, bloom.hash_count, 64 * bloom.readings[0].size)[0]
    byte = 8 + (bit >> 3)
    sampled.patch("Filter.db", byte, bytes([sampled.read("Filter.db")[byte] & ~(1 << (bit & 7))]))
    what = "Filter.db: words: it says that the key of the partition at position 0 of Data.db is not there"
    assert what in sampled.errors()


def bits_of(key: bytes, hash_count: int, capacity: int) -> list[int]:
    data = np.frombuffer(key, np.uint8)
    step, base = map(int, hash3_x64_128(data.ctypes.data, data.size))
    return [abs(as_i64(base + i * step)) % capacity for i in range(hash_count)]
