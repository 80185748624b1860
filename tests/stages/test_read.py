from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np
import pytest

from flightsrv.errors import SSTableError, Where
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array, BufferPool
from flightsrv.stages.read import HEAD_ROOM, Extent, read

CONTENT = bytes(range(250))


def one_by_one(function: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any]:
    """An Ahead without threads."""
    for item in items:
        yield function(item)


class MemoryFile:
    """A DataFile in memory whose n-th read fails."""

    def __init__(self, failing: int = 0) -> None:
        self.reads = 0
        self.failing = failing

    def read_into(self, offset: int, target: Array) -> None:
        self.reads += 1
        if self.reads == self.failing:
            raise SSTableError("cannot be read: Input/output error", Where("nb-1-big-Data.db", offset=offset))
        target[:] = np.frombuffer(CONTENT[offset : offset + target.size], np.uint8)


def extents(*offsets: int) -> list[Extent]:
    """Extents between these offsets, each one chunk."""
    ends = [*offsets[1:], len(CONTENT)]
    pairs = enumerate(zip(offsets, ends, strict=True))
    return [Extent(i, i + 1, start, end - start, start, end - start) for i, (start, end) in pairs]


def test_pieces_are_extents_in_their_order_with_room_before_and_behind() -> None:
    found = []
    for piece in read(extents(0, 10, 11, 200), MemoryFile(), BufferPool(), one_by_one):
        stop = piece.start + piece.extent.size
        assert piece.start == HEAD_ROOM
        assert piece.buffer.size >= stop + SLACK
        found.append(piece.buffer[piece.start : stop].tobytes())
    assert found == [CONTENT[:10], CONTENT[10:11], CONTENT[11:200], CONTENT[200:]]


@pytest.mark.parametrize("failing", [1, 2, 4])
def test_the_pieces_before_a_read_that_fails_arrive(failing: int) -> None:
    file, found = MemoryFile(failing), []
    offsets = (0, 10, 11, 200)
    with pytest.raises(SSTableError, match=f"^nb-1-big-Data.db: offset {offsets[failing - 1]}: cannot be read"):
        found.extend(read(extents(*offsets), file, BufferPool(), one_by_one))
    assert len(found) == failing - 1


def test_nothing_is_read_before_it_is_asked_for() -> None:
    file = MemoryFile()
    pieces = read(extents(0, 10), file, BufferPool(), one_by_one)
    assert file.reads == 0
    next(pieces)
    assert file.reads == 1


def test_memory_that_is_given_back_is_used_again() -> None:
    buffers = BufferPool()
    pieces = read(extents(0, 10, 20), MemoryFile(), buffers, one_by_one)
    first = next(pieces).buffer
    buffers.give(first)
    assert next(pieces).buffer is first
    assert next(pieces).buffer is not first
