"""Partitions, rows and markers as arrays: what becomes of them in files is in kernels.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ABSENT, LIVE, DELETED, EXPIRING = 0, 1, 2, 3
"""State of a cell, and (without DELETED) of a row's liveness."""
NOT_DELETED = -(2**63)
"""deleted_us of what is not deleted: Cassandra's own value."""
EXCL_END, INCL_START, END_START, ROW, END_START_AFTER, INCL_END, EXCL_START = 0, 1, 2, 4, 5, 6, 7
"""ClusteringPrefix.Kind as it is stored; kind of an unfiltered."""


class Partitions(NamedTuple):
    """Partitions in token order; arrays of one element a partition, or one more."""

    keys: np.ndarray
    """uint8: the keys back to back."""
    key_starts: np.ndarray
    """int64 (n + 1,)"""
    first: np.ndarray
    """int64 (n + 1,): where its unfiltereds start."""
    deleted_us: np.ndarray
    """int64 (n,): timestamp of the partition deletion, or NOT_DELETED."""


class Unfiltereds(NamedTuple):
    """Rows and range tombstone markers in the order of the table; arrays of one element each."""

    kind: np.ndarray
    """uint8: ROW, or the kind of a bound or boundary."""
    clustering: np.ndarray
    """int64: the clustering column's value, 8 bytes; not used where a table has none."""
    written_us: np.ndarray
    """int64: timestamp of liveness and of all cells."""
    liveness: np.ndarray
    """uint8: ABSENT, LIVE or EXPIRING."""
    ttl_s: np.ndarray
    """int64: time to live of whatever is EXPIRING."""
    deleted_us: np.ndarray
    """int64: row deletion, or the deletion of a bound (of a boundary: the one that ends); or NOT_DELETED."""
    opened_us: np.ndarray
    """int64: the deletion that a boundary starts."""
    cells: np.ndarray
    """uint8 (n, columns): state of each cell."""


class Bases(NamedTuple):
    """What the serialization header subtracts, and how partition deletions look."""

    timestamp_us: int
    local_deletion_time_s: int
    ttl_s: int
    clustered: bool
    unsigned_deletion_times: bool
    """oa: a partition deletion is one byte when there is none."""


class Blocks(NamedTuple):
    """Blocks of promoted indexes, in order; arrays of one element a block."""

    partition: np.ndarray
    first: np.ndarray
    last: np.ndarray
    """int64: the first and last unfiltered in it."""
    offset: np.ndarray
    width: np.ndarray
    open_us: np.ndarray
    """int64: range deletion open at the block's end, or NOT_DELETED."""
