"""The two kinds of memory that cross stages, and what merge makes of the second.

    Window      uncompressed bytes of Data.db
    Slabs       for each of k runs, rows as columns: where each value lies, and what is needed to reconcile it
    Selection   the rows that a reader shall see, as places of values

A value is never copied before it is written to its Arrow buffer: slabs and selections hold addresses (int64) and sizes
(int32) of values in windows. So all three are valid until their producer is asked for the next one, and no longer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

ABSENT = -1
"""Size of a value that is not there: no cell, or null."""
NOT_IN_BOUND = -2
"""Size of a clustering value behind the end of a bound's prefix."""

NO_TIMESTAMP = -(2**63)
"""Timestamp of a liveness or a deletion that is not there (Cassandra: LivenessInfo.NO_TIMESTAMP, DeletionTime.LIVE)."""
NO_DELETION_TIME = 2**63 - 1
"""Local deletion time of what neither expires nor is deleted."""
TOMBSTONE_TTL = -1
"""TTL of a deleted cell. A cell that does not expire has 0."""

# Columns of Slabs.partitions.
KEY_AT, KEY_SIZE, TOKEN, TOKEN_LOW, PARTITION_DELETION_US, PARTITION_DELETION_S, FIRST_ROW, PARTITION_FIELDS = range(8)
# Columns of Slabs.rows. A marker's deletion stands in DELETION_*; that of the range a boundary opens in LIVENESS_US and
# LIVENESS_EXPIRES_S.
KIND, LIVENESS_US, LIVENESS_TTL_S, LIVENESS_EXPIRES_S, DELETION_US, DELETION_S, SHADOWABLE, HAS_CELLS, ROW_FIELDS = (
    range(9)
)

# Values of KIND: ClusteringPrefix.Kind's ordinals.
EXCL_END_BOUND, INCL_START_BOUND, EXCL_END_INCL_START_BOUNDARY, STATIC_CLUSTERING, CLUSTERING = range(5)
INCL_END_EXCL_START_BOUNDARY, INCL_END_BOUND, EXCL_START_BOUND = range(5, 8)

# Facts about a slab, as bits: with none of them each of its rows is seen as it is.
HAS_DELETIONS, HAS_EXPIRING, HAS_STATICS, HAS_EMPTY_ROWS, HAS_SHADOWABLE = 1, 2, 4, 8, 16


@dataclass(slots=True)
class Window:
    """Uncompressed bytes: data[start:stop] are those from `position` on. Its consumer calls release() once."""

    data: Array
    """uint8, at least SLACK bytes longer than stop."""
    start: int
    stop: int
    position: int
    pool: BufferPool | None = None

    def release(self) -> None:
        """Let the window's memory be used again."""
        if self.pool is not None:
            self.pool.give(self.data)


class Slabs(NamedTuple):
    """The slabs of k runs, one beside the other, for kernels.

    Value columns are the partition key, the clustering columns, the static columns and the regular ones, in this order;
    cell columns are the last two kinds.
    """

    at: Array
    """int64 (runs, values, rows): address of each value."""
    size: Array
    """int32 (runs, values, rows): its bytes, ABSENT or NOT_IN_BOUND."""
    cell_us: Array
    """int64 (runs, cells, rows): timestamp."""
    cell_expires_s: Array
    """int64 (runs, cells, rows): local deletion time, NO_DELETION_TIME if none."""
    cell_ttl_s: Array
    """int32 (runs, cells, rows): 0 if none, TOMBSTONE_TTL for a deleted cell."""
    rows: Array
    """int64 (runs, rows, ROW_FIELDS)."""
    partitions: Array
    """int64 (runs, partitions, PARTITION_FIELDS)."""

    def of(self, run: int) -> Slabs:
        """The slab of one run: each array without its first dimension."""
        return Slabs(*(array[run] for array in self))


def allocate_slabs(runs: int, clustering: int, cells: int, rows: int) -> Slabs:
    """Slabs of `rows` rows a run; every size is ABSENT."""
    values = 1 + clustering + cells
    return Slabs(
        at=np.zeros((runs, values, rows), np.int64),
        size=np.full((runs, values, rows), ABSENT, np.int32),
        cell_us=np.zeros((runs, cells, rows), np.int64),
        cell_expires_s=np.zeros((runs, cells, rows), np.int64),
        cell_ttl_s=np.zeros((runs, cells, rows), np.int32),
        rows=np.zeros((runs, rows, ROW_FIELDS), np.int64),
        partitions=np.zeros((runs, rows, PARTITION_FIELDS), np.int64),
    )


@dataclass(slots=True)
class SlabPart:
    """What decode says about the slab it has just filled."""

    row_count: int
    partition_count: int
    continues: bool
    """The last partition goes on in the run's next slab."""
    facts: int


class Selection(NamedTuple):
    """Rows to be seen: count of them, and where each value lies, values as in Slabs."""

    at: Array
    """int64 (values, rows)."""
    size: Array
    """int32 (values, rows)."""
    start: int
    stop: int


class BufferPool:
    """Memory that is used again: touching fresh memory costs ten times what touching warm memory does.

    Any thread may take and give back. Buffers come in steps of STEP_BYTES; of each size up to MAX_BYTES, at most
    `keep` are kept for later.
    """

    STEP_BYTES = 256 * 1024
    MAX_BYTES = 8 * 1024 * 1024

    def __init__(self, keep: int = 24) -> None:
        sizes = range(self.STEP_BYTES, self.MAX_BYTES + 1, self.STEP_BYTES)
        self._free: dict[int, deque[Array]] = {size: deque(maxlen=keep) for size in sizes}

    def take(self, size: int) -> Array:
        """A uint8 array of at least `size` bytes, its content undefined."""
        size = -(-size // self.STEP_BYTES) * self.STEP_BYTES
        try:
            return self._free[size].pop()
        except (KeyError, IndexError):
            return np.empty(size, np.uint8)

    def give(self, buffer: Array) -> None:
        """Let a buffer be taken again."""
        if buffer.size in self._free:
            self._free[buffer.size].append(buffer)
