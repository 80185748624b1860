"""varint and decimal as Arrow's decimal128: a number of 128 bits, and a scale that all values of a column share."""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.decimals import LIMB_BITS, LIMB_MASK, divided_by, magnitude, scale_at, times
from flightsrv.kernels.gather import WRONG_SIZE, set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import load_u8

DIGITS = 38
"""Of a decimal128."""
NUMBER_LIMBS = 1024
"""How long a number may be to be worked out: 4 KiB, 9,800 digits. Its time grows with the square of that."""
FITS, TOO_FINE, TOO_LONG = 0, -2, -3
"""Of a value: it fits; it has more decimals than the scale; it has too many digits."""


@kernel
def small_varint(a, size):
    """A varint of 1 to 8 bytes: (sign, magnitude as uint64). 0 has the sign 1."""
    value = np.int64(-1 if load_u8(a) >= 128 else 0)
    for i in range(size):
        value = value << 8 | np.int64(load_u8(a + i))
    # -2^63 has no positive counterpart of 64 bits with a sign.
    if value < 0:
        return -1, np.uint64(~value) + np.uint64(1)
    return 1, np.uint64(value)


@kernel
def _small_decimal_128(a, size, shift, out, index):
    """decimal_128 of a varint of at most 8 bytes that is to be multiplied by 10^shift, at most 10^9: it always fits."""
    sign, number = small_varint(a, size)
    factor = np.uint64(1)
    for _ in range(shift):
        factor *= np.uint64(10)
    low = (number & np.uint64(LIMB_MASK)) * factor
    middle = (number >> np.uint64(LIMB_BITS)) * factor + (low >> np.uint64(LIMB_BITS))
    low &= np.uint64(LIMB_MASK)
    if sign < 0:  # -n is ~(n - 1)
        if low == 0:
            middle -= np.uint64(1)
            low = np.uint64(LIMB_MASK)
        else:
            low -= np.uint64(1)
    low_word = np.int64(middle << np.uint64(LIMB_BITS) | low)
    high_word = np.int64(middle >> np.uint64(LIMB_BITS))
    out[index, 0] = ~low_word if sign < 0 else low_word
    out[index, 1] = ~high_word if sign < 0 else high_word


@kernel
def decimal_128(a, size, has_scale, scale, scratch, out, index):
    """A decimal (or, without has_scale, a varint) as decimal128 of the given scale into out[index].

    scratch: int64 (NUMBER_LIMBS + 1,). out: int64 (n, 2), low half first. Returns FITS; TOO_FINE, zeros at the value's
    end not counted; or TOO_LONG for more than DIGITS digits, or more than NUMBER_LIMBS limbs.
    """
    shift = np.int64(scale)
    if has_scale:
        shift -= scale_at(a)
        a += 4
        size -= 4
    if size <= 8 and 0 <= shift <= 9:
        _small_decimal_128(a, size, shift, out, index)
        return FITS
    if size > 4 * NUMBER_LIMBS:
        return TOO_LONG
    limbs = scratch[: max(5, (size >> 2) + 1)]
    sign = magnitude(a, size, limbs)
    if sign == 0:
        out[index, 0] = 0
        out[index, 1] = 0
        return FITS
    if shift > DIGITS:
        return TOO_LONG
    while shift < 0:
        if divided_by(limbs, np.int64(10)):
            return TOO_FINE
        shift += 1
    for _ in range(shift):
        if times(limbs, 10):
            return TOO_LONG
    for i in range(4, limbs.size):
        if limbs[i]:
            return TOO_LONG
    # 10^38 = 0x4B3B4CA8_5A86C47A_098A2240_00000000
    if limbs[3] > 0x4B3B4CA8 or (
        limbs[3] == 0x4B3B4CA8 and (limbs[2] > 0x5A86C47A or (limbs[2] == 0x5A86C47A and limbs[1] >= 0x098A2240))
    ):
        return TOO_LONG
    if sign < 0:  # -n is ~(n - 1)
        least = 0
        while limbs[least] == 0:
            limbs[least] = LIMB_MASK
            least += 1
        limbs[least] -= 1
    low = limbs[0] | limbs[1] << LIMB_BITS
    high = limbs[2] | limbs[3] << LIMB_BITS
    out[index, 0] = ~low if sign < 0 else low
    out[index, 1] = ~high if sign < 0 else high
    return FITS


@kernel
def gather_decimals(at, size, start, stop, has_scale, scale, nulls_instead, scratch, out, valid, filled):
    """decimals (or varints) start..stop behind `filled` ones; see decimal_128. Returns nulls, WRONG_SIZE, or what does
    not fit: TOO_FINE or TOO_LONG, unless with nulls_instead such are null."""
    nulls = 0
    for i in range(start, stop):
        index = filled + i - start
        status = TOO_LONG
        if size[i] > (4 if has_scale else 0):
            status = decimal_128(at[i], np.int64(size[i]), has_scale, scale, scratch, out, index)
            if status != FITS and not nulls_instead:
                return status
        elif size[i] > 0:
            return WRONG_SIZE
        if status != FITS:
            nulls += 1
            set_null(valid, index)
            out[index, 0] = 0
            out[index, 1] = 0
    return nulls
