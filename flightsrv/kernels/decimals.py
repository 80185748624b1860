"""varint and decimal: their numbers in limbs, and their order.

    varint  := two's complement, big-endian, any length, leading sign bytes allowed
    decimal := i32 scale, then a varint: the value is varint * 10^-scale

Source: org.apache.cassandra.db.marshal.IntegerType, DecimalType.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.native import load_be32, load_u8

COMPARED_BYTES = 65535
"""How long a decimal may be to be compared: Cassandra's clusterings, keys, and elements of sets are no longer."""
COMPARED_LIMBS = COMPARED_BYTES // 4 + 2
LIMB_BITS = 32
LIMB_MASK = (1 << 32) - 1
_LOG_2 = 323228496
"""log10(2) * 2^30, rounded down."""


@kernel
def scale_at(a):
    """The scale that a decimal begins with."""
    scale = np.int64(load_be32(a))
    return scale - (1 << 32) if scale >= 1 << 31 else scale


@kernel
def _stripped(a, size):
    """A varint's address and size without the sign bytes that say nothing; 0 keeps one byte."""
    while size > 1:
        first = np.int64(load_u8(a))
        second = np.int64(load_u8(a + 1))
        if not (first == 0 and second < 128) and not (first == 255 and second >= 128):
            break
        a += 1
        size -= 1
    return a, size


@outlined_kernel
def compare_varints(a, a_size, b, b_size):
    """Numeric order of two varints, both at least one byte long."""
    a, a_size = _stripped(a, a_size)
    b, b_size = _stripped(b, b_size)
    a_negative = load_u8(a) >= 128
    b_negative = load_u8(b) >= 128
    if a_negative != b_negative:
        return -1 if a_negative else 1
    if a_size != b_size:
        longer = 1 if a_size > b_size else -1
        return -longer if a_negative else longer
    for i in range(a_size):
        difference = np.int64(load_u8(a + i)) - np.int64(load_u8(b + i))
        if difference != 0:
            return 1 if difference > 0 else -1
    return 0


@kernel
def magnitude(a, size, limbs):
    """|varint| into limbs (base 2^32, least first). Returns its sign, or 2 if it does not fit."""
    a, size = _stripped(a, size)
    for i in range(limbs.size):
        limbs[i] = 0
    if size > 4 * limbs.size:
        return 2
    negative = load_u8(a) >= 128
    for i in range(size):
        byte = np.int64(load_u8(a + size - 1 - i))
        limbs[i >> 2] |= ((byte ^ 255) if negative else byte) << (8 * (i & 3))
    nonzero = False
    carry = np.int64(1 if negative else 0)
    for i in range(limbs.size):
        limbs[i] += carry
        carry = limbs[i] >> LIMB_BITS
        limbs[i] &= LIMB_MASK
        nonzero = nonzero or limbs[i] != 0
    if carry:
        return 2
    if not nonzero:
        return 0
    return -1 if negative else 1


@kernel
def times(limbs, factor):
    """Multiply in place by a factor of up to 30 bits; returns what does not fit."""
    carry = np.int64(0)
    for i in range(limbs.size):
        product = limbs[i] * factor + carry
        limbs[i] = product & LIMB_MASK
        carry = product >> LIMB_BITS
    return carry


@kernel
def divided_by(limbs, divisor):
    """Divide in place, by less than 2^31; returns the remainder."""
    remainder = np.int64(0)
    for i in range(limbs.size - 1, -1, -1):
        dividend = remainder << LIMB_BITS | limbs[i]
        limbs[i] = dividend // divisor
        remainder = dividend % divisor
    return remainder


@kernel
def _compare_limbs(a, b):
    for i in range(a.size - 1, -1, -1):
        if a[i] != b[i]:
            return 1 if a[i] > b[i] else -1
    return 0


@kernel
def _bit_length(limbs):
    """Of a number above 0."""
    top = limbs.size - 1
    while limbs[top] == 0:
        top -= 1
    bits = LIMB_BITS * top
    while limbs[top] >> (bits - LIMB_BITS * top):
        bits += 1
    return bits


@outlined_kernel
def compare_decimals(a, a_size, b, b_size, limbs):
    """Numeric order of two decimals, both longer than their scale and neither than COMPARED_BYTES; 1.0 and 1.00 are
    equal.

    limbs: int64 (2, COMPARED_LIMBS), scratch.
    """
    a_scale = scale_at(a)
    b_scale = scale_at(b)
    wide = max(a_size, b_size) // 4 + 1
    a_limbs = limbs[0, :wide]
    b_limbs = limbs[1, :wide]
    a_sign = magnitude(a + 4, a_size - 4, a_limbs)
    b_sign = magnitude(b + 4, b_size - 4, b_limbs)
    if a_sign != b_sign or a_sign == 0:
        return (1 if a_sign > b_sign else 0) - (1 if a_sign < b_sign else 0)
    # n bits are n - 1 to n times log10(2) decimal places, here in units of 2^-30. What that does not decide is about
    # equal, so the one with fewer decimals takes no more limbs than the other when it is given as many.
    a_bits = _bit_length(a_limbs)
    b_bits = _bit_length(b_limbs)
    if (a_bits - 1) * _LOG_2 - (a_scale << 30) >= b_bits * (_LOG_2 + 1) - (b_scale << 30):
        return a_sign
    if (b_bits - 1) * _LOG_2 - (b_scale << 30) >= a_bits * (_LOG_2 + 1) - (a_scale << 30):
        return -a_sign
    shift = abs(a_scale - b_scale)
    scaled = a_limbs if a_scale < b_scale else b_limbs
    for _ in range(shift // 9):
        times(scaled, 1_000_000_000)
    for _ in range(shift % 9):
        times(scaled, 10)
    return a_sign * _compare_limbs(a_limbs, b_limbs)
