"""Statistics.db: what an SSTable says about itself, collected batch by batch.

    i32      component count, CRC32 of it
    i32 i32  type and offset of each, CRC32 of all so far
    bytes    each component, followed by its CRC32

Sources: org.apache.cassandra.io.sstable.metadata.MetadataCollector, MetadataSerializer, StatsMetadata,
ValidationMetadata, CompactionMetadata; db.SerializationHeader, utils.EstimatedHistogram,
utils.streamhist.TombstoneHistogram.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from corpus.encoding import f64, i32, i64, sbytes, u32, utf, vbytes, vint
from corpus.key_hashes import sketch_add
from corpus.rows import Batch
from corpus.table import Table
from corpus.unfiltereds import (
    ABSENT,
    DELETED,
    EXCL_END,
    EXCL_START,
    EXPIRING,
    INCL_END,
    INCL_START,
    LIVE,
    NOT_DELETED,
    ROW,
    Bases,
)

PARTITIONER = "org.apache.cassandra.dht.Murmur3Partitioner"
TIMESTAMP_EPOCH_US = 1_442_880_000_000_000
DELETION_EPOCH_S = 1_442_880_000
"""EncodingStats' epochs: what bases are written against, and what "nothing seen" is written as."""
_DROP_TIME_BINS = 100
_DROP_TIME_ROUND_S = 60
_NONE_SIGNED, _NONE_UNSIGNED = 2**31 - 1, 2**32 - 1


def histogram_offsets(count: int) -> np.ndarray:
    """EstimatedHistogram's upper bounds: each 1.2 times the one before."""
    offsets = [1]
    while len(offsets) < count:
        offsets.append(max(offsets[-1] + 1, round(offsets[-1] * 1.2)))
    return np.array(offsets, np.int64)


class Histogram:
    """An EstimatedHistogram; its last bucket is for what exceeds all bounds."""

    def __init__(self, offset_count: int) -> None:
        self.offsets = histogram_offsets(offset_count)
        self.buckets = np.zeros(offset_count + 1, np.int64)

    def add(self, values: np.ndarray) -> None:
        places = np.searchsorted(self.offsets, values)
        self.buckets += np.bincount(places, minlength=len(self.buckets))

    def serialise(self) -> bytes:
        """Pairs of bound and count; the bounds are stored one bucket late, the first one twice."""
        pairs = np.stack([np.concatenate([self.offsets[:1], self.offsets]), self.buckets], axis=1)
        return i32(len(pairs)) + pairs.astype(">i8").tobytes()


@dataclass(slots=True)
class Range:
    """The least and the largest of what was seen."""

    least: int | None = None
    largest: int | None = None

    def add(self, values: np.ndarray) -> None:
        if values.size:
            least, largest = int(values.min()), int(values.max())
            self.least = least if self.least is None else min(self.least, least)
            self.largest = largest if self.largest is None else max(self.largest, largest)


@dataclass(slots=True)
class Collector:
    """MetadataCollector: sees every batch of one SSTable."""

    table: Table
    version: str
    bases: Bases
    timestamps_us: Range = field(default_factory=Range)
    deletion_times_s: Range = field(default_factory=Range)
    ttls_s: Range = field(default_factory=Range)
    first_clustering: tuple[int, int] | None = None
    last_clustering: tuple[int, int] | None = None
    """As they sort in a descending table: minus the value, and what tells bounds of one value apart (`_bounds`)."""
    drop_times_s: Counter[int] = field(default_factory=Counter)
    partition_bytes: Histogram = field(default_factory=lambda: Histogram(155))
    partition_cells: Histogram = field(default_factory=lambda: Histogram(118))
    registers: np.ndarray = field(default_factory=lambda: np.zeros(8192, np.uint8))
    something_lives: bool = False
    partition_deletions: bool = False
    column_count: int = 0
    """Of all rows together, those with a cell."""
    row_count: int = 0
    first_key: bytes | None = None
    last_key: bytes = b""

    def add(self, batch: Batch, sizes: np.ndarray) -> None:
        """Take a batch in; sizes: int64 (partitions,) bytes of each in Data.db."""
        keys, starts = batch.partitions.keys, batch.partitions.key_starts
        if self.first_key is None:
            self.first_key = keys[: starts[1]].tobytes()
        self.last_key = keys[starts[-2] : starts[-1]].tobytes()
        sketch_add(batch.partitions, self.registers)
        self.partition_bytes.add(sizes)
        self._add_rows(batch)
        self._add_deletions(batch)
        self._add_complex_deletions(batch)
        if self.table.clustered:
            self._add_clusterings(batch)

    def _add_rows(self, batch: Batch) -> None:
        rows, states = batch.rows, batch.rows.cells
        is_row = rows.kind == ROW
        counts = batch.cell_counts()
        ends = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        first = batch.partitions.first
        self.partition_cells.add(ends[first[1:]] - ends[first[:-1]])
        self.column_count += int(np.count_nonzero(counts))
        self.row_count += int(is_row.sum())
        written = is_row & ((rows.liveness != ABSENT) | (counts > 0).any(axis=1))
        self.timestamps_us.add(rows.written_us[written])
        expiring = np.where(states == EXPIRING, counts, 0).sum(axis=1) + (rows.liveness == EXPIRING)
        deleted = np.where(states == DELETED, counts, 0).sum(axis=1)
        living = bool(((states == LIVE) & (counts > 0)).any() or (is_row & (rows.liveness == LIVE)).any())
        self.something_lives |= living
        seconds = rows.written_us // 1_000_000
        self._add_drops(seconds + rows.ttl_s, expiring)
        self._add_drops(seconds, deleted)
        self.ttls_s.add(rows.ttl_s[expiring > 0])
        if living or deleted.any():
            self.ttls_s.add(np.zeros(1, np.int64))

    def _add_complex_deletions(self, batch: Batch) -> None:
        """Each complex column that is there begins with one."""
        for c, values in enumerate(batch.values):
            if values.is_complex:
                states = batch.rows.cells[:, c]
                self._add_deletion(batch.rows.written_us[states == DELETED])
                self._add_deletion(batch.rows.written_us[(states == LIVE) | (states == EXPIRING)] - 1)

    def _add_clusterings(self, batch: Batch) -> None:
        """Only the first and the last unfiltered of a partition can be the first and the last of all."""
        rows, first = batch.rows, batch.partitions.first
        there = first[1:] > first[:-1]
        starts, ends = first[:-1][there], first[1:][there] - 1
        if not len(starts):
            return
        start = min(zip((-rows.clustering[starts]).tolist(), (rows.kind[starts] == EXCL_START).tolist(), strict=True))
        end = max(zip((-rows.clustering[ends]).tolist(), (rows.kind[ends] != EXCL_END).tolist(), strict=True))
        self.first_clustering = min(start, self.first_clustering or start)
        self.last_clustering = max(end, self.last_clustering or end)

    def _add_deletions(self, batch: Batch) -> None:
        partitions = batch.partitions.deleted_us
        self.partition_deletions |= bool((partitions != NOT_DELETED).any())
        for deleted_us in (partitions, batch.rows.deleted_us, batch.rows.opened_us):
            self._add_deletion(deleted_us[deleted_us != NOT_DELETED])

    def _add_deletion(self, deleted_us: np.ndarray) -> None:
        self.timestamps_us.add(deleted_us)
        self._add_drops(deleted_us // 1_000_000, np.ones(len(deleted_us), np.int64))

    def _add_drops(self, times_s: np.ndarray, counts: np.ndarray) -> None:
        """Count tombstones by the minute that ends their second, as StreamingTombstoneHistogramBuilder does."""
        times_s, counts = times_s[counts > 0], counts[counts > 0]
        self.deletion_times_s.add(times_s)
        minutes, places = np.unique(-(-times_s // _DROP_TIME_ROUND_S) * _DROP_TIME_ROUND_S, return_inverse=True)
        for minute, count in zip(minutes.tolist(), np.bincount(places, counts).tolist(), strict=True):
            self.drop_times_s[minute] += int(count)

    def serialise(self, compression_ratio: float) -> bytes:
        """The whole file."""
        components = [self._validation(), self._compaction(), self._stats(compression_ratio), self._header()]
        head = i32(len(components))
        checked = zlib.crc32(head)
        offset = len(head) + 4 + 8 * len(components) + 4
        toc = b""
        for kind, component in enumerate(components):
            toc += i32(kind, offset)
            offset += len(component) + 4
        body = b"".join(each + u32(zlib.crc32(each)) for each in components)
        return head + u32(checked) + toc + u32(zlib.crc32(toc, checked)) + body

    def _validation(self) -> bytes:
        return utf(PARTITIONER) + f64(self.table.bloom_filter_fp_chance)

    def _compaction(self) -> bytes:
        """A HyperLogLogPlus(13, 25), six registers of five bits a word."""
        words = np.zeros((1366, 6), np.int64)
        words.reshape(-1)[: len(self.registers)] = np.minimum(self.registers, 31)
        packed: bytes = (words << np.arange(0, 30, 5)).sum(axis=1).astype(">i4").tobytes()
        sketch = i32(-2) + bytes([13, 25, 0]) + bytes([len(packed) & 0x7F | 0x80, len(packed) >> 7]) + packed
        return i32(len(sketch)) + sketch

    def _stats(self, compression_ratio: float) -> bytes:
        modern = self.version == "oa"
        nowhere = i64(-1) + i32(0)
        parts = [
            self.partition_bytes.serialise() + self.partition_cells.serialise(),
            nowhere,
            i64(self.timestamps_us.least or 0, self.timestamps_us.largest or 0),
            self._deletion_times(_NONE_UNSIGNED if modern else _NONE_SIGNED),
            i32(self.ttls_s.least or 0, self.ttls_s.largest or 0),
            f64(compression_ratio) + self._drop_times(modern) + i32(0) + i64(0),
            self._covered_clusterings() if modern else self._legacy_clusterings(),
            bytes([0]) + i64(self.column_count, self.row_count) + nowhere + i32(0),
            bytes([0, 0, 0]),  # no pending repair, not transient, no originating host
        ]
        if modern:
            parts += [bytes([self.partition_deletions]), vbytes(self.first_key or b""), vbytes(self.last_key)]
            parts += [f64(float("nan"))]
        return b"".join(parts)

    def _deletion_times(self, none: int) -> bytes:
        seen = self.deletion_times_s
        least = none if seen.least is None else seen.least
        largest = none if seen.largest is None or self.something_lives else seen.largest
        return u32(least) + u32(largest)

    def _drop_times(self, modern: bool) -> bytes:
        """At most 100 bins: with more points than that, as many equally wide bins, each at its mean."""
        points = np.array(sorted(self.drop_times_s), np.int64)
        counts = np.array([self.drop_times_s[point] for point in points.tolist()], np.int64)
        if len(points) > _DROP_TIME_BINS:
            bins = (points - points[0]) * _DROP_TIME_BINS // (points[-1] - points[0] + 1)
            sums, totals = np.bincount(bins, points * counts), np.bincount(bins, counts)
            points = (sums[totals > 0] / totals[totals > 0]).astype(np.int64)
            counts = totals[totals > 0].astype(np.int64)
        layout = [("point", ">i8"), ("count", ">i4")] if modern else [("point", ">f8"), ("count", ">i8")]
        entries = np.empty(len(points), layout)
        entries["point"], entries["count"] = points, counts
        return i32(_DROP_TIME_BINS, len(points)) + entries.tobytes()

    def _bounds(self) -> Iterator[tuple[int, bytes | None]]:
        """Kind and value of what covers all clusterings: start, then end; None where nothing bounds them."""
        if self.first_clustering is None or self.last_clustering is None:
            yield from ((INCL_START, None), (INCL_END, None))
            return
        yield (INCL_START, EXCL_START)[self.first_clustering[1]], i64(-self.first_clustering[0])
        yield (EXCL_END, INCL_END)[self.last_clustering[1]], i64(-self.last_clustering[0])

    def _legacy_clusterings(self) -> bytes:
        return b"".join(i32(0) if value is None else i32(1) + sbytes(value) for _, value in self._bounds())

    def _covered_clusterings(self) -> bytes:
        types = b"".join(vbytes(each.encode()) for each in self.table.clustering_classes)
        parts = [vint(len(self.table.clustering_classes)), types]
        for kind, value in self._bounds():
            parts.append(bytes([kind, 0, 0]) if value is None else bytes([kind, 0, 1, 0]) + value)
        return b"".join(parts)

    def _header(self) -> bytes:
        """SerializationHeader: the bases, and every type."""
        table = self.table
        parts = [
            vint(self.bases.timestamp_us - TIMESTAMP_EPOCH_US),
            vint(self.bases.local_deletion_time_s - DELETION_EPOCH_S),
            vint(self.bases.ttl_s),
            vbytes(table.key_class.encode()),
            vint(len(table.clustering_classes)),
            *(vbytes(each.encode()) for each in table.clustering_classes),
            vint(0),
            vint(len(table.columns)),
            *(vbytes(name.encode()) + vbytes(cls.encode()) for name, cls in table.columns),
        ]
        return b"".join(parts)
