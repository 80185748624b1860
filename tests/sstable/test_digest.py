from __future__ import annotations

import zlib

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.digest import parse
from tests.sstable.components import SSTable, every_sstable


@pytest.mark.parametrize(("data", "value"), [(b"0", 0), (b"4294967295", 2**32 - 1), (b"17\n", 17), (b"17\r\n", 17)])
def test_it_is_a_number_with_or_without_a_line_end(data: bytes, value: int) -> None:
    assert parse(Cursor(data, "nb-1-big-Digest.crc32")) == value


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"-1", b"0x17", b"1 7", b"4294967296", b"17\n18", "\u0661\u0667".encode(), b"\xff"]
)
def test_anything_else_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptSSTableError):
        parse(Cursor(data, "nb-1-big-Digest.crc32"))


@pytest.mark.parametrize("sstables", every_sstable())
def test_real_files_have_the_checksum_of_the_data(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if not sstable.file("Digest.crc32").exists():
            continue  # a copy without what its tests need not have
        assert sstable.parse("Digest.crc32") == zlib.crc32(sstable.data_file.read_bytes())
