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

WRONG_SIZE, OUT_OF_DAY = -1, -4
"""Returned instead of a count of nulls: a value's size is not its type's; a time is not within a day."""
DAY_NS = 86_400_000_000_000

WIDTH, GROWTH, ELEMENT, COUNT, BOUND_FIELDS = range(5)
"""Columns of bounds, see rows_that_fit."""
READ_COUNT = -1


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
def gather_times(at, size, start, stop, nulls_instead, out, valid, filled):
    """Nanoseconds of a day. Returns nulls, WRONG_SIZE, or OUT_OF_DAY, unless with nulls_instead such are null."""
    nulls = 0
    target = address_of(out) + filled * 8
    for i in range(start, stop):
        time_ns = np.int64(-1)
        if size[i] == 8:
            time_ns = load_be64(at[i])
            if not 0 <= time_ns < DAY_NS and not nulls_instead:
                return OUT_OF_DAY
        elif size[i] > 0:
            return WRONG_SIZE
        if 0 <= time_ns < DAY_NS:
            store_64(target, time_ns)
        else:
            nulls += 1
            set_null(valid, filled + i - start)
            store_64(target, 0)
        target += 8
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
def is_ascii(data, start, stop):
    """Whether no byte of data[start:stop] has its high bit set. data: uint8."""
    base = address_of(data) + start
    size = stop - start
    bits = np.int64(0)
    for word in range(size >> 3):
        bits |= load_le64(base + 8 * word)
    for i in range(start + (size & ~7), stop):
        bits |= np.int64(data[i])
    return bits & np.int64(-0x7F7F7F7F7F7F7F80) == 0


@kernel
def rows_that_fit(at, size, bounds, start, stop, budget):
    """How many rows from start on take at most `budget` bytes of Arrow, at least one.

    at: int64, size: int32 (values, n). bounds: int64 (values, BOUND_FIELDS): bytes each row takes for a value, whatever
    it is; for each byte of it; and for each of its elements, of which there are as many as the last field says, or, if
    that is READ_COUNT, as the value begins with. Returns (rows, the most bytes they take).
    """
    used = np.int64(0)
    fixed = np.int64(0)
    for value in range(bounds.shape[0]):
        fixed += bounds[value, WIDTH]
    for row in range(start, stop):
        row_bytes = fixed
        for value in range(bounds.shape[0]):
            growth = bounds[value, GROWTH]
            count = bounds[value, COUNT]
            if growth | count and size[value, row] > 0:
                bytes_ = np.int64(size[value, row])
                if count == READ_COUNT:
                    count = min(np.int64(load_be32(at[value, row])), bytes_ >> 2) if bytes_ >= 4 else np.int64(0)
                row_bytes += growth * bytes_ + count * bounds[value, ELEMENT]
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
