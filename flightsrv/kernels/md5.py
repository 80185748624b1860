"""RandomPartitioner's hash: MD5, and the token that is made of it.

Source: RFC 1321; org.apache.cassandra.dht.RandomPartitioner.
"""

from __future__ import annotations

import math

import numpy as np

from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.native import load_be32, load_u8

_WORD = 0xFFFFFFFF
_SINES = np.array([int(abs(math.sin(i + 1)) * 2**32) for i in range(64)], np.int64)
"""What is added in each of the 64 steps."""
_TURNS = np.array([7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21], np.int64)
"""By how many bits it is rotated then, four numbers a round of 16 steps."""


@kernel
def _swapped(word):
    return (word & 0xFF) << 24 | (word & 0xFF00) << 8 | (word >> 8 & 0xFF00) | word >> 24


@kernel
def _padded_word(address, size, position, stop):
    """The little-endian word at a position of a message that is padded up to `stop`."""
    if position + 4 <= size:
        return _swapped(np.int64(load_be32(address + position)))
    if position == stop - 8:
        return size << 3 & _WORD
    word = np.int64(0)
    for i in range(4):
        if position + i < size:
            word |= np.int64(load_u8(address + position + i)) << 8 * i
        elif position + i == size:
            word |= np.int64(0x80) << 8 * i
    return word


@kernel
def _step(i, b, c, d):
    """What step i mixes of three words, and which word of the message it adds."""
    if i < 16:
        return b & c | ~b & d, i
    if i < 32:
        return d & b | ~d & c, 5 * i + 1 & 15
    if i < 48:
        return b ^ c ^ d, 3 * i + 5 & 15
    return c ^ (b | ~d & _WORD), 7 * i & 15


@kernel
def md5(address, size):
    """The digest of the `size` bytes, up to 2^28, at an address: four words, as they stand in it big-endian."""
    a0, b0 = np.int64(0x67452301), np.int64(0xEFCDAB89)
    c0, d0 = np.int64(0x98BADCFE), np.int64(0x10325476)
    stop = (size + 8 >> 6) + 1 << 6
    for block in range(0, stop, 64):
        a, b, c, d = a0, b0, c0, d0
        for i in range(64):
            mixed, index = _step(i, b, c, d)
            total = a + (mixed & _WORD) + _SINES[i] + _padded_word(address, size, block + 4 * index, stop) & _WORD
            turn = _TURNS[(i >> 4) * 4 + (i & 3)]
            a, b, c, d = d, b + ((total << turn | total >> 32 - turn) & _WORD) & _WORD, b, c
        a0, b0, c0, d0 = a0 + a & _WORD, b0 + b & _WORD, c0 + c & _WORD, d0 + d & _WORD
    return _swapped(a0), _swapped(b0), _swapped(c0), _swapped(d0)


@outlined_kernel
def random_token(address, size):
    """RandomPartitioner's token of the partition key at an address, as two int64 that sort as it does.

    The token is the digest's absolute value, 0 to 2^127, and -1, the least one of the ring, for the empty key. The
    halves are those of token + 1 - 2^127, the lower one with its first bit turned over.
    """
    if size == 0:
        return np.int64(-(1 << 63)), np.int64(-(1 << 63))
    w0, w1, w2, w3 = md5(address, size)
    carry = np.int64(1)
    if w0 >> 31:
        w0, w1, w2, w3 = w0 ^ _WORD, w1 ^ _WORD, w2 ^ _WORD, w3 ^ _WORD
        carry += 1
    w3 += carry
    w2 += w3 >> 32
    w1 += w2 >> 32
    w0 += w1 >> 32
    high = w0 - (1 << 31) << 32 | w1 & _WORD
    low = (w2 & _WORD) - (1 << 31) << 32 | w3 & _WORD
    return high, low
