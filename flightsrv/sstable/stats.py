"""StatsMetadata: the part of Statistics.db about times, sizes, bounds and repair.

`parse` has the layout: its fields stand one after the other as in the file, and `version` says which are there.

    histogram      i32 n; n times i64 offset, i64 count: the first pair repeats the offset of the second, the last
                   count is of all that is larger than the last offset
    log position   i64 segment, i32 position
    deletion time  i32 seconds, 2^31 - 1 is none; from oa on u32, 2^32 - 1 is none

From oa on Cassandra reserves 16 bytes for each of the tombstone drop times but writes 12: as many times 4 zero bytes
follow the last field.

Source: org.apache.cassandra.io.sstable.metadata.StatsMetadata.StatsMetadataSerializer, utils.EstimatedHistogram,
utils.streamhist.TombstoneHistogram (3.0 to 5.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from flightsrv.sstable import clustering
from flightsrv.sstable.clustering import Prefix
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.header import types
from flightsrv.sstable.version import Version

NO_DELETION_TIME_S = 2**63 - 1
"""Never deleted, never expires: later than any time, as in Cassandra 5.0."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many partitions have a size, or a number of cells, up to each offset."""

    offsets: npt.NDArray[np.int64]
    """(n - 1,)"""
    counts: npt.NDArray[np.int64]
    """(n,); the last is of what is above the last offset."""


@dataclass(frozen=True, slots=True)
class CommitLogPosition:
    """A place in the commit log of the node that wrote."""

    segment: int
    position: int


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of clusterings; the bounds hold values of the first of the types."""

    types: tuple[str, ...]
    start: Prefix
    end: Prefix


@dataclass(frozen=True, slots=True, eq=False)
class Stats:
    """What Cassandra knows of an SSTable. Exact, unlike the minima of the serialization header."""

    partition_sizes: Histogram
    cells_per_partition: Histogram
    commit_log_upper_bound: CommitLogPosition
    min_timestamp_us: int
    max_timestamp_us: int
    min_local_deletion_time_s: int
    """NO_DELETION_TIME_S when nothing is deleted or expires."""
    max_local_deletion_time_s: int
    """NO_DELETION_TIME_S when something neither is deleted nor expires."""
    min_ttl_s: int
    max_ttl_s: int
    compression_ratio: float
    """-1 if not compressed."""
    tombstone_drop_times: npt.NDArray[np.void]
    """(n,) of (point, count): when how many tombstones may be dropped."""
    level: int
    repaired_at_ms: int
    """0 if not repaired."""
    min_clustering: tuple[bytes, ...]
    """Smallest values of the first clustering columns. Wrong unless version.has_accurate_min_max; empty from oa on."""
    max_clustering: tuple[bytes, ...]
    covered_clustering: Slice | None
    """oa, da: all rows and range tombstones lie in it."""
    has_legacy_counter_shards: bool
    total_columns: int
    """Cells and the like."""
    total_rows: int
    commit_log_lower_bound: CommitLogPosition | None
    commit_log_intervals: tuple[tuple[CommitLogPosition, CommitLogPosition], ...]
    pending_repair: UUID | None
    is_transient: bool
    originating_host_id: UUID | None
    has_partition_level_deletions: bool | None
    """None when the version does not tell; see may_have_partition_deletions."""
    late_covered_clustering: Slice | None
    """nc: as covered_clustering, which stands here in that version."""
    first_key: bytes | None
    """nc, oa, da: the first partition key."""
    last_key: bytes | None
    token_space_coverage: float | None
    """oa, da: the part of the ring from first to last token; may be NaN."""

    @property
    def partition_count(self) -> int:
        """How many partitions there are."""
        return sum(self.partition_sizes.counts.tolist())

    @property
    def may_have_partition_deletions(self) -> bool:
        """False only when no partition is deleted."""
        if self.has_partition_level_deletions is not None:
            return self.has_partition_level_deletions
        return self.min_local_deletion_time_s != NO_DELETION_TIME_S


def parse(cursor: Cursor, version: Version) -> Stats:
    """Read StatsMetadata, as far as the version has it. Arguments are evaluated in the order of the file."""
    v = version
    return Stats(
        partition_sizes=_histogram(cursor, "partition_sizes"),
        cells_per_partition=_histogram(cursor, "cells_per_partition"),
        commit_log_upper_bound=_commit_log_position(cursor, "commit_log_upper_bound"),
        min_timestamp_us=cursor.i64("min_timestamp_us"),
        max_timestamp_us=cursor.i64("max_timestamp_us"),
        min_local_deletion_time_s=_deletion_time(cursor, v, "min_local_deletion_time_s"),
        max_local_deletion_time_s=_deletion_time(cursor, v, "max_local_deletion_time_s"),
        min_ttl_s=cursor.i32("min_ttl_s"),
        max_ttl_s=cursor.i32("max_ttl_s"),
        compression_ratio=cursor.f64("compression_ratio"),
        tombstone_drop_times=_tombstone_drop_times(cursor, v),
        level=cursor.i32("level"),
        repaired_at_ms=cursor.i64("repaired_at_ms"),
        min_clustering=_clustering_values(cursor, "min_clustering") if v.has_legacy_min_max else (),
        max_clustering=_clustering_values(cursor, "max_clustering") if v.has_legacy_min_max else (),
        covered_clustering=_slice(cursor) if v.has_improved_min_max and not v.has_legacy_min_max else None,
        has_legacy_counter_shards=cursor.bool("has_legacy_counter_shards"),
        total_columns=cursor.i64("total_columns"),
        total_rows=cursor.i64("total_rows"),
        commit_log_lower_bound=(
            _commit_log_position(cursor, "commit_log_lower_bound") if v.has_commit_log_lower_bound else None
        ),
        commit_log_intervals=_commit_log_intervals(cursor) if v.has_commit_log_intervals else (),
        pending_repair=_optional_uuid(cursor, "pending_repair") if v.has_pending_repair else None,
        # Alphas of Cassandra 4.0 wrote na without this field, then its last.
        is_transient=cursor.bool("is_transient") if v.has_is_transient and cursor.left else False,
        originating_host_id=_optional_uuid(cursor, "originating_host_id") if v.has_originating_host_id else None,
        has_partition_level_deletions=(
            cursor.bool("has_partition_level_deletions") if v.has_partition_level_deletions_presence_marker else None
        ),
        late_covered_clustering=_slice(cursor) if v.has_improved_min_max and v.has_legacy_min_max else None,
        first_key=cursor.vbytes("first_key") if v.has_key_range else None,
        last_key=cursor.vbytes("last_key") if v.has_key_range else None,
        token_space_coverage=cursor.f64("token_space_coverage") if v.has_token_space_coverage else None,
    )


def _histogram(cursor: Cursor, field: str) -> Histogram:
    with cursor.section(field):
        size = cursor.count("size", "i32", at_least=16).stop
        cursor.require(size > 0, "size", "it has no buckets")
        pairs = cursor.array("offset, count", [("offset", ">i8"), ("count", ">i8")], size)
        offsets, counts = pairs["offset"][1:].copy(), pairs["count"].copy()
        cursor.require(bool((counts >= 0).all()), "offset, count", "a count is below 0")
        cursor.require(bool((offsets[1:] > offsets[:-1]).all()), "offset, count", "the offsets do not ascend")
    return Histogram(offsets, counts)


def _commit_log_position(cursor: Cursor, field: str) -> CommitLogPosition:
    with cursor.section(field):
        return CommitLogPosition(segment=cursor.i64("segment"), position=cursor.i32("position"))


def _commit_log_intervals(cursor: Cursor) -> tuple[tuple[CommitLogPosition, CommitLogPosition], ...]:
    with cursor.section("commit_log_intervals"):
        return tuple(
            (_commit_log_position(cursor, f"{i} start"), _commit_log_position(cursor, f"{i} end"))
            for i in cursor.count("count", "i32", at_least=24)
        )


def _deletion_time(cursor: Cursor, version: Version, field: str) -> int:
    seconds, none = (cursor.u32(field), 2**32 - 1) if version.has_uint_deletion_time else (cursor.i32(field), 2**31 - 1)
    return NO_DELETION_TIME_S if seconds == none else seconds


def _tombstone_drop_times(cursor: Cursor, version: Version) -> npt.NDArray[np.void]:
    point, count = (">i8", ">i4") if version.has_uint_deletion_time else (">f8", ">i8")
    with cursor.section("tombstone_drop_times"):
        cursor.i32("max_bin_count")
        return cursor.array("point, count", [("point", point), ("count", count)], cursor.i32("size"))


def _clustering_values(cursor: Cursor, field: str) -> tuple[bytes, ...]:
    with cursor.section(field):
        return tuple(cursor.sbytes(f"value {i}") for i in cursor.count("count", "i32", at_least=2))


def _slice(cursor: Cursor) -> Slice:
    with cursor.section("covered_clustering"):
        clustering_types = types(cursor, "types")
        sizes = clustering.fixed_sizes(cursor, "types", clustering_types)
        with cursor.section("start"):
            start = clustering.bound(cursor, sizes)
        with cursor.section("end"):
            end = clustering.bound(cursor, sizes)
    return Slice(clustering_types, start, end)


def _optional_uuid(cursor: Cursor, field: str) -> UUID | None:
    with cursor.section(field):
        return UUID(bytes=cursor.raw("uuid", 16)) if cursor.bool("is_present") else None
