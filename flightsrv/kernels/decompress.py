"""Chunks of a compressed Data.db, checked and decompressed one behind the other, a whole window a call.

    chunk := stored bytes, u32 CRC-32 of them
    LZ4's stored bytes start with the uncompressed length, i32 little-endian

Source: org.apache.cassandra.io.util.CompressedChunkReader, io.compress.LZ4Compressor, ZstdCompressor, NoopCompressor.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import HAS, address_of, copy, crc32, load_be32, load_u8, lz4_decompress, zstd_decompress
from flightsrv.kernels.status import CORRUPT, DONE

NONE, LZ4, ZSTD = range(3)
"""Codecs that a kernel knows."""

# What is wrong with a chunk.
CHECKSUM, LENGTH, CONTENT, STORED_LENGTH = range(1, 5)


@kernel
def _load_le32(address):
    word = np.int64(load_u8(address)) | np.int64(load_u8(address + 1)) << 8
    return word | np.int64(load_u8(address + 2)) << 16 | np.int64(load_u8(address + 3)) << 24


@kernel
def decompress_chunks(codec, source, offsets, first, last, chunk_length, data_length, raw_from, target, start):
    """Decompress chunks [first, last) from source to target[start:].

    source: uint8, source[0] is Data.db's byte offsets[first] and it reaches to offsets[last]. offsets: int64 (chunks +
    1,) within Data.db. raw_from: stored length at and above which a chunk is not compressed. target: uint8 with room
    for (last - first) * chunk_length bytes from start on. Returns (status, bytes made or the bad chunk, what is wrong
    with it, what the file says, what was found).
    """
    made = np.int64(0)
    for chunk in range(first, last):
        at = address_of(source) + offsets[chunk] - offsets[first]
        stored = offsets[chunk + 1] - offsets[chunk] - 4
        wanted = max(0, min(chunk_length, data_length - chunk * chunk_length))
        if stored < 0:
            return CORRUPT, chunk, STORED_LENGTH, stored, 0
        found = np.int64(crc32(at, stored))
        said = np.int64(load_be32(at + stored))
        if found != said:
            return CORRUPT, chunk, CHECKSUM, said, found
        out = address_of(target) + start + made
        if codec == NONE or stored >= raw_from:
            if stored < wanted:
                return CORRUPT, chunk, LENGTH, wanted, stored
            for i in range(wanted, stored):  # the last chunk may be filled up, with zeros
                if load_u8(at + i) != 0:
                    return CORRUPT, chunk, LENGTH, wanted, stored
            copy(out, at, wanted)
        elif codec == LZ4:
            said = np.int64(_load_le32(at)) if stored >= 4 else np.int64(-1)
            if said != wanted:
                return CORRUPT, chunk, LENGTH, said, wanted
            found = np.int64(lz4_decompress(out, wanted, at + 4, stored - 4))
            if found != wanted:
                return CORRUPT, chunk, CONTENT, wanted, found
        else:
            found = np.int64(zstd_decompress(out, wanted, at, stored))
            if found != wanted:
                return CORRUPT, chunk, CONTENT, wanted, found
        made += wanted
    return DONE, made, 0, 0, 0


@kernel
def check_chunks(source, start, stop, chunk_length, first, checksums):
    """Compare the chunks of source[start:stop], uncompressed data that starts with chunk `first`, with CRC.db's
    checksums.

    source: uint8. checksums: int64 (chunks,). Returns (status, the bad chunk, what the file says, what was found).
    """
    at = start
    chunk = first
    while at < stop:
        size = min(chunk_length, stop - at)
        found = np.int64(crc32(address_of(source) + at, size))
        if chunk >= checksums.size or found != checksums[chunk]:
            return CORRUPT, chunk, checksums[chunk] if chunk < checksums.size else np.int64(-1), found
        at += size
        chunk += 1
    return DONE, chunk, np.int64(0), np.int64(0)


if not all(HAS[symbol] for symbol in ("crc32_gzip_refl", "LZ4_decompress_safe", "ZSTD_decompress")):
    # A library hides its symbols: the packages' Python functions do the same work, a chunk at a time.
    decompress_chunks = getattr(decompress_chunks, "py_func", decompress_chunks)
    check_chunks = getattr(check_chunks, "py_func", check_chunks)
