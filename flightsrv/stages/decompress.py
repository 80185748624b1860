"""Stage 2, decompress: pieces to windows of uncompressed bytes, every checksum compared."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace

import cramjam
import numpy as np

from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.kernels.decompress import (
    CHECKSUM,
    CONTENT,
    LENGTH,
    LZ4,
    NONE,
    ZSTD,
    check_chunks,
    decompress_chunks,
)
from flightsrv.kernels.status import DONE
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array, BufferPool, Window
from flightsrv.stages import Ahead, in_turn
from flightsrv.stages.read import HEAD_ROOM, Extent, Piece, SizedFile, read

KERNEL_CODECS = {"LZ4Compressor": LZ4, "ZstdCompressor": ZSTD, "NoopCompressor": NONE}

_CRC_SIZE = 4
MAX_EMPTY_CHUNK_BYTES = 64
"""What a compressor may make of nothing, with its checksum."""


def _inflate(stored: memoryview, target: memoryview) -> int:
    # Chunks are whole zlib streams (RFC 1950); what they hold must fit the target.
    inflater = zlib.decompressobj()
    made = inflater.decompress(stored, len(target))
    if inflater.decompress(inflater.unconsumed_tail, 1) or not inflater.eof:
        raise ValueError("the stream does not end with the chunk")
    target[: len(made)] = made
    return len(made)


def _unsnap(stored: memoryview, target: memoryview) -> int:
    return int(cramjam.snappy.decompress_raw_into(stored, target))


PACKAGE_CODECS: dict[str, Callable[[memoryview, memoryview], int]] = {
    "DeflateCompressor": _inflate,
    "SnappyCompressor": _unsnap,
}
"""Codecs whose libraries export no C function: one call of a Python function a chunk, without the GIL."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """How a Data.db is cut into chunks and what they are checked with."""

    path: str
    compressor: str | None
    bounds: Array
    """int64 (chunks + 1,)."""
    chunk_length: int
    data_length: int
    raw_from: int
    """Stored length at and above which a chunk is not compressed."""
    checksums: Array | None
    """int64 (chunks,): of the chunks of an uncompressed file; None if it has none."""

    def corrupt(self, chunk: int, what: str) -> CorruptSSTableError:
        """An error about a chunk."""
        return CorruptSSTableError(f"chunk {chunk} {what}", Where(self.path, offset=int(self.bounds[chunk])))


def decompress(pieces: Iterable[Piece], chunks: Chunks, buffers: BufferPool, ahead: Ahead) -> Generator[Window]:
    """Pieces to windows, in their order. A window is the consumer's until it calls release().

    Raises CorruptSSTableError with the chunk's index and offset when a checksum, a length or the content is wrong.
    """

    def decompress_one(piece: Piece) -> Window:
        if chunks.compressor is None:
            return _checked(piece, chunks, buffers)
        extent = piece.extent
        data = buffers.take(HEAD_ROOM + extent.length + SLACK)
        if chunks.compressor in KERNEL_CODECS:
            _by_kernel(piece, chunks, data)
        else:
            _by_package(piece, chunks, data)
        buffers.give(piece.buffer)
        return Window(data, HEAD_ROOM, HEAD_ROOM + extent.length, extent.position, buffers)

    return ahead(decompress_one, pieces)


def _checked(piece: Piece, chunks: Chunks, buffers: BufferPool) -> Window:
    """An uncompressed piece is its window."""
    stop = piece.start + piece.extent.size
    if chunks.checksums is not None:
        status, chunk, said, found = check_chunks(
            piece.buffer, piece.start, stop, chunks.chunk_length, piece.extent.first_chunk, chunks.checksums
        )
        if status != DONE:
            raise chunks.corrupt(chunk, f"checksum: {said:#010x} in CRC.db, {found:#010x} computed")
    return Window(piece.buffer, piece.start, stop, piece.extent.position, buffers)


def _by_kernel(piece: Piece, chunks: Chunks, data: Array) -> None:
    extent = piece.extent
    status, chunk, wrong, said, found = decompress_chunks(
        KERNEL_CODECS[chunks.compressor or ""],
        piece.buffer[piece.start :],
        chunks.bounds,
        extent.first_chunk,
        extent.last_chunk,
        chunks.chunk_length,
        chunks.data_length,
        chunks.raw_from,
        data,
        HEAD_ROOM,
    )
    if status == DONE:
        return
    if wrong == CHECKSUM:
        raise chunks.corrupt(chunk, f"checksum: {said:#010x} in the file, {found:#010x} computed")
    if wrong == LENGTH:
        raise chunks.corrupt(chunk, f"length: {said} in the file, {found} expected")
    if wrong == CONTENT:
        raise chunks.corrupt(chunk, f"content: is not {said} bytes of {chunks.compressor}'s")
    raise chunks.corrupt(chunk, f"length: {said} bytes are left for it")


def _by_package(piece: Piece, chunks: Chunks, data: Array) -> None:
    codec = PACKAGE_CODECS[chunks.compressor or ""]
    extent = piece.extent
    source, target, at = piece.buffer[piece.start :].data, data.data, HEAD_ROOM
    for chunk in range(extent.first_chunk, extent.last_chunk):
        start = int(chunks.bounds[chunk]) - extent.offset
        stop = int(chunks.bounds[chunk + 1]) - extent.offset - _CRC_SIZE
        wanted = max(0, min(chunks.chunk_length, chunks.data_length - chunk * chunks.chunk_length))
        stored = source[start:stop]
        said, found = int.from_bytes(source[stop : stop + _CRC_SIZE], "big"), zlib.crc32(stored)
        if said != found:
            raise chunks.corrupt(chunk, f"checksum: {said:#010x} in the file, {found:#010x} computed")
        if not wanted and not stored:  # Cassandra's DeflateCompressor makes nothing of nothing
            continue
        into = target[at : at + wanted]
        if len(stored) >= chunks.raw_from:
            if len(stored) < wanted or any(stored[wanted:]):
                raise chunks.corrupt(chunk, f"length: {len(stored)} in the file, {wanted} expected")
            into[:] = stored[:wanted]
        else:
            try:
                made = codec(stored, into)
            except (ValueError, zlib.error, cramjam.DecompressionError) as error:
                raise chunks.corrupt(chunk, f"content: is not {wanted} bytes of {chunks.compressor}'s") from error
            if made != wanted:
                raise chunks.corrupt(chunk, f"length: {made} decompressed, {wanted} expected")
        at += wanted


def check_empty_chunk(chunks: Chunks, file: SizedFile) -> Array:
    """Make sure that behind the last chunk that holds data there is nothing, or a chunk of nothing, which some writers
    leave. Returns it as stored.

    Raises CorruptSSTableError when it is not: then what says how long the data is says too little.
    """
    chunk, offset = chunks.bounds.size - 1, int(chunks.bounds[-1])
    size = file.size - offset
    if size == 0:
        return np.empty(0, np.uint8)
    if size > MAX_EMPTY_CHUNK_BYTES:
        raise chunks.corrupt(chunk, f"length: {size} bytes in the file, but there are no data left for it")
    bounded = replace(chunks, bounds=np.append(chunks.bounds, offset + size))
    extent = Extent(chunk, chunk + 1, offset, size, chunk * chunks.chunk_length, 0)
    (piece,) = read([extent], file, BufferPool(), in_turn)
    stored = piece.buffer[piece.start : piece.start + size].copy()
    for window in decompress([piece], bounded, BufferPool(), in_turn):
        window.release()
    return stored
