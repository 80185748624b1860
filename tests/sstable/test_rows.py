"""Rows.db of real nodes tells where the blocks of wide partitions start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable import rows
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.deletion_time import DeletionTime
from flightsrv.sstable.rows import Block, RowIndexEntry
from flightsrv.sstable.trie_fields import row_index_offsets
from flightsrv.sstable.version import version_of
from tests.sstable.components import SSTable, copied, every_sstable
from tests.sstable.placed import placed

DA = version_of("bti", "da", "x")
PATH = "/data/da-1-bti-Rows.db"
OPEN_RANGE = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")


def row_indexes(sstable: SSTable) -> Iterator[tuple[RowIndexEntry, list[Block]]]:
    """All entries of a Rows.db and their blocks, with the partition's end behind them."""
    content, path = sstable.file("Rows.db").read_bytes(), str(sstable.file("Rows.db"))
    for offset in row_index_offsets(sstable.file("Partitions.db").read_bytes(), "Partitions.db"):
        entry = rows.entry(Cursor(content, path, offset), sstable.version)
        trie = rows.trie(lambda at: Cursor(content, path, at), entry.root, sstable.version)
        yield entry, [block for _, block in trie.descending(b"\xff")][::-1]


@pytest.mark.parametrize("sstables", every_sstable())
def test_blocks_of_real_files_start_with_rows_and_end_with_the_partition(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        file = sstable.file("Partitions.db")
        if not file.exists() or not sstable.file("Rows.db").stat().st_size:
            continue
        there = {each.position: each for each in placed(sstable)}
        for entry, blocks in row_indexes(sstable):
            partition = there[entry.position]
            assert partition.key == entry.key
            assert len(blocks) == entry.block_count + 1
            starts = [entry.position + block.start for block in blocks]
            assert starts[0] == partition.unfiltereds[0]
            assert starts[-1] == partition.end
            assert set(starts[:-1]) <= set(partition.unfiltereds)
            assert starts == sorted(starts)
            assert blocks[0].open_deletion is blocks[-1].open_deletion is None


def test_a_range_that_is_open_between_two_blocks_stands_with_the_second() -> None:
    ((entry, blocks),) = row_indexes(OPEN_RANGE)
    assert entry == RowIndexEntry(b"wide", 0, 56, 6, None)
    assert [block.start for block in blocks] == [7, 4110, 8208, 12313, 16414, 20517, 20946]
    assert [block.open_deletion for block in blocks if block.open_deletion] == [DeletionTime(2600, 1796061920)]
    assert blocks[2].open_deletion


KEY, LIVE = b"\0\x01k", b"\x80"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (KEY + b"\xff" + b"\xff" * 8, r"offset 13, position: \d+ is no position"),
        (KEY + b"\0\x06\x02" + LIVE, "offset 14, root: 16 is not an offset before the entry"),
        (KEY + b"\0\x1b\x02" + LIVE, "offset 14, root: -1 is not an offset before the entry"),
        (KEY + b"\0\x07\x00" + LIVE, "offset 15, block count: 0 blocks do not fit in 10 bytes"),
        (KEY + b"\0\x07\x0b" + LIVE, "offset 15, block count: 11 blocks do not fit in 10 bytes"),
        (KEY + b"\0\x07\x02\x81", r"offset 16, deletion\.flags: 0x81"),
        (KEY + b"\0\x07\x02\0\0", r"offset 16, deletion\.marked_for_delete_at_us: it needs 8 bytes, 2 are left"),
    ],
)
def test_an_entry_that_cannot_be_is_named(entry: bytes, message: str) -> None:
    with pytest.raises(CorruptSSTableError, match=message):
        rows.entry(Cursor(bytes(10) + entry, PATH, 10), DA)


@pytest.mark.parametrize(
    ("flags", "payload", "message"),
    [
        (8, LIVE, "start: 0 is before the partition"),
        (1, b"\xff", "start: -1 is before the partition"),
        (2, b"\x01", "start: its length is 2, 1 bytes are left"),
        (9, b"\x07\x81", r"open_deletion\.flags"),
    ],
)
def test_a_block_that_cannot_be_is_named(flags: int, payload: bytes, message: str) -> None:
    with pytest.raises(CorruptSSTableError, match=message):
        rows.block_reader(DA)(Cursor(payload, PATH), flags)
