"""Summary.db: every 128th entry of Index.db, so that a lookup reads a short stretch of it.

    i32      min_index_interval       how many entries of Index.db there are for one here at full sampling
    i32      entry count
    i64      size of offsets and entries
    i32      sampling_level           1 to 128; 128 is full
    i32      size_at_full_sampling    entries there would be
    i32 le   offset of each entry, from the first offset on
    entries  key, i64 le position in Index.db
    ibytes   first key
    ibytes   last key

Little-endian integers (le) are in the byte order of the machine that wrote the file. Cassandra builds the file anew
when it is missing, so never trust it more than Index.db.

Source: org.apache.cassandra.io.sstable.indexsummary.IndexSummary (3.0 to 5.0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flightsrv.sstable.cursor import Cursor

FULL_SAMPLING_LEVEL = 128
POSITION_SIZE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Keys and where in Index.db their entries start, both ascending."""

    min_index_interval: int
    sampling_level: int
    size_at_full_sampling: int
    entries: npt.NDArray[np.uint8]
    """Keys and positions, as stored."""
    bounds: npt.NDArray[np.int64]
    """(n + 1,): entry i is entries[bounds[i] : bounds[i + 1]]; its last 8 bytes are its position."""
    index_offsets: npt.NDArray[np.int64]
    """(n,): where in Index.db the entry of each key starts."""
    first_key: bytes
    last_key: bytes

    @property
    def entry_count(self) -> int:
        """How many keys there are."""
        return self.index_offsets.size

    def key(self, i: int) -> bytes:
        """The key of entry i."""
        return self.entries[self.bounds[i] : self.bounds[i + 1] - POSITION_SIZE].tobytes()


def parse(cursor: Cursor) -> Summary:
    """Read a whole Summary.db.

    Raises CorruptSSTableError when offsets or positions do not ascend, or sizes do not fit each other.
    """
    min_index_interval = cursor.i32("min_index_interval")
    cursor.require(min_index_interval > 0, "min_index_interval", f"{min_index_interval} is not above 0")
    entry_count = cursor.i32("entry count")
    cursor.require(entry_count > 0, "entry count", f"{entry_count} is not above 0")
    size = cursor.i64("size")
    sampling_level = cursor.i32("sampling_level")
    cursor.require(
        1 <= sampling_level <= FULL_SAMPLING_LEVEL, "sampling_level", f"{sampling_level} is not from 1 to 128"
    )
    size_at_full_sampling = cursor.i32("size_at_full_sampling")
    cursor.require(
        size_at_full_sampling >= entry_count, "size_at_full_sampling", f"it is {size_at_full_sampling} of {entry_count}"
    )
    offsets = cursor.array("offsets", "<i4", entry_count).astype(np.int64)
    entries = cursor.array("entries", np.uint8, size - 4 * entry_count)
    bounds = np.append(offsets, size) - 4 * entry_count
    cursor.require(
        bounds[0] == 0 and bounds[1] >= POSITION_SIZE and bool((np.diff(bounds[1:]) > POSITION_SIZE).all()),
        "entries",
        "their offsets do not ascend from 0",
    )
    position_bytes = entries[bounds[1:, None] + np.arange(-POSITION_SIZE, 0)]
    index_offsets = position_bytes.view("<i8")[:, 0].astype(np.int64)
    cursor.require(
        index_offsets[0] == 0 and bool((np.diff(index_offsets) > 0).all()), "entries", "positions do not ascend from 0"
    )
    first_key = cursor.ibytes("first_key")
    last_key = cursor.ibytes("last_key")
    cursor.end()
    return Summary(
        min_index_interval, sampling_level, size_at_full_sampling, entries, bounds, index_offsets, first_key, last_key
    )
