"""inet as text, and any bytes as CQL writes a blob.

Source: RFC 5952; java.net.InetAddress.getByAddress, by which Cassandra takes a mapped IPv6 address for the IPv4 address
in it; org.apache.cassandra.cql3.CQL3Type.Custom, which writes values of types that CQL does not know as blobs.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.gather import WRONG_SIZE, set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, load_be16, load_be32, load_be64, load_u8, store_8

INET_TEXT_BYTES = 40
"""The longest IPv6 address has 39 characters."""


@kernel
def put_number(target, number):
    """A number of 0 or more in decimal; returns the address behind it."""
    digits = 1
    power = np.uint64(1)
    number = np.uint64(number)
    while number // power >= np.uint64(10):
        power *= np.uint64(10)
        digits += 1
    for _ in range(digits):
        store_8(target, np.int64(48) + np.int64(number // power % np.uint64(10)))
        power //= np.uint64(10)
        target += 1
    return target


@kernel
def hex_digit(value):
    return value + (48 if value < 10 else 87)


@kernel
def _put_hex(target, word):
    """16 bits without leading zeros."""
    started = False
    for shift in (12, 8, 4, 0):
        digit = word >> shift & 15
        if digit or started or shift == 0:
            store_8(target, hex_digit(digit))
            target += 1
            started = True
    return target


@kernel
def _put_ipv4(target, a):
    for i in range(4):
        if i:
            store_8(target, 46)
            target += 1
        target = put_number(target, np.int64(load_u8(a + i)))
    return target


@kernel
def _put_ipv6(target, a, words):
    """Groups in lower-case hex, the first `words` of eight; the first longest run of two or more zero groups is ::."""
    best = 8
    best_length = 1
    run = 0
    for i in range(words):
        run = run + 1 if load_be16(a + 2 * i) == 0 else 0
        if run > best_length:
            best_length = run
            best = i + 1 - run
    i = 0
    while i < words:
        if i == best:
            store_8(target, 58)
            store_8(target + 1, 58)
            target += 2
            i += best_length
            continue
        if i and i != best + best_length:
            store_8(target, 58)
            target += 1
        target = _put_hex(target, np.int64(load_be16(a + 2 * i)))
        i += 1
    return target


@kernel
def _is_mapped(a):
    """Whether an IPv6 address is ::ffff:0:0/96, an IPv4 address in disguise."""
    return load_be64(a) == 0 and load_be32(a + 8) == 0xFFFF


@kernel
def gather_inet(at, size, start, stop, tells_mapped, offsets, out, valid, filled):
    """Addresses of 4 or 16 bytes as text; out has INET_TEXT_BYTES a value. Returns nulls or WRONG_SIZE.

    A mapped IPv4 address of 16 bytes is ::ffff:1.2.3.4 if tells_mapped, else 1.2.3.4, as Cassandra shows it.
    """
    nulls = 0
    base = address_of(out)
    target = base + np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] == 4:
            target = _put_ipv4(target, at[i])
        elif size[i] == 16:
            if not _is_mapped(at[i]):
                target = _put_ipv6(target, at[i], np.int64(8))
            else:
                if tells_mapped:
                    target = _put_ipv6(target, at[i], np.int64(6))
                    store_8(target, 58)
                    target += 1
                target = _put_ipv4(target, at[i] + 12)
        elif size[i] > 0:
            return WRONG_SIZE
        else:
            nulls += 1
            set_null(valid, index)
        offsets[index + 1] = target - base
    return nulls


@kernel
def gather_hex(at, size, start, stop, offsets, out, valid, filled):
    """Any bytes as 0x and two digits a byte; out has room for that. Returns nulls."""
    nulls = 0
    base = address_of(out)
    target = base + np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] < 0:
            nulls += 1
            set_null(valid, index)
        else:
            store_8(target, 48)
            store_8(target + 1, 120)
            target += 2
            for b in range(size[i]):
                byte = np.int64(load_u8(at[i] + b))
                store_8(target, hex_digit(byte >> 4))
                store_8(target + 1, hex_digit(byte & 15))
                target += 2
        offsets[index + 1] = target - base
    return nulls
