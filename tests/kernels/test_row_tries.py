"""Row indexes of Rows.db taken apart by the kernel are those that the parser reads, and what the one refuses the other
does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.entries import Entries
from flightsrv.kernels.partitions import NOTHING, TO_FIND, Boundaries
from flightsrv.kernels.row_tries import RowTries, row_entries, row_trie_boundaries
from flightsrv.kernels.status import CORRUPT, DONE, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import rows
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.rows import Block
from flightsrv.sstable.trie_fields import row_index_offsets
from flightsrv.sstable.trie_walk import new_branch, new_nodes
from tests.sstable.components import SSTable, copied

pytestmark = pytest.mark.kernel

OPEN_RANGE = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")
CLUSTERED = copied("cassandra/da/legacy_tables/legacy_da_clust/da-1-bti-Data.db")

Found = list[tuple[bytes, Block]]
"""Separators and blocks of one partition."""


def offsets_of(sstable: SSTable) -> list[int]:
    return list(row_index_offsets(sstable.file("Partitions.db").read_bytes(), "Partitions.db"))


def parsed(sstable: SSTable, data: bytes, offset: int) -> tuple[rows.RowIndexEntry, Found]:
    """What the parser makes of an entry and its trie."""
    entry = rows.entry(Cursor(data, "Rows.db", offset), sstable.version)
    trie = rows.trie(lambda at: Cursor(data[:offset], "Rows.db", at), entry.root, sstable.version)
    found = list(trie.descending(b"\xff" * 99))[::-1]
    if len(found) != entry.block_count + 1:
        raise CorruptSSTableError("another number of blocks", Cursor(b"", "Rows.db").where(""))
    return entry, found


class TakenApart(NamedTuple):
    """What the kernel makes of entries."""

    status: int
    """CORRUPT if it refuses one."""
    entries: Entries
    boundaries: Boundaries
    separators: list[bytes]


def taken_apart(data: bytes, offsets: list[int], path_bytes: int = 10_000) -> TakenApart:
    padded = np.frombuffer(data + b"\xff" * SLACK, np.uint8)
    entries = Entries(*np.zeros((len(Entries._fields), len(offsets)), np.int64))
    entries.row_index_at[:] = offsets
    tries = RowTries(*np.zeros((len(RowTries._fields), len(offsets)), np.int64))
    none = Boundaries(*np.zeros((len(Boundaries._fields), 0), np.int64))
    status, _ = row_entries(padded, np.int64(len(data)), np.int64(0), entries, tries)
    if status == CORRUPT:
        return TakenApart(CORRUPT, entries, none, [])
    room = int(np.minimum(tries.block_count, 1000).sum()) + len(offsets) + 1
    boundaries = Boundaries(*np.zeros((len(Boundaries._fields), room), np.int64))
    nodes = new_nodes(room, path_bytes)
    zero = np.int64(0)
    status, _, made, _ = row_trie_boundaries(padded, zero, entries, tries, new_branch(), nodes, boundaries, zero, zero)
    boundaries = Boundaries(*(column[:made] for column in boundaries))
    places = boundaries.separator_at - nodes.paths.ctypes.data
    strings = zip(places.tolist(), boundaries.separator_size.tolist(), strict=True)
    separators = [nodes.paths[start : start + size].tobytes() for start, size in strings]
    return TakenApart(int(status), entries, boundaries, separators)


@pytest.mark.parametrize("sstable", [OPEN_RANGE, CLUSTERED], ids=str)
def test_boundaries_are_where_the_parsers_blocks_start(sstable: SSTable) -> None:
    data, offsets = sstable.file("Rows.db").read_bytes(), offsets_of(sstable)
    status, entries, boundaries, separators = taken_apart(data, offsets)
    assert status == DONE
    at = 0
    for i, offset in enumerate(offsets):
        entry, found = parsed(sstable, data, offset)
        stop = at + len(found)
        assert entries.position[i] == entry.position
        assert entries.header_length[i] == found[0][1].start
        assert separators[at:stop] == [separator for separator, _ in found]
        assert boundaries.position[at:stop].tolist() == [entry.position + block.start for _, block in found]
        opened = [
            block.open_deletion.marked_for_delete_at_us if block.open_deletion else -(2**63) for _, block in found
        ]
        assert boundaries.open_us[at:stop].tolist() == opened
        assert boundaries.first_kind[at:stop].tolist() == [TO_FIND] * entry.block_count + [NOTHING]
        assert boundaries.last_kind[at:stop].tolist() == [NOTHING] + [TO_FIND] * entry.block_count
        at = stop
    assert at == boundaries.position.size


def flips(data: bytes) -> Iterator[bytes]:
    for at in range(len(data)):
        for change in (1, 0x80, 0xFF):
            yield data[:at] + bytes([data[at] ^ change]) + data[at + 1 :]


def test_what_the_parser_refuses_the_kernel_refuses() -> None:
    data, (offset,) = OPEN_RANGE.file("Rows.db").read_bytes(), offsets_of(OPEN_RANGE)
    for damaged in flips(data):
        status, _, boundaries, separators = taken_apart(damaged, [offset])
        try:
            _, found = parsed(OPEN_RANGE, damaged, offset)
        except CorruptSSTableError:
            assert status == CORRUPT
        else:
            assert status == CORRUPT or separators == [separator for separator, _ in found]
            assert status == CORRUPT or boundaries.position.size == len(found)


def test_an_entry_may_end_anywhere_without_being_one() -> None:
    data, (offset,) = OPEN_RANGE.file("Rows.db").read_bytes(), offsets_of(OPEN_RANGE)
    for stop in range(len(data)):
        assert taken_apart(data[:stop], [offset])[0] == CORRUPT


def test_there_may_be_no_room_for_separators() -> None:
    data, offsets = OPEN_RANGE.file("Rows.db").read_bytes(), offsets_of(OPEN_RANGE)
    status, _, boundaries, _ = taken_apart(data, offsets, path_bytes=8)
    assert status == OUTPUT_FULL
    assert boundaries.position.size == 0
