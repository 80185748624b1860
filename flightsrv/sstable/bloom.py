"""Filter.db: the bloom filter of the partition keys.

    i32      hash count
    i32      word count
    u64      words: little-endian from version na on, big-endian before

Bit b is bit b % 64 of word b // 64.

Source: org.apache.cassandra.utils.BloomFilterSerializer, BloomFilter, obs.OffHeapBitSet (3.0 to 5.0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flightsrv.sstable.cursor import Cursor, as_i64
from flightsrv.sstable.version import Version

MAX_HASH_COUNT = 64
"""Cassandra uses 20 at most."""


@dataclass(frozen=True, slots=True, eq=False)
class BloomFilter:
    """Says no only of keys that are not there."""

    hash_count: int
    readings: tuple[npt.NDArray[np.uint64], ...]
    """(n,) words; a second reading of the same bytes where their order is not sure."""

    def might_contain(self, hash1: int, hash2: int) -> bool:
        """Whether a key may be there, by both halves of kernels.murmur3.hash3_x64_128 of its bytes."""
        capacity = 64 * self.readings[0].size
        bits = [abs(as_i64(hash2 + i * hash1)) % capacity for i in range(self.hash_count)]
        return any(all(int(words[bit >> 6]) >> (bit & 63) & 1 for bit in bits) for words in self.readings)


def parse(cursor: Cursor, version: Version) -> BloomFilter:
    """Read a whole Filter.db.

    Raises CorruptSSTableError when counts make no sense or do not fit the file's size.
    """
    hash_count = cursor.i32("hash count")
    cursor.require(0 < hash_count <= MAX_HASH_COUNT, "hash count", f"{hash_count} is not from 1 to {MAX_HASH_COUNT}")
    word_count = cursor.i32("word count")
    cursor.require(word_count > 0, "word count", f"{word_count} is not above 0")
    words = cursor.array("words", ">u8" if version.has_old_bf_format else "<u8", word_count)
    cursor.end()
    return BloomFilter(hash_count, (words, words.byteswap()) if version.has_unsure_bf_format else (words,))
