"""Texts of which some are not UTF-8: Cassandra stores encoded surrogates, for one.

Source: Unicode 15, table 3-7, Well-Formed UTF-8 Byte Sequences; org.apache.cassandra.serializers.UTF8Serializer, which
takes more than that.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.gather import set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy, load_u8, store_8
from flightsrv.kernels.texts import hex_digit

ESCAPED_BYTE_CHARS = 4
"""\\xff."""


@kernel
def _is_continued(place, end, extra):
    if end - place <= extra:
        return False
    for i in range(1, extra + 1):
        if load_u8(place + i) & 0xC0 != 0x80:
            return False
    return True


@kernel
def _character_bytes(place, end):
    """Bytes of the character at an address, or 0 if there is none."""
    first = np.int64(load_u8(place))
    if first < 0x80:
        return 1
    second = np.int64(load_u8(place + 1)) if end - place > 1 else np.int64(0)
    if 0xC2 <= first <= 0xDF:
        return 2 if _is_continued(place, end, np.int64(1)) else 0
    if 0xE0 <= first <= 0xEF:
        is_right = (first != 0xE0 or second >= 0xA0) and (first != 0xED or second < 0xA0)
        return 3 if is_right and _is_continued(place, end, np.int64(2)) else 0
    if 0xF0 <= first <= 0xF4:
        is_right = (first != 0xF0 or second >= 0x90) and (first != 0xF4 or second < 0x90)
        return 4 if is_right and _is_continued(place, end, np.int64(3)) else 0
    return 0


@kernel
def _is_utf8(place, end):
    while place < end:
        bytes_ = _character_bytes(place, end)
        if bytes_ == 0:
            return False
        place += bytes_
    return True


@kernel
def _put_escaped(target, place, end):
    """A text with each byte that is part of no character as \\xff; returns the address behind it."""
    while place < end:
        bytes_ = _character_bytes(place, end)
        if bytes_:
            copy(target, place, np.int64(bytes_))
            target += bytes_
            place += bytes_
        else:
            byte = np.int64(load_u8(place))
            store_8(target, 92)
            store_8(target + 1, 120)
            store_8(target + 2, hex_digit(byte >> 4))
            store_8(target + 3, hex_digit(byte & 15))
            target += 4
            place += 1
    return target


@kernel
def gather_utf8(at, size, start, stop, escapes, offsets, out, valid, filled):
    """Texts behind `filled` ones. One that is not UTF-8 is null, or with `escapes` has its odd bytes escaped.

    out has room for ESCAPED_BYTE_CHARS a byte. Returns nulls.
    """
    nulls = 0
    base = address_of(out)
    target = base + np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] < 0 or not (escapes or _is_utf8(at[i], at[i] + size[i])):
            nulls += 1
            set_null(valid, index)
        else:
            target = _put_escaped(target, at[i], at[i] + size[i])
        offsets[index + 1] = target - base
    return nulls
