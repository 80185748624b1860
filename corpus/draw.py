"""Random numbers that need no memory: each is a hash of what it is for, so any row can be made again by itself.

A stream is one use: (seed, run, field). Its number `counter` is SplitMix64's finaliser over
stream + golden * (counter + 1). `corpus.texts.draw` is the same function for kernels.
"""

from __future__ import annotations

import numpy as np

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1


def _mix(value: np.ndarray) -> np.ndarray:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(_MIX_1)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(_MIX_2)
    mixed: np.ndarray = value ^ (value >> np.uint64(31))
    return mixed


def stream(seed: int, run: int, field: int) -> np.uint64:
    """Where the numbers of one use start."""
    at = np.array([(seed * _GOLDEN + (run << 8) + field) & _MASK], np.uint64)
    return np.uint64(_mix(_mix(at))[0])


def draw(where: np.uint64 | np.ndarray, counters: np.ndarray) -> np.ndarray:
    """uint64: one number for each counter (int64) of a stream, or of a stream each."""
    return _mix(where + (counters.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN))


def below(numbers: np.ndarray, limit: int) -> np.ndarray:
    """int64 in [0, limit), from the upper 32 bits."""
    return ((numbers >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)


def chance(where: np.uint64, counters: np.ndarray, share: float) -> np.ndarray:
    """bool: whether each counter of a stream is one of this share."""
    if share == 0:
        return np.zeros(len(counters), bool)
    return (draw(where, counters) >> np.uint64(11)) < np.uint64(round(share * 2**53))
