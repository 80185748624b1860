"""What the kernels of one run are told of its SSTable, and what they carry from call to call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.compounds import Orders

# State that a run carries from call to call.
IN_PARTITION, OPEN_KEY_AT, OPEN_KEY_SIZE, OPEN_TOKEN, OPEN_TOKEN_LOW = range(5)
OPEN_DELETION_US, OPEN_DELETION_S, SKIPPING, FIELD, FACTS, ROW_COUNT, PARTITION_COUNT, STATE_FIELDS = range(5, 13)

# Columns of RunHeader.numbers.
MIN_TIMESTAMP_US, MIN_DELETION_TIME_S, MIN_TTL_S, UNSIGNED_DELETION_TIME, STATIC_COLUMNS, TOKENS = range(6)
TOKEN_AFTER, TOKEN_AFTER_LOW, TOKEN_UPTO, TOKEN_UPTO_LOW, KEY_COMPARATOR, RUN_NUMBERS = range(6, 12)
"""TOKENS: kernels/tokens.py has them; TOKEN_*: halves. KEY_COMPARATOR: kernels/order.py has it."""

# What a damaged place is called; index into FIELDS.
FIELDS = (
    "",
    "row flags",
    "extended flags",
    "clustering header",
    "clustering value length",
    "unfiltered size",
    "ttl",
    "column subset",
    "cell flags",
    "cell value length",
    "complex column",
    "marker kind",
    "marker bound size",
    "partition order",
    "partition deletion",
    "static row",
)
F_FLAGS, F_EXTENDED, F_CLUSTERING, F_CLUSTERING_LENGTH, F_SIZE, F_TTL, F_SUBSET, F_CELL_FLAGS, F_CELL_LENGTH = range(
    1, 10
)
F_COMPLEX, F_KIND, F_BOUND_SIZE, F_ORDER, F_PARTITION_DELETION, F_STATIC = range(10, 16)


class RunHeader(NamedTuple):
    """What kernels must know of one SSTable: its serialization header, matched with the table's schema."""

    numbers: np.ndarray[Any, Any]
    """int64 (RUN_NUMBERS,)."""
    clustering_size: np.ndarray[Any, Any]
    """int32 (clustering,): bytes of a value of the column's type, -1 if each value says its own."""
    column_size: np.ndarray[Any, Any]
    """int32 (columns,): likewise; static columns first, then regular ones, in the file's order."""
    column_cell: np.ndarray[Any, Any]
    """int32 (columns,): which cell column of the slab it fills, -1 for none."""
    column_complex: np.ndarray[Any, Any]
    """int8 (columns,): 1 for a non-frozen collection or UDT."""
    column_fields: np.ndarray[Any, Any]
    """int32 (columns,): how many fields a non-frozen UDT has, 0 for all other types."""
    dropped_us: np.ndarray[Any, Any]
    """int64 (columns,): cells up to this timestamp belong to a dropped column; NO_TIMESTAMP if it never was dropped."""
    present: np.ndarray[Any, Any]
    """int8 (columns,): scratch."""
    orders: Orders
    """Of KEY_COMPARATOR."""
    element: np.ndarray[Any, Any]
    """int64 (ELEMENT_FIELDS,): scratch."""
