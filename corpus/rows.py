"""A batch: some thousand partitions in token order, as arrays, before they are bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corpus.unfiltereds import LIVE, NOT_DELETED, ROW, Partitions, Unfiltereds
from corpus.values import Elements, Values

_ROW_BYTES = 74
"""The most that flags, clustering, sizes, liveness, deletion and count of columns of a row, or a marker, take."""
_COLUMN_BYTES = 2
"""The most that a column takes in the list of those that a row has."""
_PARTITION_BYTES = 16
"""The most that a partition takes beside its key and unfiltereds."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Partitions, their unfiltereds, and what the regular columns hold, in the order of the header."""

    partitions: Partitions
    rows: Unfiltereds
    values: Sequence[Values | Elements]

    @property
    def partition_count(self) -> int:
        return len(self.partitions.first) - 1

    def room_bytes(self) -> int:
        """No serialised batch is larger."""
        rows = len(self.rows.kind)
        per_row = _ROW_BYTES + _COLUMN_BYTES * len(self.values)
        keys = int(self.partitions.key_starts[-1])
        cells = sum(each.room_bytes(rows) for each in self.values)
        return cells + per_row * rows + keys + _PARTITION_BYTES * self.partition_count

    def scratch_bytes(self) -> int:
        """No body of a row is larger."""
        return _ROW_BYTES + sum(_COLUMN_BYTES + each.scratch_bytes() for each in self.values)

    def columns(self) -> np.ndarray:
        """int64 (columns, COLUMN_FIELDS), for kernels. Valid while this batch lives."""
        return np.array([each.column() for each in self.values], np.int64)

    def cell_counts(self) -> np.ndarray:
        """int64 (n, columns): how many cells each unfiltered has of a column."""
        states = self.rows.cells
        return np.stack([each.cell_counts(states[:, c]) for c, each in enumerate(self.values)], axis=1)


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
