"""What the cells of a column hold, as arrays of bytes as they are stored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from corpus.unfiltereds import ABSENT, DELETED

_CELL_BYTES = 33
"""The most that a cell takes beside its value and its path."""
_PATH_SIZE_BYTES = 5
_COMPLEX_BYTES = 27
"""The most that a complex column takes in a row beside its elements: a deletion and their count."""


@dataclass(frozen=True, slots=True)
class Values:
    """One value a row, big-endian, back to back. What stands where a cell is absent is not written."""

    data: np.ndarray
    """uint8"""
    width: int
    """Bytes of a value, or 0 where each is written with its size: then `starts` says."""
    starts: np.ndarray
    """int64 (n + 1,), or empty."""

    is_complex = False

    @property
    def most_bytes(self) -> int:
        """The longest value."""
        return self.width or int(np.diff(self.starts).max(initial=0))

    def sized(self) -> Values:
        """The same values, each written with its size."""
        return Values(self.data, 0, np.arange(0, len(self.data) + 1, self.width))

    def room_bytes(self, rows: int) -> int:
        """All cells together are no larger."""
        return len(self.data) + _CELL_BYTES * rows

    def scratch_bytes(self) -> int:
        """No cell is larger."""
        return _CELL_BYTES + self.most_bytes

    def cell_counts(self, states: np.ndarray) -> np.ndarray:
        """int64 (n,): how many cells each row has. states: uint8 (n,)."""
        counts: np.ndarray = (states != ABSENT).astype(np.int64)
        return counts

    def place(self) -> list[int]:
        """For kernels: address of data, width, address of starts. Valid while this lives."""
        return [self.data.ctypes.data, self.width, self.starts.ctypes.data]

    def column(self) -> list[int]:
        """The fields of corpus.kernels.Columns."""
        return [0, *self.place(), 0, 0, 0]


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a non-frozen collection or UDT, row after row, in the order of their paths."""

    first: np.ndarray
    """int64 (n + 1,): where the elements of each row start."""
    paths: Values
    """One an element."""
    values: Values
    """Likewise; all empty for a set."""

    is_complex = True

    def room_bytes(self, rows: int) -> int:
        """All cells together are no larger."""
        beside = (_CELL_BYTES + _PATH_SIZE_BYTES) * int(self.first[-1]) + _COMPLEX_BYTES * rows
        return beside + len(self.paths.data) + len(self.values.data)

    def scratch_bytes(self) -> int:
        """No row's cells are larger."""
        element = _CELL_BYTES + _PATH_SIZE_BYTES + self.paths.most_bytes + self.values.most_bytes
        return _COMPLEX_BYTES + int(np.diff(self.first).max(initial=0)) * element

    def cell_counts(self, states: np.ndarray) -> np.ndarray:
        """int64 (n,): how many cells each row has. states: uint8 (n,)."""
        counts: np.ndarray = np.where((states == ABSENT) | (states == DELETED), 0, np.diff(self.first))
        return counts

    def column(self) -> list[int]:
        """The fields of corpus.kernels.Columns."""
        return [self.first.ctypes.data, *self.values.place(), *self.paths.place()]


def fixed(values: np.ndarray) -> Values:
    """Values of a fixed width: numbers (any numpy type), booleans, or uint8 (n, width)."""
    if values.ndim == 2:
        return Values(np.ascontiguousarray(values).reshape(-1), values.shape[1], np.empty(0, np.int64))
    stored = values.astype(values.dtype.newbyteorder(">"))
    return Values(stored.view(np.uint8), values.dtype.itemsize, np.empty(0, np.int64))


def texts(values: pa.Array) -> Values:
    """Values of an Arrow string or binary array without offset; null counts as empty."""
    _, offsets, data = values.buffers()
    starts = np.frombuffer(offsets, np.int32, len(values) + 1).astype(np.int64)
    return Values(np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8), 0, starts)


def ragged(data: np.ndarray, kept: np.ndarray) -> Values:
    """Of each row of data, uint8 (n, most), the bytes that are kept, bool (n, most)."""
    return Values(data[kept], 0, np.concatenate([[0], np.cumsum(kept.sum(axis=1))]))


def no_values(count: int) -> Values:
    """Empty values."""
    return Values(np.empty(0, np.uint8), 0, np.zeros(count + 1, np.int64))
