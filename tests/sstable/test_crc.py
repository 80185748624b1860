from __future__ import annotations

import zlib

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.crc import check_count, parse
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


def test_the_data_must_be_as_long_as_the_checksums_say() -> None:
    checksums = parse(Cursor(TWO, "nb-1-big-CRC.db"))
    for size in (65536, 65537, 2 * 65536):  # one chunk and an empty one, or two
        check_count(checksums, size, "nb-1-big-Data.db")
    for size in (0, 2 * 65536 + 1):
        with pytest.raises(CorruptSSTableError, match=f"Data.db: offset {size}: .* CRC.db has 2"):
            check_count(checksums, size, "nb-1-big-Data.db")


@pytest.mark.parametrize("sstables", every_sstable())
def test_real_files_have_the_checksums_of_the_data(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if sstable.file("CRC.db").exists():
            checksums, data = sstable.parse("CRC.db"), sstable.data_file.read_bytes()
            check_count(checksums, len(data), str(sstable.data_file))
            starts = [i * checksums.chunk_size for i in range(checksums.values.size)]
            computed = [zlib.crc32(data[start : start + checksums.chunk_size]) for start in starts]
            assert checksums.values.tolist() == computed
