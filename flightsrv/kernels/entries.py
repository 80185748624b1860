"""Index entries side by side with the partitions they speak of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.key_forms import UNKNOWN, leads_to
from flightsrv.kernels.murmur3 import hash3_x64_128, token_of_hash
from flightsrv.kernels.native import compare

NOT_SAID = -1
"""What an index does not say of a partition: its key (as the key's size), path, hash, or what row indexes have (as its
header length)."""


class Entries(NamedTuple):
    """Entries of Index.db or Partitions.db: int64 (n,) each."""

    offset: np.ndarray[Any, Any]
    """Where the entry, or its node, starts in the file."""
    key_at: np.ndarray[Any, Any]
    """Address."""
    key_size: np.ndarray[Any, Any]
    """Or NOT_SAID: a narrow partition in Partitions.db."""
    path_at: np.ndarray[Any, Any]
    """Address of what its key's form begins with."""
    path_size: np.ndarray[Any, Any]
    """Or NOT_SAID: in Index.db."""
    hash: np.ndarray[Any, Any]
    """Lowest byte of the second half of its key's hash, or NOT_SAID."""
    position: np.ndarray[Any, Any]
    """Of the partition in Data.db."""
    row_index_at: np.ndarray[Any, Any]
    """Index in the data at hand of its row index; in Rows.db, of the entry that has it."""
    row_index_size: np.ndarray[Any, Any]
    """Bytes, 0 if it has none; in Rows.db, those of the entry."""
    header_length: np.ndarray[Any, Any]
    """What the row index says, as the next two; NOT_SAID without one."""
    deletion_us: np.ndarray[Any, Any]
    deletion_s: np.ndarray[Any, Any]


# What match says of an entry and a partition that are not each other's.
EXTRA_ENTRY, MISSING_ENTRY, OTHER_KEY, OTHER_PATH, OTHER_HASH = range(5)
OTHER_HEADER_LENGTH, OTHER_DELETION, ALL_MATCHED = range(5, 8)


@kernel
def _difference(entries, entry, partitions, partition, tokens):
    """What an entry says that is not so of its partition; ALL_MATCHED if nothing."""
    key_at, key_size = partitions.key_at[partition], partitions.key_size[partition]
    if entries.key_size[entry] != NOT_SAID:
        if entries.key_size[entry] != key_size or compare(entries.key_at[entry], key_at, key_size) != 0:
            return OTHER_KEY
    if entries.path_size[entry] != NOT_SAID:
        first, second = hash3_x64_128(key_at, key_size)
        token = token_of_hash(first, key_size)
        if tokens != UNKNOWN:
            if not leads_to(entries.path_at[entry], entries.path_size[entry], key_at, key_size, token, tokens):
                return OTHER_PATH
        if entries.hash[entry] != NOT_SAID and entries.hash[entry] != second & 0xFF:
            return OTHER_HASH
    if entries.header_length[entry] != NOT_SAID:
        if entries.header_length[entry] != partitions.header_length[partition]:
            return OTHER_HEADER_LENGTH
        if entries.deletion_us[entry] != partitions.deletion_us[partition]:
            return OTHER_DELETION
        if entries.deletion_s[entry] != partitions.deletion_s[partition]:
            return OTHER_DELETION
    return ALL_MATCHED


@kernel
def match(entries, entry, entry_stop, partitions, partition, partition_stop, tokens):
    """Go through entries and partitions side by side, both by position, to the first that differ.

    tokens: how the partitioner makes them, see key_forms. Returns (what differs, entry, partition), ALL_MATCHED at the
    end of both.
    """
    while entry < entry_stop or partition < partition_stop:
        if partition == partition_stop:
            return EXTRA_ENTRY, entry, partition
        if entry == entry_stop or entries.position[entry] > partitions.position[partition]:
            return MISSING_ENTRY, entry, partition
        if entries.position[entry] < partitions.position[partition]:
            return EXTRA_ENTRY, entry, partition
        difference = _difference(entries, entry, partitions, partition, tokens)
        if difference != ALL_MATCHED:
            return difference, entry, partition
        entry += 1
        partition += 1
    return ALL_MATCHED, entry, partition
