"""Whether the times of an SSTable's rows are those that were written: Statistics.db of Cassandra 3 has no checksum.

Data.db holds times as differences from three minima of the serialization header. A changed bit there moves all times
of the SSTable at once: other cells win, others have expired. The minima are written beside the least times of
StatsMetadata, and mostly are the same. They are not when rows were overwritten in memory, or purged by a compaction,
before they were written; then the times that a scan decodes are compared with those of StatsMetadata.

Source: org.apache.cassandra.db.SerializationHeader.make, rows.EncodingStats, io.sstable.metadata.MetadataCollector.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from flightsrv.cql.schema import TableSchema
from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.kernels.cells import INVALID_DELETION_TIME
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.tally import (
    MAX_S,
    MAX_TTL_S,
    MAX_US,
    MIN_S,
    MIN_TTL_S,
    MIN_US,
    TALLY_FIELDS,
    TIMES,
    TTLS,
    tally_partitions,
    tally_rows,
)
from flightsrv.scan.sstables import SSTable
from flightsrv.slab import (
    HAS_SHADOWABLE,
    NO_TIMESTAMP,
    PARTITION_DELETION_S,
    PARTITION_DELETION_US,
    Array,
    SlabPart,
    Slabs,
)
from flightsrv.sstable.statistics import Statistics
from flightsrv.sstable.stats import NO_DELETION_TIME_S, Stats

SCYLLA = "Scylla.db"
"""A component of ScyllaDB's: what its writer counts is not known here."""


def are_sure(sstable: SSTable) -> bool:
    """Whether the minima of the header need not be compared with the rows."""
    if sstable.descriptor.version.has_metadata_checksum or SCYLLA in sstable.components:
        return True
    return _minima_agree(sstable.statistics)


def _minima_agree(statistics: Statistics) -> bool:
    header, stats = statistics.header, statistics.stats
    # Where nothing is deleted or expires, and where nothing has a TTL, nothing is counted from the minimum.
    is_deletion_time_known = stats.min_local_deletion_time_s == NO_DELETION_TIME_S or (
        # One that overflowed is negative in one of the two.
        (stats.min_local_deletion_time_s - header.min_local_deletion_time_s) % 2**32 == 0
    )
    # The header's is of what has a TTL, the other of all.
    is_ttl_known = stats.max_ttl_s == 0 or header.min_ttl_s == (stats.min_ttl_s or stats.max_ttl_s)
    return header.min_timestamp_us == stats.min_timestamp_us and is_deletion_time_known and is_ttl_known


class Times:
    """The least and greatest times of an SSTable's rows, as they are decoded."""

    def __init__(self, schema: TableSchema, header: RunHeader) -> None:
        """schema, header: by which the rows are decoded."""
        self.tally = np.zeros(TALLY_FIELDS, np.int64)
        self._statics = len(schema.static)
        self._is_complex = np.array([column.type.is_multicell for column in schema.static + schema.regular], np.bool_)
        self._header = header

    def add_rows(self, slab: Slabs, row_count: int) -> None:
        """Look at the first rows of a slab."""
        tally_rows(slab, row_count, self._statics, self._header, self._is_complex, self.tally)

    def add_partitions(self, deletion_us: Array, deletion_s: Array) -> None:
        """Look at the deletions of partitions: int64 (n,) each, contiguous."""
        tally_partitions(deletion_us, deletion_s, self.tally)

    def differences(self, stats: Stats, is_exact: bool) -> Iterator[tuple[str, str]]:
        """Where the file says something else, by field. is_exact: these are all the rows with all of their times;
        else they must lie within what the file says."""
        tally = self.tally.tolist()
        if tally[TIMES]:
            said = stats.min_timestamp_us, stats.max_timestamp_us
            yield from _differences("timestamp_us", said, (tally[MIN_US], tally[MAX_US]), is_exact)
            said = stats.min_local_deletion_time_s, stats.max_local_deletion_time_s
            found = tally[MIN_S], tally[MAX_S]
            # What overflowed is written in several ways.
            if min(said) >= 0 and INVALID_DELETION_TIME not in found:
                yield from _differences("local_deletion_time_s", said, found, is_exact)
        if tally[TTLS]:
            said = stats.min_ttl_s, stats.max_ttl_s
            yield from _differences("ttl_s", said, (tally[MIN_TTL_S], tally[MAX_TTL_S]), is_exact)


def _differences(name: str, said: tuple[int, int], found: tuple[int, int], is_exact: bool) -> Iterator[tuple[str, str]]:
    if said[0] > found[0] or (is_exact and said[0] != found[0]):
        yield f"min_{name}", f"{said[0]} in the file, {found[0]} in Data.db"
    if said[1] < found[1] or (is_exact and said[1] != found[1]):
        yield f"max_{name}", f"{said[1]} in the file, {found[1]} in Data.db"


def compared(
    parts: Iterator[SlabPart], slab: Slabs, sstable: SSTable, schema: TableSchema, header: RunHeader, is_all: bool
) -> Generator[SlabPart]:
    """The parts of a run, each once its times are known to lie within those of StatsMetadata. is_all: it is of the
    whole SSTable, so that in the end they must be the same.

    Raises CorruptSSTableError when they do not, or are not.
    """
    times = Times(schema, header)
    facts = 0
    for part in parts:
        facts |= part.facts
        times.add_rows(slab, part.row_count)
        partitions = slab.partitions[: part.partition_count]
        times.add_partitions(partitions[:, PARTITION_DELETION_US].copy(), partitions[:, PARTITION_DELETION_S].copy())
        _refuse(times, sstable, is_exact=False)
        yield part
    sees_all = not facts & HAS_SHADOWABLE and bool(
        (header.column_cell >= 0).all() and (header.dropped_us == NO_TIMESTAMP).all()
    )
    _refuse(times, sstable, is_exact=is_all and sees_all)


def _refuse(times: Times, sstable: SSTable, is_exact: bool) -> None:
    for field, what in times.differences(sstable.statistics.stats, is_exact):
        raise CorruptSSTableError(
            f"{what}: this or the header's is damaged",
            Where(sstable.descriptor.path("Statistics.db"), field=f"STATS.{field}"),
        )
