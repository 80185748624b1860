"""Files read through the page cache, with preadv into memory the caller owns."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from flightsrv.errors import CorruptSSTableError, SSTableError, Where
from flightsrv.slab import Array

MAX_COMPONENT_BYTES = 1 << 30
"""The largest component that is read whole: an Index.db of some ten million partitions."""


class BufferedFile:
    """An open file. Any number of threads may read at once."""

    def __init__(self, path: str) -> None:
        """Raises SSTableError when the file cannot be opened."""
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SSTableError(f"cannot be opened: {os.strerror(error.errno or 0)}", Where(path)) from error
        self.size = os.fstat(self._descriptor).st_size

    def read_into(self, offset: int, target: Array) -> None:
        """Fill target (uint8) with the bytes from `offset` on.

        Raises CorruptSSTableError when the file ends before, SSTableError when the disk says no.
        """
        done = 0
        while done < target.size:
            try:
                size = os.preadv(self._descriptor, [target[done:].data], offset + done)
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                what = f"cannot be read: {os.strerror(error.errno or 0)}"
                raise SSTableError(what, Where(self.path, offset=offset + done)) from error
            if size == 0:
                what = f"the file ends, {target.size - done} bytes early"
                raise CorruptSSTableError(what, Where(self.path, offset=offset + done))
            done += size

    def close(self) -> None:
        """Give the descriptor back; reads must be over."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_component(path: str) -> bytes:
    """The whole of a small file. Raises SSTableError when it is missing, too large or unreadable."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_COMPONENT_BYTES:
                raise SSTableError(f"{size} bytes are more than {MAX_COMPONENT_BYTES}", Where(path))
            return file.read()
    except FileNotFoundError:
        raise CorruptSSTableError("the file is missing", Where(path)) from None
    except OSError as error:
        raise SSTableError(f"cannot be read: {os.strerror(error.errno or 0)}", Where(path)) from error


def file_size(path: str) -> int:
    """Bytes of a file. Raises CorruptSSTableError when it is missing, SSTableError when the disk says no."""
    return _status(path).st_size


def file_stamp(path: str) -> tuple[int, int, int]:
    """What tells a file from another that takes its name: inode, bytes, nanoseconds of its last change. Raises as
    file_size does.
    """
    status = _status(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _status(path: str) -> os.stat_result:
    try:
        return Path(path).stat()
    except FileNotFoundError:
        raise CorruptSSTableError("the file is missing", Where(path)) from None
    except OSError as error:
        raise SSTableError(f"cannot be read: {os.strerror(error.errno or 0)}", Where(path)) from error
