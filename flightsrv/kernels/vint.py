"""Bytes and vints of a window.

A window's array is at least SLACK bytes longer than its `stop`, so three vints one behind the other can be loaded whole
if the first starts at `stop` or before; the caller then compares where they end with `stop`.

Source: org.apache.cassandra.utils.vint.VIntCoding.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, load_be64, load_u8

SLACK = 32
"""Bytes behind a window's end that may be loaded, though they mean nothing."""


@kernel
def byte_at(data, i):
    """The byte at index i of a uint8 array, as int64: shifting a uint8 would lose its high bits."""
    return np.int64(data[np.uint64(i)])


@kernel
def be16_at(data, i):
    """Unsigned big-endian 16 bits."""
    return (byte_at(data, i) << 8) | byte_at(data, i + 1)


@kernel
def be32_at(data, i):
    """Unsigned big-endian 32 bits."""
    return (be16_at(data, i) << 16) | be16_at(data, i + 2)


@kernel
def be64_at(data, i):
    """Signed big-endian 64 bits."""
    return (be32_at(data, i) << 32) | be32_at(data, i + 4)


@kernel
def uvint_from(a):
    """The unsigned vint at an address, and the address behind it; 64-bit values come as signed.

    Up to 9 bytes are read. Values of 2^63 and more are negative.
    """
    first = np.int64(load_u8(a))
    if first < 0x80:
        return first, a + 1
    if first < 0xC0:
        return ((first & 0x3F) << 8) | np.int64(load_u8(a + 1)), a + 2
    extra = 2
    while extra < 8 and first & (0x80 >> extra):
        extra += 1
    word = np.uint64(np.int64(load_be64(a + 1)))
    low = np.int64(word >> np.uint64(64 - 8 * extra))
    if extra == 8:
        return low, a + 9
    high = first & (0xFF >> extra)
    return (high << (8 * extra)) | low, a + 1 + extra


@kernel
def uvint_at(data, i):
    """The unsigned vint at index i, and the index behind it, as uvint_from.

    data: uint8 (n,) with i + 9 <= n, which SLACK gives.
    """
    byte_at(data, i + 8)  # bounds-checked mode sees the loads
    base = address_of(data)
    value, behind = uvint_from(base + i)
    return value, behind - base
