"""Values from where they lie to Arrow's buffers: the one copy a scan makes of them.

Each kernel appends values start..stop of one column, given as addresses and sizes, behind `filled` ones. Validity
bitmaps come filled with ones; only nulls are written. A size below 0 is null; so is 0 for a type that has no empty
value.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import (
    address_of,
    copy,
    load_be16,
    load_be32,
    load_be64,
    load_le64,
    load_u8,
    store_8,
    store_16,
    store_32,
    store_64,
)

WRONG_SIZE = -1
"""Returned instead of a count of nulls: a value's size is not its type's."""


@kernel
def set_null(valid, index):
    """Clear bit `index` of a bitmap."""
    valid[index >> 3] &= np.uint8(255 ^ (1 << (index & 7)))


@kernel
def gather_fixed(at, size, start, stop, width, flip, out, valid, filled):
    """Big-endian values of `width` 1, 2, 4 or 8 bytes to little-endian ones, XORed with flip.

    at: int64 (n,); size: int32 (n,); out, valid: uint8. Returns how many are null, or WRONG_SIZE.
    """
    nulls = 0
    target = address_of(out) + filled * width
    for i in range(start, stop):
        if size[i] != width:
            if size[i] > 0:
                return WRONG_SIZE
            nulls += 1
            set_null(valid, filled + i - start)
            for b in range(width):
                store_8(target + b, 0)
        elif width == 8:
            store_64(target, load_be64(at[i]) ^ flip)
        elif width == 4:
            store_32(target, load_be32(at[i]) ^ flip)
        elif width == 2:
            store_16(target, load_be16(at[i]) ^ flip)
        else:
            store_8(target, load_u8(at[i]) ^ flip)
        target += width
    return nulls


@kernel
def gather_16(at, size, start, stop, out, valid, filled):
    """Values of 16 bytes as they are. Returns nulls or WRONG_SIZE."""
    nulls = 0
    target = address_of(out) + filled * 16
    for i in range(start, stop):
        if size[i] == 16:
            store_64(target, load_le64(at[i]))
            store_64(target + 8, load_le64(at[i] + 8))
        else:
            if size[i] > 0:
                return WRONG_SIZE
            nulls += 1
            set_null(valid, filled + i - start)
            store_64(target, 0)
            store_64(target + 8, 0)
        target += 16
    return nulls


@kernel
def gather_boolean(at, size, start, stop, out, valid, filled):
    """One-byte values to a bitmap that comes filled with zeros. Returns nulls or WRONG_SIZE."""
    nulls = 0
    for i in range(start, stop):
        index = filled + i - start
        if size[i] == 1:
            if load_u8(at[i]) != 0:
                out[index >> 3] |= np.uint8(1 << (index & 7))
        else:
            if size[i] > 0:
                return WRONG_SIZE
            nulls += 1
            set_null(valid, index)
    return nulls


@kernel
def total_size(size, start, stop):
    """Bytes of all values."""
    total = np.int64(0)
    for i in range(start, stop):
        total += max(size[i], 0)
    return total


@kernel
def gather_variable(at, size, start, stop, offsets, out, valid, filled):
    """Values of any size. offsets: int32, offsets[filled] is where the next value goes; out has room. Returns nulls."""
    nulls = 0
    target = np.int64(offsets[filled])
    base = address_of(out)
    for i in range(start, stop):
        index = filled + i - start
        bytes_ = np.int64(size[i])
        if bytes_ > 0:
            copy(base + target, at[i], bytes_)
            target += bytes_
        elif bytes_ < 0:
            nulls += 1
            set_null(valid, index)
        offsets[index + 1] = target
    return nulls


@kernel
def is_ascii(data, size):
    """Whether no byte of data[:size] has its high bit set. data: uint8."""
    base = address_of(data)
    bits = np.int64(0)
    for word in range(size >> 3):
        bits |= load_le64(base + 8 * word)
    for i in range(size & ~7, size):
        bits |= np.int64(data[i])
    return bits & np.int64(-0x7F7F7F7F7F7F7F80) == 0


@kernel
def rows_that_fit(size, width, own, start, stop, budget):
    """How many rows from start on take at most `budget` bytes of Arrow, at least one.

    size: int32 (values, n). width: int64 (values,): bytes each row takes for a value, whatever it is; own: int64
    (values,): 1 if the value's own size comes on top. Returns (rows, their bytes).
    """
    used = np.int64(0)
    fixed = np.int64(0)
    for value in range(width.size):
        fixed += width[value]
    for row in range(start, stop):
        row_bytes = fixed
        for value in range(width.size):
            if own[value]:
                row_bytes += max(size[value, row], 0)
        if used + row_bytes > budget and row > start:
            return row - start, used
        used += row_bytes
    return stop - start, used


@kernel
def copy_buffers(addresses, sizes, places, out):
    """Put buffers into one, zeros between them. addresses, sizes, places: int64 (n,); out: uint8 that all fit into."""
    base = address_of(out)
    for i in range(sizes.size):
        if sizes[i]:
            copy(base + places[i], addresses[i], sizes[i])
        end = places[i] + sizes[i]
        for at in range(end, places[i + 1] if i + 1 < sizes.size else out.size):
            out[at] = 0
