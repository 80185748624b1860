from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.kernels.bloom import first_absent
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.sstable.bloom import BloomFilter

pytestmark = pytest.mark.kernel

WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5)


@given(WORDS, st.integers(1, 20), st.lists(st.binary(min_size=1, max_size=40), max_size=8))
def test_the_kernel_says_what_the_filter_says(words: list[int], hash_count: int, keys: list[bytes]) -> None:
    bloom = BloomFilter(hash_count, (np.array(words, np.uint64),))
    data = np.frombuffer(b"".join(keys) + b"\0", np.uint8)
    sizes = np.array([len(key) for key in keys], np.int64)
    places = data.ctypes.data + np.cumsum(sizes) - sizes
    hashes = [hash3_x64_128(int(place), int(size)) for place, size in zip(places, sizes, strict=True)]
    there = [bloom.might_contain(int(hash1), int(hash2)) for hash1, hash2 in hashes]
    for start in range(len(keys) + 1):
        wanted = next((i for i in range(start, len(keys)) if not there[i]), len(keys))
        assert first_absent(bloom.readings[0], hash_count, places, sizes, start, len(keys)) == wanted


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8))
def test_a_full_filter_has_every_key(keys: list[bytes]) -> None:
    data = np.frombuffer(b"".join(keys), np.uint8)
    sizes = np.array([len(key) for key in keys], np.int64)
    places = data.ctypes.data + np.cumsum(sizes) - sizes
    assert first_absent(np.array([2**64 - 1], np.uint64), 9, places, sizes, 0, len(keys)) == len(keys)
