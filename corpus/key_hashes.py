"""The loops that hash keys for what summarises them: the Bloom filter and the count of distinct keys.

Sources: org.apache.cassandra.utils.BloomFilter, utils.MurmurHash.hash2_64;
com.clearspring.analytics.stream.cardinality.HyperLogLogPlus.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.kernels.native import address_of, load_le64, load_u8

_MURMUR2 = np.uint64(0xC6A4A7935BD1E995)


@kernel
def bloom_add(partitions, hash_count, bits):
    """Set the bits of all keys. bits: uint8, 8 bits each, lowest first."""
    capacity = np.uint64(bits.size * 8)
    for p in range(partitions.first.size - 1):
        start = partitions.key_starts[p]
        h1, h2 = hash3_x64_128(address_of(partitions.keys) + start, partitions.key_starts[p + 1] - start)
        for _ in range(hash_count):
            positive = np.uint64(h2) if h2 >= 0 else np.uint64(-(h2 + 1)) + np.uint64(1)
            bit = np.int64(positive % capacity)
            bits[bit >> 3] |= np.uint8(1 << (bit & 7))
            h2 += h1


@kernel
def hash2_64(address, size):
    """MurmurHash2, 64 bits, seed 0, with Cassandra's signed tail bytes."""
    value = np.uint64(size) * _MURMUR2
    for block in range(size >> 3):
        k = np.uint64(load_le64(address + 8 * block)) * _MURMUR2
        value = (value ^ ((k ^ (k >> np.uint64(47))) * _MURMUR2)) * _MURMUR2
    rest = size & 7
    tail = address + size - rest
    for i in range(rest):
        byte = np.int64(load_u8(tail + rest - 1 - i))
        value ^= np.uint64(byte - 256 if byte > 127 else byte) << np.uint64(8 * (rest - 1 - i))
    if rest > 0:
        value *= _MURMUR2
    value = (value ^ (value >> np.uint64(47))) * _MURMUR2
    return value ^ (value >> np.uint64(47))


@kernel
def sketch_add(partitions, registers):
    """Count distinct keys as HyperLogLogPlus does. registers: uint8 (8192,), the longest run of zeros seen, plus 1."""
    for p in range(partitions.first.size - 1):
        start = partitions.key_starts[p]
        value = hash2_64(address_of(partitions.keys) + start, partitions.key_starts[p + 1] - start)
        register = np.int64(value >> np.uint64(51))
        rest = value << np.uint64(13) | np.uint64(1 << 12)
        run = 1
        while rest >> np.uint64(63) == np.uint64(0):
            rest <<= np.uint64(1)
            run += 1
        registers[register] = max(registers[register], run)
