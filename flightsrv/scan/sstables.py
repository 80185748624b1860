"""One SSTable, opened: what its small components say, and how its Data.db is cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from flightsrv.errors import CorruptSSTableError, HeaderError, Where
from flightsrv.io.buffered import BufferedFile, file_size, read_component
from flightsrv.slab import Array, BufferPool
from flightsrv.sstable import compression_info, crc, statistics, toc
from flightsrv.sstable.compression_info import NEVER_RAW, CompressionInfo
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.statistics import Statistics
from flightsrv.stages import in_turn
from flightsrv.stages.decompress import Chunks, check_empty_chunk, decompress
from flightsrv.stages.read import Extent, read


@dataclass(frozen=True, slots=True, eq=False)
class SSTable:
    """An immutable view of one SSTable; its Data.db is opened by each scan."""

    descriptor: Descriptor
    statistics: Statistics
    compression: CompressionInfo | None
    """None: Data.db is not compressed."""
    bounds: Array
    """int64 (chunks + 1,): where chunks start in Data.db; those of CRC.db when it is not compressed."""
    checksums: Array | None
    """int64 (chunks,): CRC.db's, None when Data.db is compressed or has none."""
    chunk_length: int
    """Uncompressed bytes of a chunk."""
    data_length: int
    """Uncompressed bytes of Data.db."""
    data_file_bytes: int
    components: frozenset[str] = field(default=frozenset())

    @property
    def data_path(self) -> str:
        return self.descriptor.path("Data.db")

    @property
    def chunks(self) -> Chunks:
        """How Data.db is cut and checked."""
        info = self.compression
        return Chunks(
            self.data_path,
            None if info is None else info.compressor,
            self.bounds,
            self.chunk_length,
            self.data_length,
            NEVER_RAW if info is None else info.max_compressed_length,
            self.checksums,
        )

    def chunk_at(self, position: int) -> int:
        """The chunk that holds an uncompressed position."""
        return min(position // self.chunk_length, self.bounds.size - 2)

    def extents(self, start: int, stop: int, piece_bytes: int, window_bytes: int) -> Iterator[Extent]:
        """Cut the positions [start, stop) into reads of about `piece_bytes` that decompress to about `window_bytes` at
        most; each is whole chunks."""
        chunk, end = self.chunk_at(start), self.chunk_at(max(stop - 1, start)) + 1
        chunks_a_window = max(1, window_bytes // self.chunk_length)
        while chunk < end:
            last = int(np.searchsorted(self.bounds, self.bounds[chunk] + piece_bytes))
            last = min(max(last, chunk + 1), chunk + chunks_a_window, end)
            position = chunk * self.chunk_length
            yield Extent(
                first_chunk=chunk,
                last_chunk=last,
                offset=int(self.bounds[chunk]),
                size=int(self.bounds[last] - self.bounds[chunk]),
                position=position,
                length=min(last * self.chunk_length, self.data_length) - position,
            )
            chunk = last


def open_sstable(descriptor: Descriptor, components: frozenset[str]) -> SSTable:
    """Read the small components of an SSTable. components: the names of the files that are there.

    Raises CorruptSSTableError, UnsupportedSSTableError or SSTableError, naming the file at fault.
    """
    version = descriptor.version
    path = descriptor.path("Statistics.db")
    parsed = statistics.parse(Cursor(read_component(path), path), version)
    data_path = descriptor.path("Data.db")
    data_file_bytes = file_size(data_path)
    if data_file_bytes == 0:
        raise CorruptSSTableError("the file is empty", Where(data_path, offset=0))
    if "CompressionInfo.db" in components:
        path = descriptor.path("CompressionInfo.db")
        info = compression_info.parse(Cursor(read_component(path), path), version)
        bounds = compression_info.chunk_bounds(info, data_file_bytes, data_path)
        sstable = SSTable(
            descriptor,
            parsed,
            info,
            np.ascontiguousarray(bounds, np.int64),
            None,
            info.chunk_length,
            info.data_length,
            data_file_bytes,
            components,
        )
        if info.has_empty_chunk:
            with closing(open_data(sstable)) as file:
                check_empty_chunk(sstable.chunks, file)
        return sstable
    _refuse_lost_compression(descriptor, components)
    return _uncompressed(descriptor, parsed, data_file_bytes, components)


_UNCHECKED_CHUNK_LENGTH = 65536


def _uncompressed(
    descriptor: Descriptor, parsed: Statistics, data_file_bytes: int, components: frozenset[str]
) -> SSTable:
    chunk_length, checksums = _UNCHECKED_CHUNK_LENGTH, None
    if "CRC.db" in components:
        path = descriptor.path("CRC.db")
        found = crc.parse(Cursor(read_component(path), path))
        crc.check_count(found, data_file_bytes, descriptor.path("Data.db"))
        crc.check_empty_chunk(found, data_file_bytes, path)
        chunk_length, checksums = found.chunk_size, np.ascontiguousarray(found.values, np.int64)
    bounds = np.append(np.arange(0, data_file_bytes, chunk_length, dtype=np.int64), data_file_bytes)
    return SSTable(
        descriptor, parsed, None, bounds, checksums, chunk_length, data_file_bytes, data_file_bytes, components
    )


def _refuse_lost_compression(descriptor: Descriptor, components: frozenset[str]) -> None:
    """Compressed bytes must never be taken for rows. An SSTable that is not compressed was written with a CRC.db: it is
    there, or TOC.txt tells of it."""
    listed: tuple[str, ...] = ()
    if "TOC.txt" in components:
        path = descriptor.path("TOC.txt")
        listed = toc.parse(Cursor(read_component(path), path))
    what = None
    if "CompressionInfo.db" in listed:
        what = "TOC.txt lists the file, but it is missing"
    elif "CRC.db" not in components and "CRC.db" not in listed:
        what = "the file is missing, and neither a CRC.db nor TOC.txt tells that there was none"
    if what is not None:
        raise CorruptSSTableError(what, Where(descriptor.path("CompressionInfo.db")))


def open_data(sstable: SSTable) -> BufferedFile:
    """Open Data.db. Raises CorruptSSTableError when it is not as long as when the SSTable was opened."""
    file = BufferedFile(sstable.data_path)
    if file.size != sstable.data_file_bytes:
        file.close()
        what = f"the file has {file.size} bytes, it had {sstable.data_file_bytes}"
        raise CorruptSSTableError(what, Where(sstable.data_path))
    return file


def header_error(descriptor: Descriptor, what: str) -> HeaderError:
    """An error about the columns of a serialization header."""
    return HeaderError(what, Where(descriptor.path("Statistics.db"), field="HEADER"))


def key_at(sstable: SSTable, file: BufferedFile, buffers: BufferPool, position: int) -> bytes:
    """The key of the partition that starts at a position of Data.db, by the bytes there.

    Raises CorruptSSTableError when there is none, or a chunk is damaged; SSTableError when the file cannot be read.
    """
    where = Where(sstable.data_path, position=position, field="partition key length")
    if not 0 <= position < sstable.data_length:
        raise CorruptSSTableError(f"a partition is said to start here, of {sstable.data_length} bytes", where)
    head = b""
    chunk_by_chunk = sstable.extents(position, sstable.data_length, 1, 1)
    for window in decompress(read(chunk_by_chunk, file, buffers, in_turn), sstable.chunks, buffers, in_turn):
        head += window.data[window.start + max(0, position - window.position) : window.stop].tobytes()
        window.release()
        size = int.from_bytes(head[:2])
        if len(head) >= 2 and len(head) >= 2 + size:
            if size or position == 0:  # views may have an empty key, which is the least
                return head[2 : 2 + size]
            break
    raise CorruptSSTableError("a partition is said to start here, but there is no key", where)
