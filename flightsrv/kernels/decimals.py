"""varint and decimal: their order, and their value as Arrow's decimal128.

    varint  := two's complement, big-endian, any length, leading sign bytes allowed
    decimal := i32 scale, then a varint: the value is varint * 10^-scale

Source: org.apache.cassandra.db.marshal.IntegerType, DecimalType.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.gather import WRONG_SIZE, set_null
from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.native import load_be32, load_u8

DIGITS = 38
"""Of a decimal128."""
COMPARED_BYTES = 65535
"""How long a decimal may be to be compared: Cassandra's clusterings, keys, and elements of sets are no longer."""
COMPARED_LIMBS = COMPARED_BYTES // 4 + 2
_LIMB_BITS = 32
_LIMB_MASK = (1 << 32) - 1
_LOG_2 = 323228496
"""log10(2) * 2^30, rounded down."""


@kernel
def _scale_at(a):
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
def _magnitude(a, size, limbs):
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
        carry = limbs[i] >> _LIMB_BITS
        limbs[i] &= _LIMB_MASK
        nonzero = nonzero or limbs[i] != 0
    if carry:
        return 2
    if not nonzero:
        return 0
    return -1 if negative else 1


@kernel
def _times(limbs, factor):
    """Multiply in place by a factor of up to 30 bits; returns what does not fit."""
    carry = np.int64(0)
    for i in range(limbs.size):
        product = limbs[i] * factor + carry
        limbs[i] = product & _LIMB_MASK
        carry = product >> _LIMB_BITS
    return carry


@kernel
def _divided_by_ten(limbs):
    """Divide in place; returns the remainder."""
    remainder = np.int64(0)
    for i in range(limbs.size - 1, -1, -1):
        dividend = remainder << _LIMB_BITS | limbs[i]
        limbs[i] = dividend // 10
        remainder = dividend % 10
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
    bits = _LIMB_BITS * top
    while limbs[top] >> (bits - _LIMB_BITS * top):
        bits += 1
    return bits


@outlined_kernel
def compare_decimals(a, a_size, b, b_size, limbs):
    """Numeric order of two decimals, both longer than their scale and neither than COMPARED_BYTES; 1.0 and 1.00 are
    equal.

    limbs: int64 (2, COMPARED_LIMBS), scratch.
    """
    a_scale = _scale_at(a)
    b_scale = _scale_at(b)
    wide = max(a_size, b_size) // 4 + 1
    a_limbs = limbs[0, :wide]
    b_limbs = limbs[1, :wide]
    a_sign = _magnitude(a + 4, a_size - 4, a_limbs)
    b_sign = _magnitude(b + 4, b_size - 4, b_limbs)
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
        _times(scaled, 1_000_000_000)
    for _ in range(shift % 9):
        _times(scaled, 10)
    return a_sign * _compare_limbs(a_limbs, b_limbs)


@kernel
def decimal_128(a, size, has_scale, scale, limbs, out, index):
    """A decimal (or, without has_scale, a varint) as decimal128 of the given scale into out[index].

    limbs: int64 (5,) scratch. out: int64 (n, 2), low half first. Returns 0; 1 if the value has more decimals than the
    scale, zeros at its end not counted; 2 if it has more than DIGITS digits.
    """
    shift = np.int64(scale)
    if has_scale:
        shift -= _scale_at(a)
        a += 4
        size -= 4
    sign = _magnitude(a, size, limbs) if size > 0 else 0
    if sign == 0:
        out[index, 0] = 0
        out[index, 1] = 0
        return 0
    if sign == 2 or shift > DIGITS:
        return 2
    while shift < 0:
        if _divided_by_ten(limbs):
            return 1
        shift += 1
    for _ in range(shift):
        if _times(limbs, 10):
            return 2
    # 10^38 = 0x4B3B4CA8_5A86C47A_098A2240_00000000
    if limbs[4] or (
        limbs[3] > 0x4B3B4CA8
        or (limbs[3] == 0x4B3B4CA8 and (limbs[2] > 0x5A86C47A or (limbs[2] == 0x5A86C47A and limbs[1] >= 0x098A2240)))
    ):
        return 2
    low = limbs[0] | limbs[1] << _LIMB_BITS
    high = limbs[2] | limbs[3] << _LIMB_BITS
    if sign < 0:
        low = ~low + 1
        high = ~high + (1 if low == 0 else 0)
    out[index, 0] = low
    out[index, 1] = high
    return 0


TOO_FINE, TOO_LONG = -2, -3
"""Returned instead of a count of nulls: a value has more decimals than the scale, or more than DIGITS digits."""


@kernel
def gather_decimals(at, size, start, stop, has_scale, scale, limbs, out, valid, filled):
    """decimals (or varints) start..stop behind `filled` ones; see decimal_128. Returns nulls, WRONG_SIZE, TOO_FINE or
    TOO_LONG."""
    nulls = 0
    for i in range(start, stop):
        index = filled + i - start
        status = np.int64(0)
        if size[i] > (4 if has_scale else 0):
            status = np.int64(decimal_128(at[i], np.int64(size[i]), has_scale, scale, limbs, out, index))
        elif size[i] > 0:
            return WRONG_SIZE
        else:
            nulls += 1
            set_null(valid, index)
            out[index, 0] = 0
            out[index, 1] = 0
        if status:
            return TOO_FINE if status == 1 else TOO_LONG
    return nulls
