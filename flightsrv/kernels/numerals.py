"""varint and decimal as text of which no digit and no scale is lost.

    varint    its digits                                   -128
    decimal   as Java's BigDecimal.toString writes it      1.50   0.000001   1E-7   1.23E+7   0E-10

Source: java.math.BigDecimal.toString, which SELECT JSON shows too; org.apache.cassandra.serializers.IntegerSerializer,
DecimalSerializer.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.decimal128 import NUMBER_LIMBS, TOO_LONG, small_varint
from flightsrv.kernels.decimals import divided_by, magnitude, scale_at
from flightsrv.kernels.gather import WRONG_SIZE, set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, store_8
from flightsrv.kernels.texts import put_number

NUMERAL_GROWTH, NUMERAL_BYTES = 3, 16
"""A text has at most NUMERAL_GROWTH characters for each stored byte, and NUMERAL_BYTES more: 2.41 digits a byte, and a
sign, a point, zeros or an exponent."""
GROUPS = NUMBER_LIMBS * 32 // 29 + 1
"""Groups of nine digits of the longest number."""
_GROUP = 1_000_000_000


@kernel
def _small_groups(a, size, groups):
    """A varint of at most 8 bytes as groups of nine digits, least first: (sign, how many)."""
    sign, rest = small_varint(a, size)
    count = 0
    while True:
        groups[count] = np.int64(rest % np.uint64(_GROUP))
        rest = rest // np.uint64(_GROUP)
        count += 1
        if rest == 0:
            return sign, count


@kernel
def _groups(a, size, limbs, groups):
    """Likewise for a varint of any size up to 4 * NUMBER_LIMBS. limbs, groups: int64 scratch."""
    if size <= 8:
        return _small_groups(a, size, groups)
    top = (size >> 2) + 1
    number = limbs[:top]
    sign = magnitude(a, size, number)
    count = 0
    while True:
        groups[count] = divided_by(number, np.int64(_GROUP))
        count += 1
        while top > 0 and number[top - 1] == 0:
            top -= 1
        if top == 0:
            return (-1 if sign < 0 else 1), count
        number = limbs[:top]


@kernel
def _digit_count(groups, count):
    digits = 9 * (count - 1) + 1
    power = 10
    while groups[count - 1] >= power:
        power *= 10
        digits += 1
    return digits


@kernel
def _put_digits(target, groups, digits, point):
    """All digits, with a point before the last `point` ones if there are any; returns the address behind them."""
    place = target + digits + (1 if point else 0)
    end = place
    left = digits
    for group in range((digits + 8) // 9):
        rest = groups[group]
        for _ in range(min(left, 9)):
            if point and digits - left == point:
                place -= 1
                store_8(place, 46)
            place -= 1
            store_8(place, 48 + rest % 10)
            rest = rest // 10
            left -= 1
    return end


@kernel
def _put_decimal(target, groups, digits, scale):
    """A decimal without its sign. digits - 1 - scale is the exponent of its first digit."""
    exponent = digits - 1 - scale
    if scale >= 0 and exponent >= -6:
        if digits <= scale:
            store_8(target, 48)
            store_8(target + 1, 46)
            target += 2
            for _ in range(scale - digits):
                store_8(target, 48)
                target += 1
            return _put_digits(target, groups, digits, np.int64(0))
        return _put_digits(target, groups, digits, scale)
    target = _put_digits(target, groups, digits, digits - 1)
    if exponent:
        store_8(target, 69)
        store_8(target + 1, 43 if exponent > 0 else 45)
        target = put_number(target + 2, abs(exponent))
    return target


@kernel
def gather_numerals(at, size, start, stop, has_scale, nulls_instead, limbs, groups, offsets, out, valid, filled):
    """decimals (or, without has_scale, varints) as text behind `filled` ones.

    limbs: int64 (NUMBER_LIMBS + 1,), groups: int64 (GROUPS,), both scratch; out has room for NUMERAL_GROWTH and
    NUMERAL_BYTES. Returns nulls, WRONG_SIZE, or TOO_LONG for more than 4 * NUMBER_LIMBS bytes, unless with
    nulls_instead such are null.
    """
    nulls = 0
    base = address_of(out)
    target = base + np.int64(offsets[filled])
    scale_bytes = np.int64(4 if has_scale else 0)
    for i in range(start, stop):
        index = filled + i - start
        bytes_ = size[i] - scale_bytes
        if size[i] > 0 and bytes_ <= 0:
            return WRONG_SIZE
        if bytes_ > 4 * NUMBER_LIMBS and not nulls_instead:
            return TOO_LONG
        if bytes_ <= 0 or bytes_ > 4 * NUMBER_LIMBS:
            nulls += 1
            set_null(valid, index)
        else:
            sign, count = _groups(at[i] + scale_bytes, bytes_, limbs, groups)
            if sign < 0:
                store_8(target, 45)
                target += 1
            scale = scale_at(at[i]) if has_scale else np.int64(0)
            target = _put_decimal(target, groups, _digit_count(groups, count), scale)
        offsets[index + 1] = target - base
    return nulls
