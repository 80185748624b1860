"""Stage 2 on files of nodes and on chunks made by hand: the right bytes, or the chunk's index and offset."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import cramjam
import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.io.buffered import BufferedFile
from flightsrv.kernels.vint import SLACK
from flightsrv.scan.sstables import SSTable
from flightsrv.slab import Array, BufferPool, Window
from flightsrv.stages.decompress import KERNEL_CODECS, PACKAGE_CODECS, Chunks, check_empty_chunk, decompress
from flightsrv.stages.read import HEAD_ROOM, Extent, Piece, read
from tests.kernels.test_decompress import COMPRESS
from tests.reference.chunks import uncompressed
from tests.reference.fixtures import FixtureSet, params, refusal
from tests.scan.scanning import open_file
from tests.stages.merging import PoisonPool
from tests.stages.test_read import one_by_one

CHUNK = 1024
CONTENTS = [b"ab" * 512, bytes(range(256)) * 4, np.random.default_rng(1).bytes(1024), b"the last one is short"]
DATA = b"".join(CONTENTS)
COMPRESSED = {
    "DeflateCompressor": zlib.compress,
    "SnappyCompressor": lambda content: bytes(cramjam.snappy.compress_raw(content)),
    "NoopCompressor": bytes,
    "LZ4Compressor": COMPRESS[KERNEL_CODECS["LZ4Compressor"]],
    "ZstdCompressor": COMPRESS[KERNEL_CODECS["ZstdCompressor"]],
}

each_compressor = pytest.mark.parametrize("compressor", COMPRESSED)
NEVER_RAW = 2**31 - 1


def with_checksum(stored: bytes) -> bytes:
    return stored + zlib.crc32(stored).to_bytes(4, "big")


def chunks_and_file(compressor: str, stored: list[bytes], raw_from: int = NEVER_RAW) -> tuple[Chunks, bytes]:
    """What a Data.db of these chunks is, and its bytes."""
    with_sums = [with_checksum(chunk) for chunk in stored]
    bounds = np.cumsum([0] + [len(chunk) for chunk in with_sums]).astype(np.int64)
    return Chunks("nb-1-big-Data.db", compressor, bounds, CHUNK, len(DATA), raw_from, None), b"".join(with_sums)


def pieces_of(chunks: Chunks, file: bytes, *firsts: int) -> Iterator[Piece]:
    """Pieces that start at these chunks."""
    count = len(chunks.bounds) - 1
    for first, last in zip(firsts, [*firsts[1:], count], strict=True):
        offset, end = int(chunks.bounds[first]), int(chunks.bounds[last])
        position = first * CHUNK
        extent = Extent(first, last, offset, end - offset, position, min(last * CHUNK, len(DATA)) - position)
        stored = np.frombuffer(b"\xff" * 7 + file[offset:end] + b"\xff" * SLACK, np.uint8).copy()
        yield Piece(extent, stored, 7)


def bytes_of(window: Window) -> bytes:
    return window.data[window.start : window.stop].tobytes()


def content(chunks: Chunks, file: bytes, *firsts: int) -> bytes:
    """The content of all windows, each of which begins where the one before it ended."""
    made = b""
    start = (firsts or (0,))[0] * CHUNK
    for window in decompress(pieces_of(chunks, file, *(firsts or (0,))), chunks, BufferPool(), one_by_one):
        assert window.position == start + len(made)
        assert window.start == HEAD_ROOM
        assert window.data.size >= window.stop + SLACK
        made += bytes_of(window)
        window.release()
    return made


@each_compressor
@pytest.mark.parametrize("firsts", [(0,), (0, 1, 2, 3), (0, 3), (2,), (1, 3)])
def test_windows_hold_the_chunks_of_their_pieces(compressor: str, firsts: tuple[int, ...]) -> None:
    chunks, file = chunks_and_file(compressor, [COMPRESSED[compressor](each) for each in CONTENTS])
    assert content(chunks, file, *firsts) == DATA[firsts[0] * CHUNK :]


@each_compressor
def test_raw_chunks_may_be_padded(compressor: str) -> None:
    stored = [COMPRESSED[compressor](each) for each in CONTENTS]
    stored[2] = CONTENTS[2] + bytes(100)
    stored[3] = CONTENTS[3] + bytes(CHUNK)
    chunks, file = chunks_and_file(compressor, stored, raw_from=CHUNK)
    assert (
        content(chunks, file) == DATA
        if compressor != "NoopCompressor"
        else content(chunks, file, 2) == DATA[2 * CHUNK :]
    )


@each_compressor
def test_a_wrong_checksum_says_both(compressor: str) -> None:
    chunks, file = chunks_and_file(compressor, [COMPRESSED[compressor](each) for each in CONTENTS])
    at = int(chunks.bounds[2]) - 1
    damaged = file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]
    found = int.from_bytes(file[at - 3 : at + 1], "big")
    what = f"chunk 1 checksum: {found ^ 1:#010x} in the file, {found:#010x} computed"
    with pytest.raises(CorruptSSTableError, match=f"^nb-1-big-Data.db: offset {chunks.bounds[1]}: {what}$"):
        content(chunks, damaged)


@each_compressor
@pytest.mark.parametrize("wrong", [b"", b"x" * 1023, b"x" * 1025, b"x" * 100_000])
def test_content_of_another_length_is_an_error(compressor: str, wrong: bytes) -> None:
    stored = [COMPRESSED[compressor](each) for each in CONTENTS]
    stored[1] = COMPRESSED[compressor](wrong)
    chunks, file = chunks_and_file(compressor, stored)
    with pytest.raises(
        CorruptSSTableError, match=rf"^nb-1-big-Data\.db: offset {chunks.bounds[1]}: chunk 1 (length|content): "
    ):
        content(chunks, file)


@pytest.mark.parametrize("compressor", [name for name in COMPRESSED if name != "NoopCompressor"])
def test_bytes_that_are_not_the_codecs_are_an_error(compressor: str) -> None:
    stored = [COMPRESSED[compressor](each) for each in CONTENTS]
    stored[0] = bytes(range(255, 155, -1))
    chunks, file = chunks_and_file(compressor, stored)
    with pytest.raises(CorruptSSTableError, match=r"^nb-1-big-Data\.db: offset 0: chunk 0 (length|content): "):
        content(chunks, file)


@pytest.mark.parametrize("cut", [1, 4, 5, 500])
def test_a_deflated_chunk_ends_with_its_stream(cut: int) -> None:
    stored = [zlib.compress(each) for each in CONTENTS]
    chunks, file = chunks_and_file("DeflateCompressor", [*stored[:2], stored[2][:-cut], stored[3]])
    with pytest.raises(CorruptSSTableError, match="chunk 2 content: is not 1024 bytes of DeflateCompressor's"):
        content(chunks, file)


@each_compressor
@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_chunk_too_short_for_its_checksum_is_an_error(compressor: str, size: int) -> None:
    chunks, file = chunks_and_file(compressor, [COMPRESSED[compressor](each) for each in CONTENTS])
    bounds = chunks.bounds.copy()
    bounds[1] = size
    with pytest.raises(CorruptSSTableError, match=r"chunk 0 (length|checksum): "):
        content(replace(chunks, bounds=bounds), file)


def test_every_codec_of_cassandra_is_known() -> None:
    assert sorted([*KERNEL_CODECS, *PACKAGE_CODECS]) == sorted(COMPRESSED)


def uncompressed_file(checksums: list[int] | None) -> Chunks:
    bounds = np.array([0, 1024, 2048, 3072, len(DATA)], np.int64)
    sums = None if checksums is None else np.array(checksums, np.int64)
    return Chunks("nb-1-big-Data.db", None, bounds, CHUNK, len(DATA), NEVER_RAW, sums)


CHECKSUMS = [zlib.crc32(each) for each in CONTENTS]


@pytest.mark.parametrize("checksums", [None, CHECKSUMS, [*CHECKSUMS, 7]])
def test_a_piece_of_an_uncompressed_file_is_its_window(checksums: list[int] | None) -> None:
    chunks = uncompressed_file(checksums)
    for firsts in ((0,), (0, 1, 3), (2,)):
        pieces = list(pieces_of(chunks, DATA, *firsts))
        windows = list(decompress(iter(pieces), chunks, BufferPool(), one_by_one))
        assert (
            b"".join(window.data[window.start : window.stop].tobytes() for window in windows)
            == DATA[firsts[0] * CHUNK :]
        )
        assert [window.data is piece.buffer for window, piece in zip(windows, pieces, strict=True)]


def test_a_chunk_of_an_uncompressed_file_that_is_not_as_crc_db_says_is_an_error() -> None:
    chunks = uncompressed_file([*CHECKSUMS[:2], 1, CHECKSUMS[3]])
    what = f"chunk 2 checksum: 0x00000001 in CRC.db, {CHECKSUMS[2]:#010x} computed"
    with pytest.raises(CorruptSSTableError, match=rf"^nb-1-big-Data\.db: offset 2048: {what}$"):
        list(decompress(pieces_of(chunks, DATA, 0, 1), chunks, BufferPool(), one_by_one))


def test_the_memory_of_a_piece_is_given_back_once_its_window_is_there() -> None:
    chunks, file = chunks_and_file("LZ4Compressor", [COMPRESSED["LZ4Compressor"](each) for each in CONTENTS])
    pieces = list(pieces_of(chunks, file, 0, 2))
    windows = list(decompress(iter(pieces), chunks, PoisonPool(), one_by_one))
    assert all(set(piece.buffer.tolist()) == {0xEE} for piece in pieces)
    assert b"".join(map(bytes_of, windows)) == DATA


def is_intact(fixture: FixtureSet) -> bool:
    return refusal(fixture) is None and fixture.has_expected_rows and not fixture.id.endswith("/node")


@pytest.mark.parametrize("fixture", params(is_intact))
def test_a_file_of_a_node_is_what_the_reference_makes_of_it(fixture: FixtureSet) -> None:
    for data_file in fixture.data_files:
        sstable = open_file(data_file)
        if sstable.data_length > 4_000_000:
            pytest.skip("too large to be read several times")
        info = data_file.with_name(data_file.name.replace("Data.db", "CompressionInfo.db"))
        wanted = uncompressed(
            data_file.read_bytes(), info.read_bytes() if info.exists() else None, sstable.descriptor.version.letters
        )
        for start, piece_bytes in ((0, 1), (0, 1 << 20), (sstable.data_length // 2, 30_000)):
            chunk_start = sstable.chunk_at(start) * sstable.chunk_length
            assert content_of(sstable, start, piece_bytes) == wanted[chunk_start:]


def content_of(sstable: SSTable, start: int, piece_bytes: int) -> bytes:
    file = BufferedFile(sstable.data_path)
    extents = sstable.extents(start, sstable.data_length, piece_bytes, 2 * piece_bytes)
    made = b""
    with closing(file):
        pieces = read(extents, file, BufferPool(), one_by_one)
        for window in decompress(pieces, sstable.chunks, BufferPool(), one_by_one):
            made += bytes_of(window)
            window.release()
    return made


class Bytes:
    """A file."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self._data = np.frombuffer(data, np.uint8)

    def read_into(self, offset: int, target: Array) -> None:
        target[:] = self._data[offset : offset + target.size]


def with_a_chunk_more(compressor: str, content: bytes) -> tuple[Chunks, bytes]:
    chunks, file = chunks_and_file(compressor, [COMPRESSED[compressor](each) for each in CONTENTS])
    return chunks, file + with_checksum(COMPRESSED[compressor](content))


@each_compressor
def test_behind_the_last_chunk_there_may_be_one_of_nothing(compressor: str) -> None:
    chunks, file = with_a_chunk_more(compressor, b"")
    stored = check_empty_chunk(chunks, Bytes(file)).tobytes()
    assert file.endswith(stored)
    assert len(stored) == len(file) - chunks.bounds[-1]
    assert check_empty_chunk(chunks, Bytes(file[: chunks.bounds[-1]])).size == 0


def test_cassandra_deflates_nothing_to_nothing() -> None:
    chunks, file = with_a_chunk_more("DeflateCompressor", b"")
    file = file[: chunks.bounds[-1]] + with_checksum(b"")
    assert check_empty_chunk(chunks, Bytes(file)).tobytes() == bytes(4)
    with pytest.raises(CorruptSSTableError, match="chunk 4 checksum"):
        check_empty_chunk(chunks, Bytes(file[:-1] + b"\1"))


@each_compressor
@pytest.mark.parametrize("content", [b"\1", b"a row\1", bytes(range(1, 256))])
def test_a_chunk_more_that_holds_something_is_an_error(compressor: str, content: bytes) -> None:
    chunks, file = with_a_chunk_more(compressor, content)
    with pytest.raises(CorruptSSTableError, match=rf"Data\.db: offset {chunks.bounds[-1]}: chunk 4 (length|content)"):
        check_empty_chunk(chunks, Bytes(file))


def test_a_chunk_of_nothing_has_a_checksum_too() -> None:
    chunks, file = with_a_chunk_more("LZ4Compressor", b"")
    with pytest.raises(CorruptSSTableError, match="chunk 4 checksum"):
        check_empty_chunk(chunks, Bytes(file[:-1] + bytes([file[-1] ^ 1])))
    with pytest.raises(CorruptSSTableError, match="chunk 4 length: -2 bytes are left for it"):
        check_empty_chunk(chunks, Bytes(file[: chunks.bounds[-1] + 2]))
