"""Statistics.db against Data.db: what Cassandra counts while it writes, counted again.

Only what Cassandra counts exactly is compared. Where this reader cannot see all times (shadowable deletions), those it
sees must lie within what the file says.
"""

from __future__ import annotations

import ctypes

import numpy as np

from flightsrv.cql.schema import TableSchema
from flightsrv.kernels.partitions import Partitions
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.tally import PARTITION_DELETIONS, ROWS, STATIC_ROWS
from flightsrv.scan.times import Times
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
        self._times = Times(schema, header)
        self._tally = self._times.tally
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
        self._times.add_partitions(found.deletion_us, found.deletion_s)
        if not self.partition_count:
            self._first_key = _key(found, 0)
        self._last_key = _key(found, -1)
        self.partition_count += found.position.size

    def add_rows(self, slab: Slabs, row_count: int) -> None:
        """Count the first rows of a slab."""
        self._times.add_rows(slab, row_count)

    def compare(self, data_length: int, has_shadowable: bool) -> None:
        """There are no more: compare what was counted with what the file says."""
        self._add_sizes(np.array([data_length], np.int64))
        self._compare_sizes()
        self._compare_keys()
        self._compare_rows()
        for field, what in self._times.differences(self._stats, is_exact=not has_shadowable):
            self._error(field, what)

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

    def _error(self, field: str, what: str) -> None:
        self._report.error("Statistics.db", what, field=f"STATS.{field}")


def _key(found: Partitions, i: int) -> bytes:
    return ctypes.string_at(int(found.key_at[i]), int(found.key_size[i]))
