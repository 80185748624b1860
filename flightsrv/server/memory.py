"""The C allocator: keep the memory of frames that were sent for the frames that come.

glibc takes blocks of a few MB straight from the kernel and gives them back at each free, so that every frame would be
written into fresh pages, which the kernel must first clear. With both thresholds raised, page faults of a scan fell
by two thirds.
"""

from __future__ import annotations

import ctypes

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3

MMAP_THRESHOLD_BYTES = 32 << 20
"""Blocks from this size on come from the kernel; glibc allows no more."""

TRIM_THRESHOLD_BYTES = 128 << 20
"""Free memory at the end of a heap from which on it goes back to the kernel."""


def keep_freed_memory() -> bool:
    """Raise glibc's thresholds, for the whole process. False where the C library has none, as musl."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    raised = mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES), mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES)
    return raised == (1, 1)
