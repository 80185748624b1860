"""Chunks of each codec; what is wrong with a chunk is told with both numbers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import lz4.block
import numpy as np
import pytest
import zstandard

from flightsrv.kernels.decompress import (
    CHECKSUM,
    CONTENT,
    LENGTH,
    LZ4,
    NONE,
    STORED_LENGTH,
    ZSTD,
    check_chunks,
    decompress_chunks,
)
from flightsrv.kernels.status import CORRUPT, DONE

pytestmark = pytest.mark.kernel

CHUNK = 100
NEVER_RAW = 2**31 - 1
CONTENTS = [b"ab" * 50, bytes(range(100)), b"\0" * 100, b"the last one is short"]
DATA_LENGTH = sum(map(len, CONTENTS))


def lz4_chunk(content: bytes) -> bytes:
    return len(content).to_bytes(4, "little") + lz4.block.compress(content, store_size=False)


COMPRESS: dict[int, Callable[[bytes], bytes]] = {NONE: bytes, LZ4: lz4_chunk, ZSTD: zstandard.ZstdCompressor().compress}

each_codec = pytest.mark.parametrize("codec", COMPRESS)
each_compressing_codec = pytest.mark.parametrize("codec", [LZ4, ZSTD])


def with_checksum(stored: bytes) -> bytes:
    return stored + zlib.crc32(stored).to_bytes(4, "big")


def decompressed(
    codec: int,
    chunks: Sequence[bytes],
    first: int = 0,
    last: int | None = None,
    raw_from: int = NEVER_RAW,
    before: int = 3,
) -> tuple[int, ...] | bytes:
    """The content of chunks [first, last), or (chunk, what is wrong, what the file says, what was found)."""
    last = len(chunks) if last is None else last
    bounds = np.cumsum([0] + [len(chunk) for chunk in chunks]).astype(np.int64)
    source = np.frombuffer(b"".join(chunks)[bounds[first] :] + b"\xff", np.uint8)
    target = np.full(before + CHUNK * (last - first) + 1, 0x5A, np.uint8)
    status, made, *wrong = decompress_chunks(
        codec, source, bounds, first, last, CHUNK, DATA_LENGTH, raw_from, target, before
    )
    assert target[:before].tobytes() == b"\x5a" * before
    if status == CORRUPT:
        return (int(made), *map(int, wrong))
    assert status == DONE
    assert target[before + made :].tobytes() == b"\x5a" * (target.size - before - made)
    return target[before : before + made].tobytes()


def stored_chunks(codec: int) -> list[bytes]:
    return [with_checksum(COMPRESS[codec](content)) for content in CONTENTS]


@each_codec
def test_chunks_are_decompressed_one_behind_the_other(codec: int) -> None:
    chunks = stored_chunks(codec)
    assert decompressed(codec, chunks) == b"".join(CONTENTS)
    assert decompressed(codec, chunks, 1, 3) == CONTENTS[1] + CONTENTS[2]
    assert decompressed(codec, chunks, 3, 4) == CONTENTS[3]
    assert decompressed(codec, chunks, 2, 2) == b""


@each_codec
def test_a_flipped_bit_anywhere_fails_the_checksum(codec: int) -> None:
    chunks = stored_chunks(codec)
    for bit in range(8 * len(chunks[1])):
        damaged = bytearray(chunks[1])
        damaged[bit >> 3] ^= 1 << (bit & 7)
        said, found = int.from_bytes(damaged[-4:], "big"), zlib.crc32(damaged[:-4])
        assert decompressed(codec, [chunks[0], bytes(damaged), *chunks[2:]]) == (1, CHECKSUM, said, found)


@each_codec
def test_a_chunk_stored_in_as_many_bytes_as_raw_ones_is_raw(codec: int) -> None:
    raw = [with_checksum(content + b"\0" * (CHUNK - len(content))) for content in CONTENTS]  # padded
    assert decompressed(codec, raw, raw_from=CHUNK) == b"".join(CONTENTS)


def test_a_raw_chunk_is_padded_with_zeros_alone() -> None:
    """Else the data are said to be shorter than they are."""
    last = len(CONTENTS) - 1
    raw = [with_checksum(content) for content in CONTENTS]
    raw[last] = with_checksum(CONTENTS[last] + b"\0\1")
    assert decompressed(NONE, raw) == (last, LENGTH, len(CONTENTS[last]), len(CONTENTS[last]) + 2)


@each_compressing_codec
def test_raw_and_compressed_chunks_stand_side_by_side(codec: int) -> None:
    chunks = stored_chunks(codec)
    chunks[1] = with_checksum(CONTENTS[1])
    assert decompressed(codec, chunks, raw_from=CHUNK) == b"".join(CONTENTS)


def test_a_raw_chunk_that_is_too_short_is_wrong_in_length() -> None:
    chunks = [with_checksum(content) for content in CONTENTS]
    chunks[2] = with_checksum(CONTENTS[2][1:])
    assert decompressed(NONE, chunks) == (2, LENGTH, 100, 99)
    chunks[3] = with_checksum(CONTENTS[3][1:])
    assert decompressed(NONE, chunks, 3, 4) == (3, LENGTH, 21, 20)


@pytest.mark.parametrize("said", [0, 99, 101, 2**31 - 1, 2**31, 2**32 - 1])
def test_an_lz4_chunk_that_says_another_length_is_refused_before_it_is_touched(said: int) -> None:
    chunks = stored_chunks(LZ4)
    chunks[0] = with_checksum(said.to_bytes(4, "little") + chunks[0][4:-4])
    assert decompressed(LZ4, chunks) == (0, LENGTH, said, 100)


@pytest.mark.parametrize("size", range(4))
def test_an_lz4_chunk_without_a_length_is_wrong_in_length(size: int) -> None:
    assert decompressed(LZ4, [with_checksum(bytes(size)), *stored_chunks(LZ4)[1:]]) == (0, LENGTH, -1, 100)


@each_compressing_codec
@pytest.mark.parametrize("content", [b"", b"x" * 99, b"x" * 101, b"x" * 10_000])
def test_content_of_another_length_never_goes_beyond_its_place(codec: int, content: bytes) -> None:
    stored = COMPRESS[codec](content)
    if codec == LZ4:
        stored = (100).to_bytes(4, "little") + stored[4:]
    made = decompressed(codec, [with_checksum(stored), *stored_chunks(codec)[1:]])
    assert isinstance(made, tuple)
    assert made[:3] == (0, CONTENT, 100)


@each_compressing_codec
def test_content_of_no_codec_is_refused(codec: int) -> None:
    noise = (100).to_bytes(4, "little") + bytes(range(250, 200, -1))
    made = decompressed(codec, [with_checksum(noise), *stored_chunks(codec)[1:]])
    assert isinstance(made, tuple)
    assert made[:3] == (0, CONTENT, 100)


@each_codec
@pytest.mark.parametrize("size", range(4))
def test_a_chunk_without_room_for_its_checksum_is_refused(codec: int, size: int) -> None:
    assert decompressed(codec, [bytes(size), *stored_chunks(codec)[1:]]) == (0, STORED_LENGTH, size - 4, 0)


def checked(data: bytes, checksums: list[int], first: int = 0, before: int = 5) -> tuple[int, ...]:
    source = np.frombuffer(b"\xff" * before + data + b"\xff", np.uint8)
    found = check_chunks(source, before, before + len(data), CHUNK, first, np.array(checksums, np.int64))
    return tuple(int(each) for each in found)


def test_chunks_of_an_uncompressed_file_are_compared_with_their_checksums() -> None:
    data = b"".join(CONTENTS)
    checksums = [zlib.crc32(content) for content in CONTENTS]
    assert checked(data, checksums) == (DONE, 4, 0, 0)
    assert checked(data[CHUNK:], checksums, 1) == (DONE, 4, 0, 0)
    assert checked(data[:CHUNK], checksums) == (DONE, 1, 0, 0)
    assert checked(b"", checksums, 2) == (DONE, 2, 0, 0)
    assert checked(data[:-1], checksums) == (CORRUPT, 3, checksums[3], zlib.crc32(CONTENTS[3][:-1]))
    assert checked(data, checksums[:3]) == (CORRUPT, 3, -1, checksums[3])
    assert checked(data, [1, *checksums[1:]]) == (CORRUPT, 0, 1, checksums[0])
