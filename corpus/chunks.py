"""Data.db in LZ4 chunks of 16 KiB, and CompressionInfo.db and Digest.crc32 that go with it.

Where the C functions cannot be called from kernels, the same chunks come from the packages' Python functions.

Source: org.apache.cassandra.io.compress.CompressedSequentialWriter, LZ4Compressor, CompressionMetadata.
"""

from __future__ import annotations

from typing import BinaryIO

import lz4.block
import numpy as np
from isal.isal_zlib import crc32

from corpus.compress import CHUNK_BYTES, STORED_CHUNK_BYTES, compress
from corpus.encoding import i32, i64, u32, utf
from flightsrv.kernels.jit import MODE
from flightsrv.kernels.native import HAS

IN_KERNEL = MODE != "python" and HAS["LZ4_compress_default"] and HAS["crc32_gzip_refl"]
_NEVER_RAW = 2**31 - 1


class Chunks:
    """Takes Data.db's bytes as they are made, and writes them compressed.

    `room(size)` gives a buffer and where to go on in it; `took(stop)` says how far it was filled.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.position = 0
        """Uncompressed bytes so far, those not yet in the file included."""
        self.offset = 0
        """Bytes in the file."""
        self._file = file
        self._digest = 0
        self._offsets: list[np.ndarray] = []
        self._buffer = np.empty(CHUNK_BYTES, np.uint8)
        self._kept = 0
        self._stored = np.empty(0, np.uint8)

    def room(self, size: int) -> tuple[np.ndarray, int]:
        """A buffer that can take `size` bytes from the index that is returned beside it."""
        if len(self._buffer) < self._kept + size:
            larger = np.empty(2 * (self._kept + size), np.uint8)
            larger[: self._kept] = self._buffer[: self._kept]
            self._buffer = larger
        return self._buffer, self._kept

    def took(self, stop: int) -> None:
        """The buffer is filled up to `stop`: write the whole chunks, keep the rest."""
        self.position += stop - self._kept
        whole = stop // CHUNK_BYTES * CHUNK_BYTES
        self._write(whole)
        self._buffer[: stop - whole] = self._buffer[whole:stop]
        self._kept = stop - whole

    def _write(self, size: int) -> None:
        chunks = -(-size // CHUNK_BYTES)
        if chunks == 0:
            return
        stops = np.empty(chunks, np.int64)
        if IN_KERNEL:
            if len(self._stored) < chunks * STORED_CHUNK_BYTES:
                self._stored = np.empty(chunks * STORED_CHUNK_BYTES, np.uint8)
            compress(self._buffer, size, self._stored, stops)
            stored = self._stored[: stops[-1]].data
        else:
            stored = memoryview(self._compress_in_python(size, stops))
        self._file.write(stored)
        self._digest = crc32(stored, self._digest)
        self._offsets.append(self.offset + np.concatenate([[0], stops[:-1]]))
        self.offset += len(stored)

    def _compress_in_python(self, size: int, stops: np.ndarray) -> bytes:
        out = bytearray()
        for chunk in range(len(stops)):
            data = self._buffer[chunk * CHUNK_BYTES : min(size, (chunk + 1) * CHUNK_BYTES)].tobytes()
            stored = lz4.block.compress(data, store_size=True)
            out += stored + u32(crc32(stored))
            stops[chunk] = len(out)
        return bytes(out)

    def finish(self) -> tuple[bytes, bytes]:
        """Write the last, short chunk. Returns CompressionInfo.db and Digest.crc32."""
        self._write(self._kept)
        offsets = np.concatenate(self._offsets)
        info = utf("LZ4Compressor") + i32(0, CHUNK_BYTES, _NEVER_RAW) + i64(self.position) + i32(len(offsets))
        return info + offsets.astype(">i8").tobytes(), str(self._digest).encode()
