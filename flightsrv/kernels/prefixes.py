"""Clusterings and deletion times stepped over: where they end, and what a deletion says.

The same bytes stand in Data.db and in the row indexes of Index.db. Source: org.apache.cassandra.db.ClusteringPrefix,
db.ClusteringBoundOrBoundary, db.DeletionTime.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.cells import INVALID_DELETION_TIME, MAX_VALUE_BYTES
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.vint import be16_at, be32_at, be64_at, byte_at, uvint_at
from flightsrv.slab import CLUSTERING, EXCL_START_BOUND, NO_DELETION_TIME, NO_TIMESTAMP, STATIC_CLUSTERING

ENDS_EARLY, DAMAGED = -1, -2
"""In place of an index: the bytes stop before the thing does; they cannot be one."""


@kernel
def clustering_end(data, at, stop, sizes, count):
    """The index behind `count` clustering values, or ENDS_EARLY or DAMAGED.

    data: uint8 (n,), stop + SLACK <= n. sizes: int32 (clustering,), as in RunHeader.
    """
    bits = np.int64(0)
    for i in range(count):
        if i & 31 == 0:
            if at >= stop:
                return ENDS_EARLY
            bits, at = uvint_at(data, at)
            batch = min(count - i, 32)
            if batch < 32 and bits >> (2 * batch) != 0:
                return DAMAGED
        kind = bits >> (2 * (i & 31)) & 3
        if kind == 3:
            return DAMAGED
        size = np.int64(0)
        if kind == 0:
            size = np.int64(sizes[i])
            if size < 0:
                if at >= stop:
                    return ENDS_EARLY
                size, at = uvint_at(data, at)
                if size < 0 or size > MAX_VALUE_BYTES:
                    return DAMAGED
        if at > stop or size > stop - at:
            return ENDS_EARLY
        at += size
    return at


@kernel
def bound_end(data, at, stop, sizes):
    """The same for a bound, from its kind on."""
    if at + 3 > stop:
        return ENDS_EARLY
    kind = byte_at(data, at)
    count = be16_at(data, at + 1)
    if kind > EXCL_START_BOUND or kind == STATIC_CLUSTERING or kind == CLUSTERING or count > sizes.size:
        return DAMAGED
    return clustering_end(data, at + 3, stop, sizes, count)


@kernel
def prefix_end(data, at, stop, sizes):
    """The same for a row's clustering behind its kind, or a bound: how row indexes have them."""
    if at >= stop:
        return ENDS_EARLY
    if byte_at(data, at) == CLUSTERING:
        return clustering_end(data, at + 1, stop, sizes, sizes.size)
    return bound_end(data, at, stop, sizes)


@kernel
def deletion_at(data, at, stop, is_unsigned):
    """A deletion time that stands by itself: (the index behind it, or ENDS_EARLY or DAMAGED; µs; s).

    is_unsigned: the form of oa and da. NO_TIMESTAMP and NO_DELETION_TIME if nothing is deleted.
    """
    if at >= stop:
        return ENDS_EARLY, np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if is_unsigned and byte_at(data, at) & 0x80:
        after = at + 1 if byte_at(data, at) == 0x80 else DAMAGED
        return after, np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if at + 12 > stop:
        return ENDS_EARLY, np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if is_unsigned:
        return at + 12, np.int64(be64_at(data, at)), np.int64(be32_at(data, at + 8))
    us = np.int64(be64_at(data, at + 4))
    seconds = np.int64(be32_at(data, at))
    if us == NO_TIMESTAMP and seconds == 0x7FFFFFFF:
        return at + 12, us, np.int64(NO_DELETION_TIME)
    return at + 12, us, seconds if seconds < 1 << 31 else np.int64(INVALID_DELETION_TIME)
