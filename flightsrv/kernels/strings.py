"""The order of bytes as Java strings, which is that of UTF-16: OrderPreservingPartitioner's.

It differs from that of UTF-8, which is that of bytes, in one thing: characters above U+FFFF, which UTF-16 writes as two
surrogates, sort before U+E000 to U+FFFF. Bytes that are not UTF-8 count as the text of their hex digits.

Source: org.apache.cassandra.dht.OrderPreservingPartitioner.getToken, StringToken.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.native import load_u8
from flightsrv.kernels.scalars import sign


@kernel
def _character_size(a, left):
    """Bytes of the UTF-8 character at an address, at most `left`; 0 if there is none."""
    first = np.int64(load_u8(a))
    if first < 0x80:
        return 1
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or size > left:
        return 0
    second = np.int64(load_u8(a + 1))
    too_long = (first == 0xE0 and second < 0xA0) or (first == 0xF0 and second < 0x90)
    if too_long or (first == 0xED and second >= 0xA0) or (first == 0xF4 and second >= 0x90):
        return 0
    for i in range(1, size):
        if load_u8(a + i) & 0xC0 != 0x80:
            return 0
    return size


@kernel
def _is_utf8(a, size):
    at = np.int64(0)
    while at < size:
        step = _character_size(a + at, size - at)
        if step == 0:
            return False
        at += step
    return True


@kernel
def _byte_at(a, i, is_hex):
    """The byte at index i of a string in UTF-8; of bytes that are not UTF-8, of their hex digits."""
    if not is_hex:
        return np.int64(load_u8(a + i))
    digit = np.int64(load_u8(a + (i >> 1))) >> (0 if i & 1 else 4) & 15
    return digit + (48 if digit < 10 else 87)


@outlined_kernel
def compare_strings(a, a_size, b, b_size):
    """Below, equal to or above 0 for two strings of bytes at their addresses."""
    a_is_hex, b_is_hex = not _is_utf8(a, a_size), not _is_utf8(b, b_size)
    a_length = a_size << 1 if a_is_hex else a_size
    b_length = b_size << 1 if b_is_hex else b_size
    for i in range(min(a_length, b_length)):
        left, right = _byte_at(a, i, a_is_hex), _byte_at(b, i, b_is_hex)
        if left != right:
            has_surrogate = max(left, right) >= 0xF0 > min(left, right) >= 0xEE
            return sign(right, left) if has_surrogate else sign(left, right)
    return sign(a_length, b_length)
