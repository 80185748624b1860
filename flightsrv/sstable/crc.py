"""CRC.db: checksums of an uncompressed Data.db.

    i32      chunk size
    u32      CRC32 of each chunk of Data.db; the last chunk is short

Some writers add the checksum of an empty chunk, 0, behind the last one.

Source: org.apache.cassandra.io.util.DataIntegrityMetadata.ChecksumValidator, ChecksumWriter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flightsrv.errors import CorruptSSTableError, UnsupportedSSTableError, Where
from flightsrv.sstable.compression_info import MAX_CHUNK_LENGTH
from flightsrv.sstable.cursor import Cursor


@dataclass(frozen=True, slots=True, eq=False)
class Checksums:
    """The CRC32 of each chunk of an uncompressed Data.db."""

    chunk_size: int
    values: npt.NDArray[np.int64]
    """(n,), each 0 to 2^32 - 1."""


def parse(cursor: Cursor) -> Checksums:
    """Read a whole CRC.db.

    Raises UnsupportedSSTableError for chunks that are too large to be taken into memory.
    """
    chunk_size = cursor.i32("chunk_size")
    cursor.require(chunk_size > 0, "chunk_size", f"{chunk_size} is not above 0")
    if chunk_size > MAX_CHUNK_LENGTH:
        what = f"chunks of {chunk_size} bytes are larger than {MAX_CHUNK_LENGTH}"
        raise UnsupportedSSTableError(what, cursor.where("chunk_size"))
    values = cursor.array("checksums", ">u4", cursor.left // 4)
    cursor.end()
    return Checksums(chunk_size, values.astype(np.int64))


def check_count(checksums: Checksums, data_file_size: int, path: str) -> None:
    """Raise CorruptSSTableError when Data.db (its path, for the error) is not as long as its checksums say."""
    chunk_count = -(-data_file_size // checksums.chunk_size)
    if checksums.values.size - chunk_count not in (0, 1):
        what = f"the file has {chunk_count} chunks of {checksums.chunk_size} bytes, CRC.db has {checksums.values.size}"
        raise CorruptSSTableError(what, Where(path, offset=data_file_size))


def check_empty_chunk(checksums: Checksums, data_file_size: int, path: str) -> None:
    """Raise CorruptSSTableError when the checksum behind that of Data.db's last chunk, if there is one, is not that of
    nothing: Data.db was longer once. path: CRC.db's, for the error."""
    chunk = -(-data_file_size // checksums.chunk_size)
    if checksums.values[chunk:].any():
        what = f"checksum {chunk} is of an empty chunk, but it is {checksums.values[chunk]:#010x}, not 0"
        raise CorruptSSTableError(what, Where(path, offset=4 + 4 * chunk, field="checksums"))
