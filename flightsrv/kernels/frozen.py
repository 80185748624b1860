"""Fields of frozen values, written one behind the other: i32 size, bytes; size -1 alone for null.

Each takes the address to write at and returns the address behind what it wrote.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import copy, store_8, store_be32, store_be64

NULL_BYTES, INT_BYTES, BIGINT_BYTES, BOOLEAN_BYTES = 4, 8, 12, 5
"""What each takes at most."""


@kernel
def write_sized(place, at, size):
    """The `size` bytes at `at`, or null if that is negative."""
    store_be32(place, max(size, -1))
    if size <= 0:
        return place + NULL_BYTES
    copy(place + NULL_BYTES, at, size)
    return place + NULL_BYTES + size


@kernel
def write_nulls(place, first, last):
    """Fields first to last, without it, as null."""
    for _ in range(first, last):
        store_be32(place, np.int64(-1))
        place += NULL_BYTES
    return place


@kernel
def write_int(place, value, is_there):
    """An int, or null."""
    store_be32(place, np.int64(4) if is_there else np.int64(-1))
    if not is_there:
        return place + NULL_BYTES
    store_be32(place + NULL_BYTES, value)
    return place + INT_BYTES


@kernel
def write_bigint(place, value, is_there):
    """A bigint, or null."""
    store_be32(place, np.int64(8) if is_there else np.int64(-1))
    if not is_there:
        return place + NULL_BYTES
    store_be64(place + NULL_BYTES, value)
    return place + BIGINT_BYTES


@kernel
def write_boolean(place, value, is_there):
    """A boolean, or null."""
    store_be32(place, np.int64(1) if is_there else np.int64(-1))
    if not is_there:
        return place + NULL_BYTES
    store_8(place + NULL_BYTES, value)
    return place + BOOLEAN_BYTES
