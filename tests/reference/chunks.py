"""Compressed Data.db to the uncompressed bytes, by CompressionInfo.db. Checks every chunk's CRC."""

from __future__ import annotations

import zlib

import cramjam
import lz4.block
import zstandard

from tests.reference.reader import Reader


def uncompressed(data: bytes, compression_info: bytes | None, version: str) -> bytes:
    """The rows' bytes of a whole Data.db; without CompressionInfo.db they are the file's."""
    if compression_info is None:
        return data
    info = Reader(compression_info, "CompressionInfo.db")
    compressor = info.utf()
    for _ in range(info.i32()):
        info.utf(), info.utf()
    chunk_length = info.i32()
    raw_from = info.i32() if version >= "na" or version.startswith("d") else 2**31 - 1
    data_length = info.i64()
    offsets = [info.i64() for _ in range(info.i32())]
    made = bytearray()
    for start, stop in zip(offsets, [*offsets[1:], len(data)], strict=True):
        stored, crc = data[start : stop - 4], data[stop - 4 : stop]
        if zlib.crc32(stored) != int.from_bytes(crc, "big"):
            raise info.corrupt(f"the chunk at {start} of Data.db fails its checksum")
        wanted = min(chunk_length, data_length - len(made))
        if wanted == 0:  # compaction may write an empty chunk at the end, which Deflate makes nothing of
            continue
        made += stored[:wanted] if len(stored) >= raw_from else _decompressed(compressor, stored, wanted)
    if len(made) != data_length:
        raise info.corrupt(f"{data_length} bytes of data promised, {len(made)} found")
    return bytes(made)


def _decompressed(compressor: str, stored: bytes, wanted: int) -> bytes:
    match compressor.rsplit(".", 1)[-1]:
        case "LZ4Compressor":
            length = int.from_bytes(stored[:4], "little")
            return bytes(lz4.block.decompress(stored[4:], uncompressed_size=length))
        case "SnappyCompressor":
            return bytes(cramjam.snappy.decompress_raw(stored))
        case "DeflateCompressor":
            return zlib.decompress(stored)
        case "ZstdCompressor":
            return zstandard.ZstdDecompressor().decompress(stored, max_output_size=wanted)
        case "NoopCompressor":
            return stored
        case other:
            raise ValueError(f"compressor {other}")
