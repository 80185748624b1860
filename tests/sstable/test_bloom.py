from __future__ import annotations

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.sstable.bloom import MAX_HASH_COUNT, BloomFilter, parse
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import version_of
from tests.sstable.components import SSTable, copied, every_sstable
from tests.sstable.test_index import walked


def parsed(data: bytes, letters: str = "nb") -> BloomFilter:
    return parse(Cursor(data, f"{letters}-1-big-Filter.db"), version_of("big", letters, "x"))


def stored(hash_count: int, words: bytes, word_count: int | None = None) -> bytes:
    count = len(words) // 8 if word_count is None else word_count
    return hash_count.to_bytes(4, signed=True) + count.to_bytes(4, signed=True) + words


def hashes_of(key: bytes) -> tuple[int, int]:
    array = np.frombuffer(key, np.uint8)
    hash1, hash2 = hash3_x64_128(array.ctypes.data, array.size)
    return int(hash1), int(hash2)


def test_a_key_sets_bits_from_its_second_hash_on_in_steps_of_its_first() -> None:
    bloom = parsed(stored(3, bytes([0b10010010, 0, 0, 0, 0, 0, 0, 0])))
    assert bloom.might_contain(3, 1)
    assert bloom.might_contain(3, -1 - 6)  # bits are the remainder's absolute value: |-7|, |-4|, |-1|
    assert not bloom.might_contain(3, 2)


def test_steps_wrap_like_a_java_long() -> None:
    bloom = parsed(stored(2, bytes([0, 0, 0, 0, 0, 0, 0, 0b10000001])))
    assert bloom.might_contain(1, 2**63 - 1) is False
    bloom = parsed(stored(2, bytes([1, 0, 0, 0, 0, 0, 0, 0b10000000])))
    assert bloom.might_contain(1, 2**63 - 1)  # bit 63, then |-2^63| rem 64


def test_before_na_words_are_big_endian() -> None:
    word = bytes([1, 2, 3, 4, 5, 6, 7, 8])
    assert parsed(stored(1, word), "nb").readings[0].tolist() == [0x0807060504030201]
    assert parsed(stored(1, word), "me").readings[0].tolist() == [0x0102030405060708]


def test_na_may_be_of_an_alpha_that_still_wrote_big_endian_words() -> None:
    compact = copied("cassandra/na/legacy_tables/legacy_na_simple_compact/na-1-big-Data.db")
    released = copied("cassandra/na/legacy_tables/legacy_na_simple/na-1-big-Data.db")
    keys = [entry.key for entry in compact.parse("Index.db")]
    assert keys == [entry.key for entry in released.parse("Index.db")]
    data = compact.file("Filter.db").read_bytes()
    assert not all(parsed(data, "nb").might_contain(*hashes_of(key)) for key in keys)
    for sstable in (compact, released):
        assert all(sstable.parse("Filter.db").might_contain(*hashes_of(key)) for key in keys)


def test_keys_that_are_not_there_are_mostly_refused() -> None:
    bloom = copied("cassandra-5.0/nb/ranges_mixed/nb-1-big-Data.db").parse("Filter.db")
    found = sum(bloom.might_contain(*hashes_of(b"not there %d" % i)) for i in range(1000))
    assert found < 50


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (stored(0, bytes(8)), "hash count"),
        (stored(-1, bytes(8)), "hash count"),
        (stored(MAX_HASH_COUNT + 1, bytes(8)), "hash count"),
        (stored(5, b""), "word count"),
        (stored(5, bytes(8), -1), "word count"),
        (stored(5, bytes(8), 2), "words"),
        (stored(5, bytes(8), 2**31 - 1), "words"),
        (stored(5, bytes(16), 1), "end"),
    ],
)
def test_what_cannot_be_is_corrupt(data: bytes, field: str) -> None:
    with pytest.raises(CorruptSSTableError) as caught:
        parsed(data)
    assert caught.value.where.field == field


@pytest.mark.parametrize("sstables", every_sstable())
def test_every_key_of_real_files_is_found(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if not sstable.file("Filter.db").exists() or not sstable.file("Index.db").exists():
            continue
        bloom, index = sstable.parse("Filter.db"), sstable.file("Index.db").read_bytes()
        columns = walked(index)
        for start, size in zip(columns.key_start[:2000].tolist(), columns.key_size[:2000].tolist(), strict=True):
            assert bloom.might_contain(*hashes_of(index[start : start + size]))
