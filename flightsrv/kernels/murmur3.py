"""Murmur3Partitioner's hash: the only place of wrapping arithmetic.

MurmurHash3_x64_128, seed 0, with Cassandra's departure: the bytes of the last incomplete block are taken as *signed*.
Source: org.apache.cassandra.utils.MurmurHash.hash3_x64_128, dht.Murmur3Partitioner.getToken.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import MODE, kernel
from flightsrv.kernels.native import address_of, load_le64, load_u8

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_F1 = np.uint64(0xFF51AFD7ED558CCD)
_F2 = np.uint64(0xC4CEB9FE1A85EC53)
MIN_TOKEN = np.int64(-(2**63))
MAX_TOKEN = np.int64(2**63 - 1)

if MODE == "python":
    np.seterr(over="ignore")  # wrapping is what a hash is about


@kernel
def _rotate(value, bits):
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@kernel
def _final_mix(value):
    value ^= value >> np.uint64(33)
    value *= _F1
    value ^= value >> np.uint64(33)
    value *= _F2
    value ^= value >> np.uint64(33)
    return value


@kernel
def _mix_1(value):
    return _rotate(value * _C1, 31) * _C2


@kernel
def _mix_2(value):
    return _rotate(value * _C2, 33) * _C1


@kernel
def _tail_word(address, size):
    """Up to 8 bytes, each sign-extended, shifted into place and XORed."""
    word = np.uint64(0)
    for i in range(size):
        byte = np.int64(load_u8(address + i))
        if byte > 127:
            byte -= 256
        word ^= np.uint64(np.int64(byte)) << np.uint64(8 * i)
    return word


@kernel
def hash3_x64_128(address, size):
    """Both halves of the hash of `size` bytes at an address, as (int64, int64)."""
    h1 = np.uint64(0)
    h2 = np.uint64(0)
    blocks = size >> 4
    for block in range(blocks):
        at = address + 16 * block
        h1 = _rotate(h1 ^ _mix_1(np.uint64(np.int64(load_le64(at)))), 27) + h2
        h1 = h1 * np.uint64(5) + np.uint64(0x52DCE729)
        h2 = _rotate(h2 ^ _mix_2(np.uint64(np.int64(load_le64(at + 8)))), 31) + h1
        h2 = h2 * np.uint64(5) + np.uint64(0x38495AB5)
    tail = address + 16 * blocks
    rest = size & 15
    if rest > 8:
        h2 ^= _mix_2(_tail_word(tail + 8, rest - 8))
    if rest > 0:
        h1 ^= _mix_1(_tail_word(tail, min(rest, 8)))
    h1 ^= np.uint64(size)
    h2 ^= np.uint64(size)
    h1 += h2
    h2 += h1
    h1 = _final_mix(h1)
    h2 = _final_mix(h2)
    h1 += h2
    h2 += h1
    return np.int64(h1), np.int64(h2)


@kernel
def token_of_hash(h1, size):
    """The token of a key by the first half of its hash. The empty key alone has the least."""
    if size == 0:
        return MIN_TOKEN
    return MAX_TOKEN if h1 == MIN_TOKEN else h1


@kernel
def token_of(address, size):
    """Murmur3Partitioner's token of the partition key at an address."""
    h1, _ = hash3_x64_128(address, size)
    return token_of_hash(h1, size)


@kernel
def tokens_of(data, start, size, out):
    """Tokens of many keys.

    data: uint8 (n,); start, size: int64 (keys,) places of the keys in data, trusted; out: int64 (keys,).
    """
    base = address_of(data)
    for i in range(start.size):
        out[i] = token_of(base + start[i], size[i])
