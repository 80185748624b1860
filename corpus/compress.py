"""The loop that compresses Data.db.

Source: org.apache.cassandra.io.compress.CompressedSequentialWriter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, store_32, store_be32

CHUNK_BYTES = 16384
STORED_CHUNK_BYTES = CHUNK_BYTES + CHUNK_BYTES // 255 + 16 + 8
"""The most that an LZ4 chunk with its length and its checksum can take."""

_lz4_compress: Any = types.ExternalFunction(
    "LZ4_compress_default", types.int32(types.int64, types.int64, types.int32, types.int32)
)
_crc32: Any = types.ExternalFunction("crc32_gzip_refl", types.uint32(types.uint32, types.int64, types.uint64))


@kernel
def compress(data, size, out, stops):
    """Cut data[:size] into chunks, each stored as length, LZ4 block, CRC32. stops: int64 (chunks,) made here."""
    at = address_of(out)
    for chunk in range(stops.size):
        source = address_of(data) + chunk * CHUNK_BYTES
        length = min(CHUNK_BYTES, size - chunk * CHUNK_BYTES)
        store_32(at, length)
        stored = 4 + np.int64(_lz4_compress(source, at + 4, np.int32(length), np.int32(STORED_CHUNK_BYTES - 8)))
        store_be32(at + stored, np.int64(_crc32(np.uint32(0), at, np.uint64(stored))))
        at += stored + 4
        stops[chunk] = at - address_of(out)
