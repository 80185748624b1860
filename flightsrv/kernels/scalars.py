"""The order of values that hold no others.

An empty value sorts before all others of its type, an absent one (null) before that. Source: the compare methods of
org.apache.cassandra.db.marshal's types.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.decimals import COMPARED_BYTES, compare_decimals, compare_varints
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import compare, load_be32, load_be64, load_u8

# How values of a type compare; cql/ordering.py says which type has which.
BYTES = 0
"""Unsigned bytes from left to right, a prefix first."""
SIGNED = 1
"""Big-endian two's complement of 1, 2, 4 or 8 bytes."""
BOOLEAN = 2
"""Zero, then anything else."""
FLOAT = 3
"""4 bytes, as Java's Float.compare: -0.0 before 0.0, every NaN equal and last."""
DOUBLE = 4
"""8 bytes, likewise."""
VARINT = 5
"""Two's complement of any length."""
DECIMAL = 6
"""Numeric: 1.0 and 1.00 are equal."""
UUID = 7
"""Version; then for version 1 timestamp and low 8 bytes, for others all bytes, unsigned."""
TIMEUUID = 8
"""Timestamp, then the low 8 bytes as *signed* bytes."""
LEXICAL_UUID = 9
"""Both halves as signed 64-bit integers."""
SCALARS = 10
"""How many there are."""

TOO_LONG, UNKNOWN_CLASS = 1, 2
"""In Orders.undecided: decimals are longer than COMPARED_BYTES; a dynamic composite has a component of a class whose
order is not known."""


@kernel
def sign(left, right):
    """-1, 0 or 1."""
    return (1 if left > right else 0) - (1 if left < right else 0)


@kernel
def compare_bytes(a, a_size, b, b_size):
    """Unsigned bytes from left to right, a prefix first."""
    order = np.int64(compare(a, b, min(a_size, b_size)))
    return order if order != 0 else a_size - b_size


@kernel
def _signed_at(a, size):
    """A big-endian two's complement integer of up to 8 bytes."""
    if size == 8:
        return np.int64(load_be64(a))
    value = np.int64(load_u8(a))
    if value > 127:
        value -= 256
    for i in range(1, size):
        value = value << 8 | np.int64(load_u8(a + i))
    return value


@kernel
def _java_bits(bits):
    """Bits of a double, or of a float in the high half, such that signed integers sort as Double.compare does."""
    magnitude = bits & 0x7FFFFFFFFFFFFFFF
    if magnitude > 0x7FF0000000000000:
        return np.int64(0x7FF8000000000000)  # every NaN is one, above infinity
    return magnitude if bits >= 0 else ~magnitude


@kernel
def _float_as_double_bits(a):
    """A float's bits widened so that _java_bits orders them: NaNs stay above infinity, which stays above numbers."""
    bits = np.int64(load_be32(a))
    magnitude = bits & 0x7FFFFFFF
    wide = np.int64(0x7FF8000000000000) if magnitude > 0x7F800000 else magnitude << 32
    wide = np.int64(0x7FF0000000000000) if magnitude == 0x7F800000 else wide
    return wide if bits < 0x80000000 or magnitude > 0x7F800000 else wide | np.int64(-(2**63))


@kernel
def _unsigned(left, right):
    low = np.int64(-(2**63))
    return sign(left ^ low, right ^ low)


@kernel
def _uuid_time(high):
    """The first 8 bytes of a version-1 UUID, most significant time bits first."""
    return (high & 0xFFFF) << 48 | (high & 0xFFFF0000) << 16 | (high >> 32 & 0xFFFFFFFF)


@kernel
def _compare_timeuuids(a, b):
    order = sign(_uuid_time(load_be64(a)) & 0x0FFFFFFFFFFFFFFF, _uuid_time(load_be64(b)) & 0x0FFFFFFFFFFFFFFF)
    flip = np.int64(-0x7F7F7F7F7F7F7F80)  # 0x80 in each byte: signed bytes compare as unsigned ones
    return order if order != 0 else _unsigned(load_be64(a + 8) ^ flip, load_be64(b + 8) ^ flip)


@kernel
def _compare_uuids(a, b):
    a_high = np.int64(load_be64(a))
    b_high = np.int64(load_be64(b))
    order = sign(a_high >> 12 & 15, b_high >> 12 & 15)
    if order == 0:
        if a_high >> 12 & 15 == 1:
            order = sign(_uuid_time(a_high), _uuid_time(b_high))
        else:
            order = _unsigned(a_high, b_high)
    return order if order != 0 else _unsigned(load_be64(a + 8), load_be64(b + 8))


@kernel
def compare_scalars(comparator, a, a_size, b, b_size, orders):
    """Below, equal to or above 0 for two values of one type at their addresses; sizes below 0 are null.

    Values whose size is not their type's sort by their bytes: what they mean is for others to refuse. orders: Orders;
    decimals that are too long set `undecided`.
    """
    if a_size <= 0 or b_size <= 0:
        return sign(min(a_size, 1), min(b_size, 1))
    if comparator == SIGNED and a_size == b_size and a_size <= 8:
        return sign(_signed_at(a, a_size), _signed_at(b, b_size))
    if comparator == BOOLEAN:
        return sign(min(load_u8(a), 1), min(load_u8(b), 1))
    if comparator == DOUBLE and a_size == 8 and b_size == 8:
        return sign(_java_bits(load_be64(a)), _java_bits(load_be64(b)))
    if comparator == FLOAT and a_size == 4 and b_size == 4:
        return sign(_java_bits(_float_as_double_bits(a)), _java_bits(_float_as_double_bits(b)))
    if comparator == VARINT:
        return compare_varints(a, a_size, b, b_size)
    if comparator == DECIMAL and a_size > 4 and b_size > 4:
        if max(a_size, b_size) <= COMPARED_BYTES:
            return compare_decimals(a, a_size, b, b_size, orders.limbs)
        orders.undecided[0] = TOO_LONG
    if a_size == 16 and b_size == 16:
        if comparator == UUID:
            return _compare_uuids(a, b)
        if comparator == TIMEUUID:
            return _compare_timeuuids(a, b)
        if comparator == LEXICAL_UUID:
            order = sign(load_be64(a), load_be64(b))
            return order if order != 0 else sign(load_be64(a + 8), load_be64(b + 8))
    return compare_bytes(a, a_size, b, b_size)
