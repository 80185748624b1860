"""The order of clusterings and of partitions.

Source: org.apache.cassandra.db.ClusteringComparator, db.DecoratedKey.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.compounds import compare_values
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.scalars import compare_bytes, sign
from flightsrv.slab import CLUSTERING, KEY_AT, KEY_SIZE, KIND, NOT_IN_BOUND, TOKEN


@kernel
def side_of(kind):
    """-1, 0 or 1: whether a kind of clustering sorts before, at or after the rows with its values."""
    if kind == CLUSTERING:
        return 0
    return -1 if kind < CLUSTERING else 1


@kernel
def compare_clusterings(slabs, rules, run_a, row_a, run_b, row_b):
    """Order of two rows or markers of one partition.

    slabs: Slabs of all runs. rules: MergeRules.
    """
    side_a = side_of(slabs.rows[run_a, row_a, KIND])
    side_b = side_of(slabs.rows[run_b, row_b, KIND])
    for i in range(rules.comparators.size):
        a_size = np.int64(slabs.size[run_a, 1 + i, row_a])
        b_size = np.int64(slabs.size[run_b, 1 + i, row_b])
        if a_size == NOT_IN_BOUND or b_size == NOT_IN_BOUND:
            if a_size == b_size:
                break
            return side_a if a_size == NOT_IN_BOUND else -side_b
        order = compare_values(
            rules.comparators[i],
            slabs.at[run_a, 1 + i, row_a],
            a_size,
            slabs.at[run_b, 1 + i, row_b],
            b_size,
            rules.orders,
        )
        if order != 0:
            if rules.reverse[i] and a_size >= 0 and b_size >= 0:
                return -order
            return order
    return sign(side_a, side_b)


@kernel
def compare_partitions(slabs, run_a, partition_a, run_b, partition_b):
    """Order of two partitions: by token, then by the bytes of their keys."""
    order = sign(slabs.partitions[run_a, partition_a, TOKEN], slabs.partitions[run_b, partition_b, TOKEN])
    if order != 0:
        return order
    return compare_bytes(
        slabs.partitions[run_a, partition_a, KEY_AT],
        slabs.partitions[run_a, partition_a, KEY_SIZE],
        slabs.partitions[run_b, partition_b, KEY_AT],
        slabs.partitions[run_b, partition_b, KEY_SIZE],
    )
