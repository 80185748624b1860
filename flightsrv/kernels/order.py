"""The order of clusterings and of partitions.

Source: org.apache.cassandra.db.ClusteringComparator, db.DecoratedKey.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.compounds import compare_values
from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.scalars import BYTES, compare_bytes, sign
from flightsrv.kernels.strings import compare_strings
from flightsrv.slab import CLUSTERING, KEY_AT, KEY_SIZE, KIND, NOT_IN_BOUND, TOKEN, TOKEN_LOW

# Instead of a comparator of partition keys.
STRINGS = -1
"""As Java strings: kernels/strings.py."""
ANY_ORDER = -2
"""Keys are in whatever order they are found in: it is not known, or not looked at."""


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


@outlined_kernel
def _compare_by_type(comparator, a, a_size, b, b_size, orders):
    if comparator == STRINGS:
        return np.int64(compare_strings(a, a_size, b, b_size))
    return np.int64(compare_values(comparator, a, a_size, b, b_size, orders))


@kernel
def compare_keys(comparator, a, a_size, b, b_size, orders):
    """Order of two partition keys with equal tokens: by comparator, which is one of the Orders or STRINGS, then by
    their bytes."""
    order = np.int64(0)
    if comparator != BYTES:
        order = _compare_by_type(comparator, a, a_size, b, b_size, orders)
    return order if order != 0 else compare_bytes(a, a_size, b, b_size)


@kernel
def compare_partitions(slabs, rules, run_a, partition_a, run_b, partition_b):
    """Order of two partitions: by token, then by key."""
    a = slabs.partitions[run_a, partition_a]
    b = slabs.partitions[run_b, partition_b]
    if a[TOKEN] != b[TOKEN]:
        return sign(a[TOKEN], b[TOKEN])
    if a[TOKEN_LOW] != b[TOKEN_LOW]:
        return sign(a[TOKEN_LOW], b[TOKEN_LOW])
    return compare_keys(rules.key_comparator, a[KEY_AT], a[KEY_SIZE], b[KEY_AT], b[KEY_SIZE], rules.orders)
