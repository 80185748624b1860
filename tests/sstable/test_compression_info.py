from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError, UnsupportedSSTableError
from flightsrv.sstable.compression_info import NEVER_RAW, CompressionInfo, chunk_bounds, parse
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import version_of
from tests.sstable.components import SSTable, every_sstable


def utf(text: str) -> bytes:
    return len(text.encode()).to_bytes(2) + text.encode()


def i32(value: int) -> bytes:
    return value.to_bytes(4, signed=True)


def i64(value: int) -> bytes:
    return value.to_bytes(8, signed=True)


@dataclass
class Written:
    """A CompressionInfo.db of three chunks, and what a test changes of it."""

    compressor: str = "LZ4Compressor"
    options: dict[str, str] = field(default_factory=lambda: {"lz4_compressor_type": "fast"})
    chunk_length: int = 4096
    max_compressed_length: int | None = NEVER_RAW
    data_length: int = 2 * 4096 + 1
    offsets: tuple[int, ...] = (0, 1000, 2000)
    offset_count: int | None = None
    after: bytes = b""

    def __bytes__(self) -> bytes:
        options = b"".join(utf(key) + utf(value) for key, value in self.options.items())
        raw_from = b"" if self.max_compressed_length is None else i32(self.max_compressed_length)
        count = len(self.offsets) if self.offset_count is None else self.offset_count
        return (
            utf(self.compressor)
            + i32(len(self.options))
            + options
            + i32(self.chunk_length)
            + raw_from
            + i64(self.data_length)
            + i32(count)
            + b"".join(map(i64, self.offsets))
            + self.after
        )


def parsed(written: Written, letters: str = "nb") -> CompressionInfo:
    return parse(Cursor(bytes(written), "nb-1-big-CompressionInfo.db"), version_of("big", letters, "x"))


def test_all_fields_are_read() -> None:
    info = parsed(Written())
    assert (info.compressor, dict(info.options)) == ("LZ4Compressor", {"lz4_compressor_type": "fast"})
    assert (info.chunk_length, info.max_compressed_length, info.data_length) == (4096, NEVER_RAW, 8193)
    assert info.offsets.tolist() == [0, 1000, 2000]
    assert info.offsets.dtype == np.int64
    assert info.chunk_count == 3


def test_before_na_no_chunk_is_raw() -> None:
    assert parsed(Written(max_compressed_length=None), "me").max_compressed_length == NEVER_RAW


def test_a_chunk_may_be_raw_from_its_own_length_on() -> None:
    """min_compress_ratio 1: the ratio is never below, or chunks would be stored that are larger than they are."""
    assert parsed(Written(max_compressed_length=4096)).max_compressed_length == 4096


def test_data_may_fill_the_last_chunk() -> None:
    assert parsed(Written(data_length=3 * 4096)).chunk_count == 3


def test_an_empty_chunk_may_follow() -> None:
    info = parsed(Written(data_length=2 * 4096))
    assert info.chunk_count == 2
    assert chunk_bounds(info, 2009, "x").tolist() == [0, 1000, 2000]


def test_chunks_end_where_the_next_one_or_the_file_does() -> None:
    assert chunk_bounds(parsed(Written()), 2500, "x").tolist() == [0, 1000, 2000, 2500]


@pytest.mark.parametrize("size", [0, 1999, 2000, 2004])
def test_a_data_file_that_ends_before_its_last_chunk_is_corrupt(size: int) -> None:
    with pytest.raises(
        CorruptSSTableError, match=f"nb-1-big-Data.db: offset {size}: .*{size}.* chunk 2 starts at 2000"
    ):
        chunk_bounds(parsed(Written()), size, "/data/nb-1-big-Data.db")


@pytest.mark.parametrize(
    ("written", "field", "what"),
    [
        (Written(chunk_length=0), "chunk_length", "0 is not a power of two"),
        (Written(chunk_length=-4096), "chunk_length", "-4096 is not a power of two"),
        (Written(chunk_length=4097), "chunk_length", "4097 is not a power of two"),
        (Written(max_compressed_length=0), "max_compressed_length", "0 is neither from 1 to 4096 nor 2147483647"),
        (Written(max_compressed_length=4097), "max_compressed_length", "4097 is neither from 1 to 4096"),
        (Written(max_compressed_length=NEVER_RAW - 1), "max_compressed_length", "2147483646 is neither"),
        (Written(data_length=0), "data_length", "0 is not above 0"),
        (Written(data_length=-1), "data_length", "-1 is not above 0"),
        (Written(data_length=4096), "offsets", "there are 3 for 1 chunks"),
        (Written(data_length=3 * 4096 + 1), "offsets", "there are 3 for 4 chunks"),
        (Written(offsets=()), "offsets", "there are 0 for 3 chunks"),
        (Written(offsets=(1, 1000, 2000)), "offsets", "the first is 1, not 0"),
        (Written(offsets=(0, 2000, 1000)), "offsets", "chunk 1 starts at 2000, the next at 1000"),
        (Written(offsets=(0, 1000, 1004)), "offsets", "chunk 1 starts at 1000, the next at 1004"),
        (Written(offsets=(0, -(2**63), 2**63 - 1)), "offsets", "chunk 0 starts at 0"),
        (Written(offsets=(0, 2**63 - 1, 1000)), "offsets", "chunk 1 starts at 9223372036854775807, the next at 1000"),
        (Written(offsets=(0, 2**63 - 1, -(2**62))), "offsets", "chunk 1 starts at 9223372036854775807"),
        (Written(offset_count=-1), "offsets", "-1 of 8 bytes do not fit"),
        (Written(offset_count=2**31 - 1), "offsets", "2147483647 of 8 bytes do not fit in the 24 bytes left"),
        (Written(after=b"\0"), "end", "1 bytes are left"),
    ],
)
def test_what_cannot_be_is_corrupt(written: Written, field: str, what: str) -> None:
    with pytest.raises(CorruptSSTableError) as caught:
        parsed(written)
    assert caught.value.where.field == field
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("written", "field", "what"),
    [
        (Written(compressor="EncryptingLZ4Compressor"), "compressor", "'EncryptingLZ4Compressor' is not a compressor"),
        (Written(compressor="org.example.Zip"), "compressor", "'org.example.Zip' is not a compressor"),
        (Written(chunk_length=2**27), "chunk_length", "larger than"),
    ],
)
def test_what_is_not_known_is_refused_by_name(written: Written, field: str, what: str) -> None:
    with pytest.raises(UnsupportedSSTableError) as caught:
        parsed(written)
    assert caught.value.where.field == field
    assert what in caught.value.what


@pytest.mark.parametrize("sstables", every_sstable())
def test_chunks_of_real_files_cover_data_and_file(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if sstable.file("CompressionInfo.db").exists():
            info = sstable.parse("CompressionInfo.db")
            bounds = chunk_bounds(info, sstable.data_file.stat().st_size, str(sstable.data_file))
            assert bounds.size == info.chunk_count + 1
            assert len(sstable.data()) == info.data_length
