"""Rows of a slab counted, with the least and greatest of their times, as Statistics.db has them; and their order.

Source: org.apache.cassandra.io.sstable.metadata.MetadataCollector, db.rows.Rows.collectStats.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.cells import ELEMENT_EXPIRES_S, ELEMENT_TTL_S, ELEMENT_US, element_from
from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.order import compare_clusterings
from flightsrv.slab import (
    ABSENT,
    CLUSTERING,
    DELETION_S,
    DELETION_US,
    EXCL_END_INCL_START_BOUNDARY,
    FIRST_ROW,
    INCL_END_EXCL_START_BOUNDARY,
    KIND,
    LIVENESS_EXPIRES_S,
    LIVENESS_TTL_S,
    LIVENESS_US,
    NO_TIMESTAMP,
    STATIC_CLUSTERING,
)

# What tally adds up.
PARTITION_DELETIONS, ROWS, STATIC_ROWS, MARKERS = range(4)
TIMES, MIN_US, MAX_US, MIN_S, MAX_S, TTLS, MIN_TTL_S, MAX_TTL_S, TALLY_FIELDS = range(4, 13)
"""STATIC_ROWS counts those that have cells. TIMES, TTLS: how many the least and greatest are of."""


class ClusteringOrder(NamedTuple):
    """How clusterings compare: see MergeRules."""

    comparators: np.ndarray[Any, Any]
    reverse: np.ndarray[Any, Any]
    orders: Orders


@kernel
def _add_time(tally, us, s):
    first = tally[TIMES] == 0
    tally[TIMES] += 1
    tally[MIN_US] = us if first else min(tally[MIN_US], us)
    tally[MAX_US] = us if first else max(tally[MAX_US], us)
    tally[MIN_S] = s if first else min(tally[MIN_S], s)
    tally[MAX_S] = s if first else max(tally[MAX_S], s)


@kernel
def _add_ttl(tally, ttl_s):
    first = tally[TTLS] == 0
    tally[TTLS] += 1
    tally[MIN_TTL_S] = ttl_s if first else min(tally[MIN_TTL_S], ttl_s)
    tally[MAX_TTL_S] = ttl_s if first else max(tally[MAX_TTL_S], ttl_s)


@kernel
def _add_elements(slab, row, cell, header, tally):
    """The deletion and the elements of a complex column."""
    if slab.cell_us[cell, row] != NO_TIMESTAMP:
        _add_time(tally, slab.cell_us[cell, row], slab.cell_expires_s[cell, row])
    value = slab.size.shape[0] - slab.cell_us.shape[0] + cell
    place = slab.at[value, row]
    end = place + slab.size[value, row]
    us = slab.rows[row, LIVENESS_US]
    ttl_s = slab.rows[row, LIVENESS_TTL_S]
    expires_s = slab.rows[row, LIVENESS_EXPIRES_S]
    element = header.element
    for _ in range(slab.cell_ttl_s[cell, row]):
        place = element_from(place, end, us, ttl_s, expires_s, header.numbers, element)
        _add_time(tally, element[ELEMENT_US], element[ELEMENT_EXPIRES_S])
        _add_ttl(tally, max(element[ELEMENT_TTL_S], 0))


@kernel
def _add_row(slab, row, first_cell, last_cell, header, is_complex, tally):
    """Its liveness, its deletion, its cells [first_cell, last_cell). Returns how many of these there are."""
    values = slab.size.shape[0] - slab.cell_us.shape[0]
    parts = 0
    if slab.rows[row, LIVENESS_US] != NO_TIMESTAMP:
        _add_time(tally, slab.rows[row, LIVENESS_US], slab.rows[row, LIVENESS_EXPIRES_S])
        _add_ttl(tally, slab.rows[row, LIVENESS_TTL_S])
        parts += 1
    if slab.rows[row, DELETION_US] != NO_TIMESTAMP:
        _add_time(tally, slab.rows[row, DELETION_US], slab.rows[row, DELETION_S])
        parts += 1
    for cell in range(first_cell, last_cell):
        if slab.size[values + cell, row] == ABSENT:
            continue
        parts += 1
        if is_complex[cell]:
            _add_elements(slab, row, cell, header, tally)
        else:
            _add_time(tally, slab.cell_us[cell, row], slab.cell_expires_s[cell, row])
            _add_ttl(tally, max(np.int64(slab.cell_ttl_s[cell, row]), 0))
    return parts


@kernel
def tally_rows(slab, row_count, statics, header, is_complex, tally):
    """Add the first rows of a slab.

    slab: Slabs.of(run). statics: how many of its cell columns, the first ones, are static. is_complex:
    bool (cells,). header: the run's. tally: int64 (TALLY_FIELDS,).
    """
    cells = slab.cell_us.shape[0]
    for row in range(row_count):
        kind = slab.rows[row, KIND]
        if kind == CLUSTERING:
            _add_row(slab, row, statics, cells, header, is_complex, tally)
            tally[ROWS] += 1
        elif kind == STATIC_CLUSTERING:
            tally[STATIC_ROWS] += 1 if _add_row(slab, row, np.int64(0), statics, header, is_complex, tally) > 0 else 0
        else:
            tally[MARKERS] += 1
            _add_time(tally, slab.rows[row, DELETION_US], slab.rows[row, DELETION_S])
            if kind == EXCL_END_INCL_START_BOUNDARY or kind == INCL_END_EXCL_START_BOUNDARY:
                _add_time(tally, slab.rows[row, LIVENESS_US], slab.rows[row, LIVENESS_EXPIRES_S])


@kernel
def tally_partitions(deletion_us, deletion_s, tally):
    """Add the deletions of partitions, int64 (n,) each."""
    for i in range(deletion_us.size):
        if deletion_us[i] != NO_TIMESTAMP:
            _add_time(tally, deletion_us[i], deletion_s[i])
            tally[PARTITION_DELETIONS] += 1


@kernel
def first_unordered(slabs, row_count, partition_count, order, has_last):
    """The first row or marker of run 0 that does not come after the one before it in its partition.

    slabs: Slabs of two runs; with has_last, the first row of run 1 is the one that came before those of run 0. order:
    ClusteringOrder. Returns (row, partition), row_count if there is none.
    """
    partitions = slabs.partitions
    partition = 0
    for row in range(row_count):
        is_first = row == 0 and not has_last
        while partition + 1 < partition_count and partitions[0, partition + 1, FIRST_ROW] <= row:
            partition += 1
            is_first = True
        if is_first or slabs.rows[0, row, KIND] == STATIC_CLUSTERING:
            continue
        run, previous = (1, 0) if row == 0 else (0, row - 1)
        if slabs.rows[run, previous, KIND] == STATIC_CLUSTERING:
            continue
        if compare_clusterings(slabs, order, run, previous, 0, row) >= 0:
            return row, partition
    return row_count, partition


@kernel
def first_uncovered(slabs, row_count, order, start):
    """The first row or marker of run 0 that does not lie between two bounds, or row_count.

    start: where in run 1 the bound before all rows is; the one behind them follows. Returns (row, the bound it is
    beyond).
    """
    for row in range(row_count):
        if slabs.rows[0, row, KIND] != STATIC_CLUSTERING:
            for bound in range(start, start + 2):
                side = compare_clusterings(slabs, order, 1, bound, 0, row)
                if side > 0 if bound == start else side < 0:
                    return row, bound
    return row_count, start
