"""Memory that ends where a value does: who reads behind it dies of it."""

from __future__ import annotations

import ctypes
import mmap

_PAGE = mmap.PAGESIZE
_PROT_NONE = 0


class Guarded:
    """A page that can be written, and behind it one that must not be touched."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 2 * _PAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        protected = ctypes.CDLL(None).mprotect(ctypes.c_void_p(self._start + _PAGE), _PAGE, _PROT_NONE)
        assert protected == 0

    def place(self, value: bytes) -> int:
        """Put a value right before the guard; returns its address, good until the next one is put there."""
        at = self._start + _PAGE - len(value)
        ctypes.memmove(at, value, len(value))
        return at
