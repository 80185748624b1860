"""Byte-comparable forms of partition keys, compared with the paths that lead to them in Partitions.db.

Source: org.apache.cassandra.db.DecoratedKey.asComparableBytes, utils.bytecomparable.ByteSource.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import load_u8

_NEXT_COMPONENT, _TERMINATOR = 0x40, 0x38
_ESCAPE, _ESCAPED_0_CONT, _ESCAPED_0_DONE = 0x00, 0xFE, 0xFF

# How partitioners make tokens.
HASHED, KEY_BYTES, UNKNOWN = range(3)
"""As Murmur3Partitioner; as ByteOrderedPartitioner, whose token is the key; in another way."""


@kernel
def _behind_escaped(path_at, path_size, i, key_at, key_size):
    """The index behind an escaped key that a path has from index i on, or the path's size; -1 if it has another."""
    k = 0
    in_zeros = False
    while i < path_size and k <= key_size:
        byte = load_u8(key_at + k) if k < key_size else np.int64(0)
        if byte != 0 and in_zeros:
            expected = np.int64(_ESCAPED_0_DONE)
            in_zeros = False
        else:
            expected = byte
            if byte == 0:
                expected = np.int64(_ESCAPED_0_CONT) if in_zeros else np.int64(_ESCAPE)
                in_zeros = True
            k += 1
        if load_u8(path_at + i) != expected:
            return np.int64(-1)
        i += 1
    return np.int64(i)


@kernel
def leads_to(path_at, path_size, key_at, key_size, token, tokens):
    """Whether the path at an address is the beginning of a key's form. tokens: HASHED or KEY_BYTES."""
    if path_size == 0:
        return True
    if load_u8(path_at) != _NEXT_COMPONENT:
        return False
    i = np.int64(1)
    if tokens == KEY_BYTES:
        i = _behind_escaped(path_at, path_size, i, key_at, key_size)
    else:
        while i < min(path_size, 9):
            byte = token >> (8 * (8 - i)) & 0xFF
            if load_u8(path_at + i) != (byte ^ 0x80 if i == 1 else byte):
                return False
            i += 1
    if i < 0 or i == path_size:
        return i == path_size
    if load_u8(path_at + i) != _NEXT_COMPONENT:
        return False
    i = _behind_escaped(path_at, path_size, i + 1, key_at, key_size)
    if i < 0 or i == path_size:
        return i == path_size
    return i + 1 == path_size and load_u8(path_at + i) == _TERMINATOR
