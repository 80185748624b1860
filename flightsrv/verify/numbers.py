"""Statistics.db against Data.db: what Cassandra counts while it writes, counted again.

Only what Cassandra counts exactly is compared. Where this reader cannot see all times (shadowable deletions), those it
sees must lie within what the file says.
"""

from __future__ import annotations

import ctypes

import numpy as np

from flightsrv.cql.schema import TableSchema
from flightsrv.kernels.cells import INVALID_DELETION_TIME
from flightsrv.kernels.partitions import Partitions
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.tally import (
    MAX_S,
    MAX_TTL_S,
    MAX_US,
    MIN_S,
    MIN_TTL_S,
    MIN_US,
    PARTITION_DELETIONS,
    ROWS,
    STATIC_ROWS,
    TALLY_FIELDS,
    TIMES,
    TTLS,
    tally_partitions,
    tally_rows,
)
from flightsrv.slab import Slabs
from flightsrv.sstable.stats import Stats
from flightsrv.verify.findings import Report


class Numbers:
    """Counts partitions and rows as they come."""

    def __init__(self, report: Report, stats: Stats, schema: TableSchema, header: RunHeader) -> None:
        """schema, header: by which the rows are decoded."""
        self.partition_count = 0
        self._report = report
        self._stats = stats
        self._header = header
        self._statics = len(schema.static)
        self._is_complex = np.array([column.type.is_multicell for column in schema.static + schema.regular], np.bool_)
        self._tally = np.zeros(TALLY_FIELDS, np.int64)
        self._sizes = np.zeros(stats.partition_sizes.counts.size, np.int64)
        self._last_position = np.empty(0, np.int64)
        self._first_key = self._last_key = b""

    @property
    def row_count(self) -> int:
        """Rows so far, static ones included."""
        return int(self._tally[ROWS] + self._tally[STATIC_ROWS])

    def look(self, found: Partitions) -> None:
        """Count the next partitions."""
        if not found.position.size:
            return
        self._add_sizes(found.position)
        tally_partitions(found.deletion_us, found.deletion_s, self._tally)
        if not self.partition_count:
            self._first_key = _key(found, 0)
        self._last_key = _key(found, -1)
        self.partition_count += found.position.size

    def add_rows(self, slab: Slabs, row_count: int) -> None:
        """Count the first rows of a slab."""
        tally_rows(slab, row_count, self._statics, self._header, self._is_complex, self._tally)

    def compare(self, data_length: int, has_shadowable: bool) -> None:
        """There are no more: compare what was counted with what the file says."""
        self._add_sizes(np.array([data_length], np.int64))
        self._compare_sizes()
        self._compare_keys()
        self._compare_rows()
        sees_times = not has_shadowable
        tally = self._tally.tolist()
        stats = self._stats
        if tally[TIMES]:
            said = stats.min_timestamp_us, stats.max_timestamp_us
            self._compare_range("timestamp_us", said, (tally[MIN_US], tally[MAX_US]), sees_times)
            said = stats.min_local_deletion_time_s, stats.max_local_deletion_time_s
            found = tally[MIN_S], tally[MAX_S]
            # What overflowed is written in several ways.
            if min(said) >= 0 and INVALID_DELETION_TIME not in found:
                self._compare_range("local_deletion_time_s", said, found, sees_times)
        if tally[TTLS]:
            said = stats.min_ttl_s, stats.max_ttl_s
            self._compare_range("ttl_s", said, (tally[MIN_TTL_S], tally[MAX_TTL_S]), is_exact=True)

    def _add_sizes(self, positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        """Put into the histogram the partitions that end where the next ones start."""
        sizes = np.diff(positions, prepend=self._last_position)
        self._last_position = positions[-1:].copy()
        buckets = np.searchsorted(self._stats.partition_sizes.offsets, sizes)
        self._sizes += np.bincount(buckets, minlength=self._sizes.size)

    def _compare_sizes(self) -> None:
        said = self._stats.partition_sizes
        for bucket in np.flatnonzero(said.counts != self._sizes)[:1].tolist():
            sizes = f"up to {said.offsets[bucket]}" if bucket < said.offsets.size else f"above {said.offsets[-1]}"
            what = f"{said.counts[bucket]} partitions of {sizes} bytes in the file, {self._sizes[bucket]} in Data.db"
            self._error("partition_sizes", what)

    def _compare_keys(self) -> None:
        for field, said, found in (
            ("first_key", self._stats.first_key, self._first_key),
            ("last_key", self._stats.last_key, self._last_key),
        ):
            if said is not None and said != found:
                self._error(field, f"0x{said.hex()} in the file, 0x{found.hex()} in Data.db")
        said_deletions = self._stats.has_partition_level_deletions
        found_deletions = int(self._tally[PARTITION_DELETIONS])
        if said_deletions is not None and said_deletions != (found_deletions > 0):
            what = f"{said_deletions} in the file, but {found_deletions} partitions of Data.db are deleted"
            self._error("has_partition_level_deletions", what)

    def _compare_rows(self) -> None:
        if self._stats.total_rows != self.row_count:
            self._error("total_rows", f"{self._stats.total_rows} in the file, {self.row_count} in Data.db")

    def _compare_range(self, name: str, said: tuple[int, int], found: tuple[int, int], is_exact: bool) -> None:
        if said[0] > found[0] or (is_exact and said[0] != found[0]):
            self._error(f"min_{name}", f"{said[0]} in the file, {found[0]} in Data.db")
        if said[1] < found[1] or (is_exact and said[1] != found[1]):
            self._error(f"max_{name}", f"{said[1]} in the file, {found[1]} in Data.db")

    def _error(self, field: str, what: str) -> None:
        self._report.error("Statistics.db", what, field=f"STATS.{field}")


def _key(found: Partitions, i: int) -> bytes:
    return ctypes.string_at(int(found.key_at[i]), int(found.key_size[i]))
