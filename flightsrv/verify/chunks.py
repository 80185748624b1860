"""Every chunk of a Data.db: read, compared with its checksum and decompressed; and the digest of the whole file.

A damaged chunk does not stop the check of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np
from isal import isal_zlib

from flightsrv.errors import CorruptSSTableError
from flightsrv.io.buffered import BufferedFile
from flightsrv.scan.flow import Cancel, Pools, ahead
from flightsrv.slab import Array, BufferPool, Window
from flightsrv.sstable import compression_info, crc
from flightsrv.sstable.compression_info import NEVER_RAW
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.stages import in_turn
from flightsrv.stages.decompress import Chunks, check_empty_chunk, decompress
from flightsrv.stages.read import Extent, Piece, read
from flightsrv.telemetry.clocks import Clock
from flightsrv.verify.findings import Report, parsed

WINDOW_BYTES = 2 * 1024 * 1024
READ_DEPTH = 4
DECOMPRESS_DEPTH = 2
UNCHECKED_CHUNK_LENGTH = 65536

Outcome = Window | list[CorruptSSTableError]
"""The next bytes of the uncompressed data, or what is wrong with the chunks that hold them."""


def chunks_of(
    report: Report, descriptor: Descriptor, components: frozenset[str], listed: frozenset[str], size: int
) -> Chunks | None:
    """How Data.db, a file of `size` bytes, is cut into chunks; None, and an error, when nobody can tell.

    listed: the components that TOC.txt tells of.
    """
    path = descriptor.path("Data.db")
    if "CompressionInfo.db" not in components:
        if "CompressionInfo.db" in listed:
            report.error("CompressionInfo.db", "TOC.txt lists the file, but it is missing", field="file")
            return None
        return _uncompressed(report, descriptor, components, size)
    info = parsed(
        report, descriptor, "CompressionInfo.db", lambda cursor: compression_info.parse(cursor, descriptor.version)
    )
    if info is None:
        return None
    try:
        bounds = compression_info.chunk_bounds(info, size, path)
    except CorruptSSTableError as error:
        report.caught(error)
        return None
    return Chunks(
        path,
        info.compressor,
        np.ascontiguousarray(bounds, np.int64),
        info.chunk_length,
        info.data_length,
        info.max_compressed_length,
        None,
    )


def _uncompressed(report: Report, descriptor: Descriptor, components: frozenset[str], size: int) -> Chunks:
    unchecked = raw_chunks(descriptor.path("Data.db"), size)
    if "CRC.db" not in components:
        report.note("CRC.db", "the file is missing: the chunks of Data.db have no checksums")
        return unchecked
    found = parsed(report, descriptor, "CRC.db", crc.parse)
    if found is None:
        return unchecked
    try:
        crc.check_count(found, size, unchecked.path)
    except CorruptSSTableError as error:
        report.caught(error)
        return unchecked
    try:
        crc.check_empty_chunk(found, size, descriptor.path("CRC.db"))
    except CorruptSSTableError as error:
        report.caught(error)
    checked = raw_chunks(unchecked.path, size, found.chunk_size)
    return replace(checked, checksums=np.ascontiguousarray(found.values, np.int64))


def raw_chunks(path: str, size: int, chunk_length: int = UNCHECKED_CHUNK_LENGTH) -> Chunks:
    """A file of `size` bytes of which no more is known."""
    bounds = np.append(np.arange(0, size, chunk_length, dtype=np.int64), size)
    return Chunks(path, None, bounds, chunk_length, size, NEVER_RAW, None)


class Digest:
    """The CRC-32 of the bytes so far."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, data: Array) -> None:
        """Go on with more bytes."""
        self.value = isal_zlib.crc32(data.data, self.value)


def outcomes(
    chunks: Chunks, file: BufferedFile, digest: Digest, pools: Pools, progress: Callable[[int], None]
) -> Generator[Outcome]:
    """All of a file's chunks, in their order, as windows that are the consumer's until it calls release().

    progress: called with how many bytes of the file have been read. Raises SSTableError when the file cannot be read.
    """
    buffers, cancel = BufferPool(), Cancel()

    def pieces() -> Iterator[Piece]:
        for piece in read(extents(chunks), file, buffers, ahead(pools.disk, READ_DEPTH, Clock("read"), cancel)):
            extent = piece.extent
            digest.add(piece.buffer[piece.start : piece.start + extent.size])
            progress(extent.offset + extent.size)
            yield piece

    def outcome_of(piece: Piece) -> Outcome:
        try:
            return next(decompress([piece], chunks, buffers, in_turn))
        except CorruptSSTableError:
            return list(_damages(piece, chunks))

    yield from ahead(pools.cpu, DECOMPRESS_DEPTH, Clock("decompress"), cancel)(outcome_of, pieces())
    damage = _check_tail(chunks, file, digest)
    if damage is not None:
        yield [damage]


def extents(chunks: Chunks) -> Iterator[Extent]:
    """All chunks, as reads that make one window each."""
    count = chunks.bounds.size - 1
    step = max(1, WINDOW_BYTES // chunks.chunk_length)
    for first in range(0, count, step):
        yield _extent(chunks, first, min(first + step, count))


def _extent(chunks: Chunks, first: int, last: int) -> Extent:
    offset, position = int(chunks.bounds[first]), first * chunks.chunk_length
    length = min(last * chunks.chunk_length, chunks.data_length) - position
    return Extent(first, last, offset, int(chunks.bounds[last]) - offset, position, length)


def _damages(piece: Piece, chunks: Chunks) -> Iterator[CorruptSSTableError]:
    """What is wrong with each chunk of a piece."""
    for chunk in range(piece.extent.first_chunk, piece.extent.last_chunk):
        extent = _extent(chunks, chunk, chunk + 1)
        start = piece.start + extent.offset - piece.extent.offset
        single = Piece(extent, piece.buffer[start : start + extent.size].copy(), 0)
        try:
            next(decompress([single], chunks, BufferPool(), in_turn))
        except CorruptSSTableError as error:
            yield error


def _check_tail(chunks: Chunks, file: BufferedFile, digest: Digest) -> CorruptSSTableError | None:
    """What is behind the last chunk that holds data: nothing, or an empty chunk, which some writers leave."""
    try:
        digest.add(check_empty_chunk(chunks, file))
    except CorruptSSTableError as error:
        return error
    return None
