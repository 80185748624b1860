"""Stage 1, read: adjacent chunks of Data.db as one large read, several of them ahead of need."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Protocol

from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array, BufferPool
from flightsrv.stages import Ahead

HEAD_ROOM = 64 * 1024
"""Bytes kept free in front of a window, for what is left of the one before it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Chunks [first_chunk, last_chunk) of Data.db: where they are in the file, and what they are uncompressed."""

    first_chunk: int
    last_chunk: int
    offset: int
    size: int
    position: int
    length: int


@dataclass(slots=True)
class Piece:
    """An extent's bytes as stored: buffer[start:start + extent.size]."""

    extent: Extent
    buffer: Array
    start: int


class DataFile(Protocol):
    """What this stage needs of a file."""

    def read_into(self, offset: int, target: Array) -> None: ...


class SizedFile(DataFile, Protocol):
    """A file whose end matters."""

    size: int


def read(extents: Iterable[Extent], file: DataFile, buffers: BufferPool, ahead: Ahead) -> Generator[Piece]:
    """Read extents, in their order. A piece's buffer is the consumer's, to be given back to `buffers`.

    Raises CorruptSSTableError when the file ends early, SSTableError when the disk fails.
    """

    def read_one(extent: Extent) -> Piece:
        buffer = buffers.take(HEAD_ROOM + extent.size + SLACK)
        file.read_into(extent.offset, buffer[HEAD_ROOM : HEAD_ROOM + extent.size])
        return Piece(extent, buffer, HEAD_ROOM)

    return ahead(read_one, extents)
