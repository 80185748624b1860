"""CompressionInfo.db: how Data.db is cut into compressed chunks.

    utf      compressor class, simple name        LZ4Compressor
    i32      option count, then utf key, utf value
    i32      chunk_length                         uncompressed bytes a chunk, a power of two
    i32      max_compressed_length                from version na on; a chunk stored in as many bytes or more is raw
    i64      data_length                          uncompressed bytes of Data.db
    i32      offset count, then i64 offsets       where in Data.db each chunk starts; ascending, the first is 0

A chunk is its stored bytes, then their CRC32. Some writers leave an empty chunk behind the last one: its offset is in
the list, but it holds nothing.

Source: org.apache.cassandra.io.compress.CompressionMetadata (3.0 to 5.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flightsrv.errors import CorruptSSTableError, UnsupportedSSTableError, Where
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import Version

COMPRESSORS = ("LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor")
MAX_CHUNK_LENGTH = 1 << 26
"""The largest chunk this reader takes into memory; Cassandra's default is 16 KiB."""
NEVER_RAW = 2**31 - 1
CRC_SIZE = 4


@dataclass(frozen=True, slots=True, eq=False)
class CompressionInfo:
    """What is needed to find and decompress any chunk of Data.db."""

    compressor: str
    """One of COMPRESSORS."""
    options: Mapping[str, str]
    """How it was compressed: of no use to a reader."""
    chunk_length: int
    """Uncompressed bytes of every chunk but the last."""
    max_compressed_length: int
    """A chunk stored in as many bytes or more is raw."""
    data_length: int
    """Uncompressed bytes of Data.db."""
    offsets: npt.NDArray[np.int64]
    """(chunk_count,) or one more: where chunks start in Data.db, an empty one at the end included."""

    @property
    def chunk_count(self) -> int:
        """How many chunks hold data."""
        return -(-self.data_length // self.chunk_length)

    @property
    def has_empty_chunk(self) -> bool:
        """Whether there is an offset more, of what must hold nothing."""
        return self.offsets.size > self.chunk_count


def parse(cursor: Cursor, version: Version) -> CompressionInfo:
    """Read a whole CompressionInfo.db.

    Raises UnsupportedSSTableError for a compressor or a chunk length this reader does not know; CorruptSSTableError
    when the offsets do not ascend from 0, do not cover the data, or bytes remain.
    """
    compressor = cursor.utf("compressor")
    if compressor not in COMPRESSORS:
        what = f"{compressor!r} is not a compressor of Cassandra 3.0 to 5.0"
        raise UnsupportedSSTableError(what, cursor.where("compressor"))
    with cursor.section("options"):
        options = {cursor.utf("key"): cursor.utf("value") for _ in cursor.count("count", "i32", at_least=4)}
    chunk_length = cursor.i32("chunk_length")
    cursor.require(
        chunk_length.bit_count() == 1 <= chunk_length, "chunk_length", f"{chunk_length} is not a power of two"
    )
    if chunk_length > MAX_CHUNK_LENGTH:
        what = f"chunks of {chunk_length} bytes are larger than {MAX_CHUNK_LENGTH}"
        raise UnsupportedSSTableError(what, cursor.where("chunk_length"))
    max_compressed_length = cursor.i32("max_compressed_length") if version.has_max_compressed_length else NEVER_RAW
    cursor.require(
        0 < max_compressed_length <= chunk_length or max_compressed_length == NEVER_RAW,
        "max_compressed_length",
        f"{max_compressed_length} is neither from 1 to {chunk_length} nor {NEVER_RAW}",
    )
    data_length = cursor.i64("data_length")
    cursor.require(data_length > 0, "data_length", f"{data_length} is not above 0")
    offsets = cursor.array("offsets", ">i8", cursor.i32("offset count"))
    info = CompressionInfo(compressor, options, chunk_length, max_compressed_length, data_length, offsets)
    _check_offsets(cursor, info)
    cursor.end()
    return info


def _check_offsets(cursor: Cursor, info: CompressionInfo) -> None:
    offsets, chunk_count = info.offsets, info.chunk_count
    cursor.require(
        offsets.size - chunk_count in (0, 1),
        "offsets",
        f"there are {offsets.size} for {chunk_count} chunks of {info.chunk_length} bytes in {info.data_length} bytes",
    )
    cursor.require(offsets[0] == 0, "offsets", f"the first is {offsets[0]}, not 0")
    # The second only counts where the first does not hold: a difference may wrap.
    too_close = np.flatnonzero((offsets[1:] <= offsets[:-1]) | (np.diff(offsets) <= CRC_SIZE))
    if too_close.size:
        chunk = int(too_close[0])
        cursor.fail("offsets", f"chunk {chunk} starts at {offsets[chunk]}, the next at {offsets[chunk + 1]}")


def chunk_bounds(info: CompressionInfo, data_file_size: int, path: str) -> npt.NDArray[np.int64]:
    """Where in Data.db its chunks lie: chunk i, checksum included, is bounds[i] to bounds[i + 1].

    path: Data.db's, for errors. Returns int64 (chunk_count + 1,). Raises CorruptSSTableError when the last offset lies
    behind the end of Data.db.
    """
    last = int(info.offsets[-1])
    if last + CRC_SIZE + (not info.has_empty_chunk) > data_file_size:
        what = f"the file ends at {data_file_size}, but its chunk {info.offsets.size - 1} starts at {last}"
        raise CorruptSSTableError(what, Where(path, offset=data_file_size))
    if info.has_empty_chunk:
        return info.offsets
    return np.append(info.offsets, np.int64(data_file_size))
