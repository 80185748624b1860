"""A batch: some thousand partitions in token order, as arrays, before they are bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from corpus.kernels import LIVE, NOT_DELETED, ROW, Partitions, Unfiltereds

_ROW_BYTES = 74
"""The most that flags, clustering, sizes, liveness, deletion and column subset of a row, or a marker, take."""
_CELL_BYTES = 33
"""The most that a cell takes beside its value."""
_PARTITION_BYTES = 16
"""The most that a partition takes beside its key and unfiltereds."""


@dataclass(frozen=True, slots=True)
class Values:
    """One column's values as stored, big-endian, back to back. What stands where a cell is absent is not written."""

    data: np.ndarray
    """uint8"""
    width: int
    """Bytes of a value, or 0 where they differ: then `starts` says."""
    starts: np.ndarray
    """int64 (n + 1,), or empty."""

    @property
    def most_bytes(self) -> int:
        """The longest value."""
        return self.width or int(np.diff(self.starts).max(initial=0))


def fixed(values: np.ndarray) -> Values:
    """Values of a fixed width: numbers (any numpy type), booleans, or uint8 (n, width)."""
    if values.ndim == 2:
        return Values(np.ascontiguousarray(values).reshape(-1), values.shape[1], np.empty(0, np.int64))
    stored = values.astype(values.dtype.newbyteorder(">"))
    return Values(stored.view(np.uint8), values.dtype.itemsize, np.empty(0, np.int64))


def texts(values: pa.Array) -> Values:
    """Values of an Arrow string array without offset; null counts as empty."""
    _, offsets, data = values.buffers()
    starts = np.frombuffer(offsets, np.int32, len(values) + 1).astype(np.int64)
    return Values(np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8), 0, starts)


@dataclass(frozen=True, slots=True)
class Batch:
    """Partitions, their unfiltereds, and the values of the regular columns in the order of the header."""

    partitions: Partitions
    rows: Unfiltereds
    values: Sequence[Values]

    @property
    def partition_count(self) -> int:
        return len(self.partitions.first) - 1

    def room_bytes(self) -> int:
        """No serialised batch is larger."""
        columns = sum(v.width * len(self.rows.kind) or int(v.starts[-1]) for v in self.values)
        per_row = _ROW_BYTES + _CELL_BYTES * len(self.values)
        keys = int(self.partitions.key_starts[-1])
        return columns + per_row * len(self.rows.kind) + keys + _PARTITION_BYTES * self.partition_count

    def scratch_bytes(self) -> int:
        """No body of a row is larger."""
        return _ROW_BYTES + sum(_CELL_BYTES + each.most_bytes for each in self.values)

    def columns(self) -> np.ndarray:
        """int64 (3, columns): addresses, widths and addresses of starts, for kernels. Valid while this batch lives."""
        return np.array(
            [[each.data.ctypes.data, each.width, each.starts.ctypes.data] for each in self.values], np.int64
        ).T.copy()


def plain_rows(count: int, columns: int, written_us: int) -> Unfiltereds:
    """Rows that live, with all their cells, without TTL and deletion: what a shape starts from."""
    return Unfiltereds(
        kind=np.full(count, ROW, np.uint8),
        clustering=np.zeros(count, np.int64),
        written_us=np.full(count, written_us, np.int64),
        liveness=np.full(count, LIVE, np.uint8),
        ttl_s=np.zeros(count, np.int64),
        deleted_us=np.full(count, NOT_DELETED, np.int64),
        opened_us=np.full(count, NOT_DELETED, np.int64),
        cells=np.full((count, columns), LIVE, np.uint8),
    )
