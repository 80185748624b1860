"""Row indexes taken apart by the kernel are those that the parser reads, and what the one refuses the other does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.partitions import GAP, Boundaries, Partitions
from flightsrv.kernels.row_index import (
    ALL_MATCHED,
    EXTRA_ENTRY,
    MISSING_ENTRY,
    OTHER_KEY,
    Entries,
    count_boundaries,
    match,
    row_index_boundaries,
)
from flightsrv.kernels.status import CORRUPT, DONE
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import index
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.index import PromotedIndex
from tests.kernels.test_partitions import header_of
from tests.sstable.components import SSTable, copied

pytestmark = pytest.mark.kernel

OPEN_RANGE = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")
WIDE = copied("cassandra-5.0/nb/wide_desc/nb-1-big-Data.db")


def parsed(sstable: SSTable, data: bytes) -> PromotedIndex | None:
    """The row index of the first entry, None when it makes no sense."""
    cursor = Cursor(data, "Index.db")
    try:
        entry = next(index.entries(cursor, sstable.version, sstable.header.clustering_types))
    except CorruptSSTableError:
        return None
    return entry.promoted


def taken_apart(sstable: SSTable, data: bytes, start: int) -> tuple[Entries, Boundaries | None, np.ndarray]:
    """What the kernel makes of a row index that is data[start:], of a partition at 1000; None when it refuses it."""
    padded = np.frombuffer(data + b"\xff" * SLACK, np.uint8)
    entries = Entries(*np.zeros((len(Entries._fields), 1), np.int64))
    entries.position[0], entries.promoted_at[0], entries.promoted_size[0] = 1000, start, len(data) - start
    header = header_of(sstable)
    count = count_boundaries(padded, entries, header)
    boundaries = Boundaries(*np.zeros((len(Boundaries._fields), count), np.int64))
    status, _, made = row_index_boundaries(padded, entries, 0, header, boundaries, 0)
    assert status in (DONE, CORRUPT)
    assert made <= count
    return entries, (boundaries if status == DONE else None), padded


def first_entry(sstable: SSTable) -> tuple[bytes, int]:
    """The bytes of the first entry, and where its row index starts."""
    data = sstable.file("Index.db").read_bytes()
    found = index.walk(np.frombuffer(data + bytes(SLACK), np.uint8), len(data), "Index.db")
    stop = int(found.key_start[1]) - 2 if found.key_start.size > 1 else len(data)
    return data[:stop], stop - int(found.promoted_size[0])


@pytest.mark.parametrize("sstable", [OPEN_RANGE, WIDE], ids=str)
def test_boundaries_are_where_the_parsers_blocks_start_and_end(sstable: SSTable) -> None:
    data, start = first_entry(sstable)
    entries, boundaries, padded = taken_apart(sstable, data, start)
    promoted = parsed(sstable, data)
    assert promoted is not None
    assert boundaries is not None
    assert entries.header_length[0] == promoted.header_length
    ends = [block.start + block.width for block in promoted.blocks]
    assert boundaries.position.tolist() == [1000 + promoted.header_length, *(1000 + end for end in ends)]
    assert not boundaries.wrong.any()
    opened = [
        block.open_deletion.marked_for_delete_at_us if block.open_deletion else -(2**63) for block in promoted.blocks
    ]
    assert boundaries.open_us.tolist()[1:] == opened
    assert boundaries.first_size[-1] == boundaries.last_size[0] == 0
    kinds = [int(padded[at - padded.ctypes.data]) for at in boundaries.first_at[:-1]]
    assert kinds == [block.first.kind for block in promoted.blocks]


def flips(data: bytes, start: int) -> Iterator[bytes]:
    for at in range(start, len(data)):
        for change in (1, 0x80, 0xFF):
            yield data[:at] + bytes([data[at] ^ change]) + data[at + 1 :]


@pytest.mark.parametrize("sstable", [OPEN_RANGE, WIDE], ids=str)
def test_what_the_parser_refuses_the_kernel_refuses(sstable: SSTable) -> None:
    data, start = first_entry(sstable)
    for damaged in flips(data, start):
        _, boundaries, _ = taken_apart(sstable, damaged, start)
        assert (boundaries is None) == (parsed(sstable, damaged) is None)


@pytest.mark.parametrize("sstable", [OPEN_RANGE, WIDE], ids=str)
def test_a_row_index_may_end_anywhere_without_being_one(sstable: SSTable) -> None:
    data, start = first_entry(sstable)
    for stop in range(start + 1, len(data)):
        assert taken_apart(sstable, data[:stop], start)[1] is None


def test_blocks_that_do_not_follow_each_other_have_a_gap() -> None:
    data, start = first_entry(OPEN_RANGE)
    promoted = parsed(OPEN_RANGE, data)
    assert promoted is not None
    longer = data[:start] + bytes([data[start] + 1]) + data[start + 1 :]
    _, boundaries, _ = taken_apart(OPEN_RANGE, longer, start)
    assert boundaries is not None
    assert boundaries.wrong.tolist() == [GAP] + [0] * len(promoted.blocks)


def matched(entries: list[tuple[int, bytes]], partitions: list[tuple[int, bytes]]) -> list[tuple[int, int, int]]:
    """All that match says, going on behind each mismatch."""
    data = np.frombuffer(b"".join(key for _, key in entries + partitions) + b"\0", np.uint8)
    sizes = np.array([len(key) for _, key in entries + partitions], np.int64)
    places = data.ctypes.data + np.cumsum(sizes) - sizes
    count = len(entries)
    left = Entries(*np.full((len(Entries._fields), count), -1, np.int64))._replace(
        position=np.array([at for at, _ in entries], np.int64), key_at=places[:count], key_size=sizes[:count]
    )
    right = Partitions(*np.zeros((len(Partitions._fields), len(partitions)), np.int64))._replace(
        position=np.array([at for at, _ in partitions], np.int64), key_at=places[count:], key_size=sizes[count:]
    )
    said = []
    event, entry, partition = match(left, 0, count, right, 0, len(partitions))
    while event != ALL_MATCHED:
        said.append((event, entry, partition))
        entry += event != MISSING_ENTRY
        partition += event != EXTRA_ENTRY
        event, entry, partition = match(left, entry, count, right, partition, len(partitions))
    assert (entry, partition) == (count, len(partitions))
    return said


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(0, b"a"), (9, b"b"), (20, b"c")], []),
        ([(0, b"a"), (20, b"c")], [(MISSING_ENTRY, 1, 1)]),
        ([(9, b"b"), (20, b"c")], [(MISSING_ENTRY, 0, 0)]),
        ([(0, b"a"), (9, b"b")], [(MISSING_ENTRY, 2, 2)]),
        ([(0, b"a"), (8, b"x"), (9, b"b"), (20, b"c")], [(EXTRA_ENTRY, 1, 1)]),
        ([(0, b"a"), (9, b"b"), (20, b"c"), (30, b"x")], [(EXTRA_ENTRY, 3, 3)]),
        ([(0, b"a"), (9, b"x"), (20, b"cc")], [(OTHER_KEY, 1, 1), (OTHER_KEY, 2, 2)]),
        ([(0, b"a"), (10, b"b"), (20, b"c")], [(MISSING_ENTRY, 1, 1), (EXTRA_ENTRY, 1, 2)]),
        ([], [(MISSING_ENTRY, 0, 0), (MISSING_ENTRY, 0, 1), (MISSING_ENTRY, 0, 2)]),
    ],
    ids=str,
)
def test_entries_and_partitions_are_matched_by_position(
    entries: list[tuple[int, bytes]], said: list[tuple[int, int, int]]
) -> None:
    assert matched(entries, [(0, b"a"), (9, b"b"), (20, b"c")]) == said
