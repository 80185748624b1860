"""Partitions, rows and numbers that no checksum shows to be wrong: files written again by the reference's encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from flightsrv.verify import rows as verify_rows
from tests.reference.encoder import encode
from tests.reference.model import Deletion, Marker, Partition, Row
from tests.reference.sstables import SSTable as Reference
from tests.sstable.components import SSTable, copied
from tests.verify.damaging import copy_of

PLAIN = copied("cassandra/md/legacy_tables/legacy_md_simple/md-1-big-Data.db")
"""Five partitions of one row, of ByteOrderedPartitioner."""
RANGES = copied("cassandra-5.0/nb/ranges_asc/nb-4-big-Data.db")
RANGES_MODERN = copied("cassandra-5.0/oa/ranges_mixed/oa-4-big-Data.db")
"""Both: a partition of three rows, one of one, one of two markers and a row."""
WIDE = copied("cassandra-5.0/nb/wide_desc/nb-1-big-Data.db")

Change = Callable[[list[Partition]], Sequence[Partition]]


def errors_of(folder: Path, sstable: SSTable, change: Change, component: str = "Data.db") -> list[str]:
    """The errors about one component after the partitions were changed; the others will not fit the data either."""
    copy = copy_of(sstable, folder)
    reference = Reference(sstable.data_file)
    copy.store_uncompressed(lambda _: encode(change(reference.partitions()), reference.header))
    return [error for error in copy.errors() if error.startswith(component)]


def with_rows(partition: int, *rows: int) -> Change:
    """Of one partition only these rows and markers, in this order."""

    def change(partitions: list[Partition]) -> list[Partition]:
        unfiltered = tuple(partitions[partition].unfiltered[row] for row in rows)
        partitions[partition] = replace(partitions[partition], unfiltered=unfiltered)
        return partitions

    return change


@pytest.mark.parametrize("sstable", [PLAIN, RANGES, RANGES_MODERN, WIDE], ids=str)
def test_what_was_written_again_as_it_was_is_whole(tmp_path: Path, sstable: SSTable) -> None:
    assert errors_of(tmp_path, sstable, lambda partitions: partitions, "") == []


@pytest.mark.parametrize("sstable", [PLAIN, RANGES, RANGES_MODERN], ids=["by key", "by token", "by token, oa"])
def test_a_partition_that_comes_twice_is_told(tmp_path: Path, sstable: SSTable) -> None:
    (error,) = errors_of(tmp_path, sstable, lambda all_: [all_[0], *all_])
    second = len(encode([Reference(sstable.data_file).partitions()[0]], Reference(sstable.data_file).header))
    what = "the partition's key does not come after the one before it"
    assert error == f"Data.db: position {second}, partition order: {what}"


@pytest.mark.parametrize("sstable", [PLAIN, RANGES], ids=["by key", "by token"])
def test_partitions_out_of_order_are_told(tmp_path: Path, sstable: SSTable) -> None:
    (error,) = errors_of(tmp_path, sstable, lambda all_: [all_[1], all_[0], *all_[2:]])
    assert error.startswith("Data.db: position ")
    assert "partition order" in error


@pytest.mark.parametrize("rows", [(0, 2, 1), (0, 0, 1, 2), (1, 0)], ids=str)
@pytest.mark.parametrize("sstable", [RANGES, RANGES_MODERN], ids=["ascending", "mixed"])
def test_rows_out_of_order_are_told(tmp_path: Path, sstable: SSTable, rows: tuple[int, ...]) -> None:
    assert errors_of(tmp_path, sstable, with_rows(0, *rows)) == [
        "Data.db: position 0, clustering order: a row or marker of the partition does not come after the one before it"
    ]


@pytest.mark.parametrize("row", [62, 63, 64])
def test_rows_out_of_order_are_told_where_a_slab_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: int
) -> None:
    monkeypatch.setattr(verify_rows, "SLAB_ROWS", 64)
    rows = [*range(100)]
    rows[row], rows[row + 1] = rows[row + 1], rows[row]
    (error,) = errors_of(tmp_path, WIDE, with_rows(0, *rows))
    assert error.startswith("Data.db: position 0, clustering order")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((0, 2), "a range deletion ends as another"),
        ((1, 2), "a range deletion ends that never started"),
        ((0,), "the partition ends within a range deletion"),
    ],
)
@pytest.mark.parametrize("sstable", [RANGES, RANGES_MODERN], ids=["nb", "oa"])
def test_ranges_that_do_not_close_are_told(
    tmp_path: Path, sstable: SSTable, rows: tuple[int, ...], message: str
) -> None:
    def change(partitions: list[Partition]) -> list[Partition]:
        partitions = list(with_rows(2, *rows)(partitions))
        if rows == (0, 2):  # the row becomes the end of another range
            end = Marker(6, (b"\0\0\0\2",), ends=Deletion(1599, 1796061370))
            partitions[2] = replace(partitions[2], unfiltered=(partitions[2].unfiltered[0], end))
        return partitions

    (error,) = errors_of(tmp_path, sstable, change)
    assert "range tombstone" in error
    assert message in error


def test_a_range_within_a_range_is_told(tmp_path: Path) -> None:
    def change(partitions: list[Partition]) -> list[Partition]:
        start, end, _ = partitions[2].unfiltered
        inner = Marker(1, (b"\0\0\0\1", b"\0\0\0\1"), starts=Deletion(1601, 1796061370))
        partitions[2] = replace(partitions[2], unfiltered=(start, inner, end))
        return partitions

    assert "a range deletion starts within another" in errors_of(tmp_path, RANGES, change)[0]


@pytest.mark.parametrize(
    ("sstable", "field"), [(RANGES, "max_clustering"), (RANGES_MODERN, "covered_clustering.end")], ids=["nb", "oa"]
)
def test_a_row_beyond_what_statistics_say_is_covered_is_told(tmp_path: Path, sstable: SSTable, field: str) -> None:
    def change(partitions: list[Partition]) -> list[Partition]:
        *others, last = partitions[2].unfiltered
        assert isinstance(last, Row)
        beyond = replace(last, clustering=(b"\0\0\0\x09", *last.clustering[1:]))
        partitions[2] = replace(partitions[2], unfiltered=(*others, beyond))
        return partitions

    errors = errors_of(tmp_path, sstable, change, "Statistics.db")
    assert errors == [f"Statistics.db: STATS.{field}: a row or marker of Data.db lies beyond it"]


def test_data_that_end_inside_of_a_partition_are_told(tmp_path: Path) -> None:
    copy = copy_of(PLAIN, tmp_path)
    copy.store_uncompressed(lambda data: data[:-1])
    assert copy.errors()[0] == "Data.db: position 172: the data ends inside of a partition"


def test_every_damaged_chunk_is_told(tmp_path: Path) -> None:
    copy = copy_of(WIDE, tmp_path)
    offsets = copy.sstable.parse("CompressionInfo.db").offsets.tolist()
    for chunk in (1, 2, 4):
        copy.patch("Data.db", offsets[chunk] + 9, b"\xff\xff\xff\xff")
    found = [error.split(" checksum")[0] for error in copy.errors() if "checksum" in error]
    assert found == [f"Data.db: offset {offsets[chunk]}: chunk {chunk}" for chunk in (1, 2, 4)]


NUMBERS = [
    (PLAIN, "partition_sizes.offset, count", None, "1 partitions of up to 1 bytes in the file, 0 in Data.db"),
    (PLAIN, "min_timestamp_us", (1).to_bytes(8), "1 in the file, 1619004360677000 in Data.db"),
    (PLAIN, "max_timestamp_us", (1).to_bytes(8), "1 in the file, 1619004360952001 in Data.db"),
    (PLAIN, "min_local_deletion_time_s", bytes(4), "0 in the file, 9223372036854775807 in Data.db"),
    (PLAIN, "max_ttl_s", (9).to_bytes(4), "9 in the file, 0 in Data.db"),
    (PLAIN, "total_rows", (9).to_bytes(8), "9 in the file, 5 in Data.db"),
    (
        RANGES_MODERN,
        "has_partition_level_deletions",
        b"\0",
        "False in the file, but 1 partitions of Data.db are deleted",
    ),
    (RANGES_MODERN, "first_key", b"\x0boverlapping"[:-1] + b"h", "0x6f7665726c617070696e68 in the file, 0x6f"),
    (
        RANGES_MODERN,
        "last_key",
        b"\x13partition_and_rangf",
        "0x706172746974696f6e5f616e645f72616e6766 in the file, 0x70",
    ),
]
"""SSTable, field of STATS, what it becomes, and what is said."""


@pytest.mark.parametrize(("sstable", "field", "new", "message"), NUMBERS)
def test_a_number_that_is_not_that_of_the_rows_is_told(
    tmp_path: Path, sstable: SSTable, field: str, new: bytes | None, message: str
) -> None:
    copy = copy_of(sstable, tmp_path)
    if new is None:
        offset, _ = copy.place("Statistics.db", f"STATS.{field}")
        copy.patch("Statistics.db", offset + 15, b"\x01")
    else:
        copy.patch_statistics(f"STATS.{field}", new)
    (error,) = copy.errors()
    assert error.startswith(f"Statistics.db: STATS.{field.removesuffix('.offset, count')}: {message}")


def test_a_type_that_cassandra_does_not_have_is_told(tmp_path: Path) -> None:
    copy = copy_of(PLAIN, tmp_path)
    copy.write("Statistics.db", copy.read("Statistics.db").replace(b"UTF8Type", b"UTF7Type"))
    assert "Statistics.db: HEADER.regular: Cassandra has no type UTF7Type, as column val" in copy.errors()
    copy.write("Statistics.db", copy.read("Statistics.db").replace(b"UTF7Type", b"UTF9Type"))
    (error,) = copy.errors()
    assert error.endswith("UTF9Type', but for one bit it is Cassandra's UTF8Type")


def test_a_partitioner_that_cassandra_does_not_have_is_told(tmp_path: Path) -> None:
    copy = copy_of(PLAIN, tmp_path)
    copy.write("Statistics.db", copy.read("Statistics.db").replace(b"ByteOrdered", b"ByteOrderef"))
    what = "'org.apache.cassandra.dht.ByteOrderefPartitioner' is none of Cassandra's"
    assert copy.errors() == [f"Statistics.db: VALIDATION.partitioner: {what}"]
