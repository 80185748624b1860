"""What the tries of Partitions.db and Rows.db hold for keys and clusterings, many a call.

Source: org.apache.cassandra.io.sstable.format.bti.PartitionIndex, RowIndexReader, io.util.SizedInts.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.prefixes import deletion_at
from flightsrv.kernels.status import CORRUPT, DONE
from flightsrv.kernels.vint import byte_at
from flightsrv.slab import NO_DELETION_TIME, NO_TIMESTAMP

HAS_HASH, HAS_OPEN_DELETION = 8, 8
"""Flags of a partition's payload, and of a block's."""
NO_HASH = -1


@kernel
def sized_at(data, at, size):
    """The signed integer of `size` bytes, 1 to 8, at index `at`."""
    value = np.int64(byte_at(data, at) - ((byte_at(data, at) & 0x80) << 1))
    for i in range(1, size):
        value = (value << 8) | byte_at(data, at + i)
    return value


@kernel
def partition_targets(data, stop, nodes, made, key_hash, target):
    """Read the payloads of nodes of Partitions.db.

    data: uint8 (n,), stop + SLACK <= n; nodes: the first `made` of Nodes. Outputs, int64 (made,): the byte of the
    hash, or NO_HASH; the offset in Rows.db, or below 0 the inverted position in Data.db. Returns (status, i): CORRUPT
    with the first node whose payload does not end before `stop`.
    """
    for i in range(made):
        at, size = nodes.payload[i], nodes.flags[i]
        key_hash[i] = NO_HASH
        if size >= HAS_HASH:
            key_hash[i] = byte_at(data, at)
            at += 1
            size -= HAS_HASH - 1
        if at + size > stop:
            return CORRUPT, i
        target[i] = sized_at(data, at, size)
    return DONE, made


@kernel
def block_at(data, at, flags, stop):
    """A payload of a row index: (the index behind it, below 0 if it makes no sense; start of the block; deletion µs and
    s of the range that is open there)."""
    size = flags & (HAS_OPEN_DELETION - 1)
    us, s = np.int64(NO_TIMESTAMP), np.int64(NO_DELETION_TIME)
    if size == 0 or size > stop - at:
        return np.int64(-1), np.int64(0), us, s
    start = sized_at(data, at, size)
    at += size
    if flags & HAS_OPEN_DELETION:
        at, us, s = deletion_at(data, at, stop, np.int64(1))
    return (at if start >= 0 else np.int64(-1)), start, us, s
