from __future__ import annotations

import zlib

import pytest

from flightsrv.errors import CorruptSSTableError, UnsupportedSSTableError
from flightsrv.sstable.crc import check_count, check_empty_chunk, parse
from flightsrv.sstable.cursor import Cursor
from tests.sstable.components import SSTable, every_sstable

TWO = bytes.fromhex("00010000 00000001 ffffffff")


def test_a_checksum_stands_for_each_chunk() -> None:
    checksums = parse(Cursor(TWO, "nb-1-big-CRC.db"))
    assert checksums.chunk_size == 65536
    assert checksums.values.tolist() == [1, 2**32 - 1]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "chunk_size"),
        (bytes(8), "chunk_size"),
        (b"\xff" * 8, "chunk_size"),
        (TWO[:-1], "end"),
    ],
)
def test_what_cannot_be_is_corrupt(data: bytes, field: str) -> None:
    with pytest.raises(CorruptSSTableError) as caught:
        parse(Cursor(data, "nb-1-big-CRC.db"))
    assert caught.value.where.field == field


def test_chunks_that_are_too_large_for_memory_are_refused() -> None:
    with pytest.raises(UnsupportedSSTableError, match=r"offset 0, chunk_size: chunks of 134217728 bytes are larger"):
        parse(Cursor(bytes.fromhex("08000000 00000001"), "nb-1-big-CRC.db"))


def test_the_data_must_be_as_long_as_the_checksums_say() -> None:
    checksums = parse(Cursor(TWO, "nb-1-big-CRC.db"))
    for size in (65536, 65537, 2 * 65536):  # one chunk and an empty one, or two
        check_count(checksums, size, "nb-1-big-Data.db")
    for size in (0, 2 * 65536 + 1):
        with pytest.raises(CorruptSSTableError, match=f"Data.db: offset {size}: .* CRC.db has 2"):
            check_count(checksums, size, "nb-1-big-Data.db")


def test_a_checksum_more_must_be_that_of_nothing() -> None:
    """Else Data.db was cut off at the end of a chunk."""
    checksums = parse(Cursor(TWO, "nb-1-big-CRC.db"))
    check_empty_chunk(checksums, 2 * 65536, "nb-1-big-CRC.db")
    with pytest.raises(CorruptSSTableError, match=r"CRC\.db: offset 8, checksums: .* but it is 0xffffffff, not 0"):
        check_empty_chunk(checksums, 65536, "nb-1-big-CRC.db")
    check_empty_chunk(parse(Cursor(TWO[:8] + bytes(4), "nb-1-big-CRC.db")), 65536, "nb-1-big-CRC.db")


@pytest.mark.parametrize("sstables", every_sstable())
def test_real_files_have_the_checksums_of_the_data(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if sstable.file("CRC.db").exists():
            checksums, data = sstable.parse("CRC.db"), sstable.data_file.read_bytes()
            check_count(checksums, len(data), str(sstable.data_file))
            check_empty_chunk(checksums, len(data), str(sstable.file("CRC.db")))
            starts = [i * checksums.chunk_size for i in range(checksums.values.size)]
            computed = [zlib.crc32(data[start : start + checksums.chunk_size]) for start in starts]
            assert checksums.values.tolist() == computed
