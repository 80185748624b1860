"""Row indexes taken apart by the kernel are those that the parser reads, and what the one refuses the other does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.entries import Entries
from flightsrv.kernels.partitions import GAP, NOTHING, Boundaries
from flightsrv.kernels.row_index import count_boundaries, row_index_boundaries
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
    entries.position[0], entries.row_index_at[0], entries.row_index_size[0] = 1000, start, len(data) - start
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
    entries, boundaries, _ = taken_apart(sstable, data, start)
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
    assert boundaries.open_us.tolist() == [-(2**63), *opened]
    assert boundaries.first_kind.tolist() == [*(block.first.kind for block in promoted.blocks), NOTHING]
    assert boundaries.last_kind.tolist() == [NOTHING, *(block.last.kind for block in promoted.blocks)]


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
