"""Token order of keys that are functions of a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flightsrv.kernels.murmur3 import tokens_of

_BLOCK = 1 << 20

KeysOf = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Numbers (int64) to keys: (uint8 back to back, int64 (n + 1,) starts)."""


def in_token_order(count: int, keys_of: KeysOf) -> np.ndarray:
    """int64 (count,): the numbers 0 … count - 1 as their partitions stand in an SSTable; 24 bytes a key meanwhile."""
    tokens = np.empty(count, np.int64)
    for start in range(0, count, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, count))
        keys, starts = keys_of(numbers)
        tokens_of(keys, starts[:-1], np.diff(starts), tokens[start : start + len(numbers)])
    return np.argsort(tokens, kind="stable")
