"""A file that is read here and there, a page at a time."""

from __future__ import annotations

import numpy as np

from flightsrv.io.buffered import BufferedFile

PAGE_BYTES = 4096
PAGES_KEPT = 256


class PagedFile:
    """An open file of which the pages read last are kept. One thread at a time."""

    def __init__(self, path: str) -> None:
        """Raises SSTableError when the file cannot be opened."""
        self._file = BufferedFile(path)
        self._pages: dict[int, bytes] = {}

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._file.size

    def page(self, offset: int) -> tuple[int, bytes]:
        """The page that an offset is in: where it starts, and its bytes. Raises as BufferedFile.read_into does."""
        start = offset - offset % PAGE_BYTES
        if start not in self._pages:
            if len(self._pages) == PAGES_KEPT:
                self._pages.pop(next(iter(self._pages)))
            self._pages[start] = self.read(start, PAGE_BYTES)
        return start, self._pages[start]

    def read(self, offset: int, size: int) -> bytes:
        """The bytes from an offset on, fewer at the file's end."""
        target = np.empty(max(0, min(size, self.size - offset)), np.uint8)
        self._file.read_into(offset, target)
        return target.tobytes()

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()
