"""Partition keys looked up in a bloom filter, many a call.

Source: org.apache.cassandra.utils.BloomFilter, utils.obs.OffHeapBitSet.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.murmur3 import hash3_x64_128


@kernel
def first_absent(words, hash_count, key_at, key_size, start, stop):
    """The first of keys start..stop that the filter says is not there, or `stop`.

    words: uint64 (n,). key_at: int64 addresses, key_size: int64.
    """
    capacity = np.uint64(64 * words.size)
    for i in range(start, stop):
        step, second = hash3_x64_128(key_at[i], key_size[i])
        bits = np.uint64(second)
        for _ in range(hash_count):
            signed = np.int64(bits)
            magnitude = np.uint64(0) - bits if signed < 0 else bits
            bit = magnitude % capacity
            if words[bit >> np.uint64(6)] >> (bit & np.uint64(63)) & np.uint64(1) == 0:
                return i
            bits += np.uint64(step)
    return stop
