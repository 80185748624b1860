"""What happens to a series in each run: what is written, with which TTL, and what is deleted.

Run r begins at `begin_us(r)`. Its deletions are stamped some microseconds before that, so they hide what older runs
wrote and nothing of their own run; then every row is written a minute after the one before it. A run lasts until all
minutes are over, then the next begins.

    row          stands in run `id % runs` and, one time in five, in each other run: half of these are an UPDATE of
                 some columns, which has no liveness; all else is an INSERT
    TTL          of the whole row, or half the time of the last column alone: 1 to 3650 days
    deletion     of a row; of one column of a row; of a range of minutes (half of these are two that meet); of a
                 partition (a quarter as often). What a deletion of its own run covers is written again half the time

Source for the kinds of bounds: org.apache.cassandra.db.ClusteringPrefix.Kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from corpus.columns import Column
from corpus.draw import below, chance, draw, stream
from corpus.series_cells import FIRST_MS, STEP_MS, WORDS, Cells
from corpus.statistics import DELETION_EPOCH_S
from corpus.unfiltereds import (
    ABSENT,
    DELETED,
    END_START,
    END_START_AFTER,
    EXCL_END,
    EXCL_START,
    EXPIRING,
    INCL_END,
    INCL_START,
    LIVE,
    NOT_DELETED,
    Bases,
)

COMPLEX_DELETION_US = 1
"""How long before a collection is written it is deleted, as corpus.kernels does it."""
ROW_DELETION_US, RANGE_DELETION_US, SECOND_RANGE_DELETION_US, PARTITION_DELETION_US = 1, 2, 3, 4
"""How long before its run a deletion is stamped."""
LONGEST_TTL_DAYS = 3650
_DAY_S = 86_400
_BETWEEN_RUNS_US = 3_600_000_000

_IN_RUN, _UPDATE, _TTL, _TTL_DAYS, _TTL_CELL, _ROW, _CELL, _CELL_COLUMN, _AGAIN = range(WORDS, WORDS + 9)
_PARTITION, _RANGE, _RANGE_FIRST, _RANGE_LENGTH, _RANGE_BOUNDS = range(32, 37)


@dataclass(frozen=True, slots=True)
class Ranges:
    """Range deletions of some sensors in one run, in minutes: [first, middle) and [middle, stop), or one of them."""

    there: np.ndarray
    """bool (sensors,)"""
    first: np.ndarray
    middle: np.ndarray
    """int64 (sensors,): where an older range meets a newer one; equal to first where there is only one."""
    stop: np.ndarray
    bounds: np.ndarray
    """int64 (sensors,): three bits that choose between two ways to say the same bound."""


@dataclass(frozen=True, slots=True)
class Writes:
    """What one run does to rows; arrays of one element a row."""

    there: np.ndarray
    """bool: the row stands in the run, written or deleted."""
    written: np.ndarray
    """bool"""
    deleted: np.ndarray
    """bool: by a row deletion."""
    liveness: np.ndarray
    ttl_s: np.ndarray
    cells: np.ndarray
    """uint8 (n, columns): states as of corpus.unfiltereds."""


@dataclass(frozen=True, slots=True)
class Events:
    """All that is decided about the table; the files and the expected rows are both made from it."""

    columns: Mapping[str, Column]
    """As they are stored."""
    updated: Collection[str]
    """Names of the columns that an UPDATE sets."""
    rows_per_sensor: int
    runs: int
    seed: int
    ttl_share: float
    deletion_share: float

    def begin_us(self, run: int) -> int:
        return FIRST_MS * 1000 + run * (self.rows_per_sensor * STEP_MS * 1000 + _BETWEEN_RUNS_US)

    def written_us(self, cells: Cells, run: int) -> np.ndarray:
        """int64 (n,): timestamp of all that is written to a row."""
        written_us: np.ndarray = self.begin_us(run) + cells.minutes * (STEP_MS * 1000)
        return written_us

    def bases(self, run: int, version: str) -> Bases:
        base_us, base_s = self.begin_us(run), DELETION_EPOCH_S
        if self.ttl_share:
            base_s = base_us // 1_000_000 + _DAY_S
        if any(column.is_complex for column in self.columns.values()):
            base_us -= COMPLEX_DELETION_US
            base_s = base_us // 1_000_000
        if self.deletion_share:
            base_us = self.begin_us(run) - PARTITION_DELETION_US
            base_s = base_us // 1_000_000
        return Bases(base_us, base_s, 0, True, version == "oa")

    def partition_deleted(self, sensors: np.ndarray, run: int) -> np.ndarray:
        """bool (n,)"""
        return chance(stream(self.seed, run, _PARTITION), sensors, self.deletion_share / 4)

    def ranges(self, sensors: np.ndarray, run: int) -> Ranges:
        """The range deletions of a run."""
        count = self.rows_per_sensor
        first = below(draw(stream(self.seed, run, _RANGE_FIRST), sensors), count)
        lengths = draw(stream(self.seed, run, _RANGE_LENGTH), sensors)
        stop = np.minimum(first + 1 + below(lengths, count // 3 + 1), count)
        bounds = (draw(stream(self.seed, run, _RANGE_BOUNDS), sensors) >> np.uint64(60)).astype(np.int64)
        middle = np.where((bounds & 8 != 0) & (stop - first > 1), (first + stop) // 2, first)
        there = chance(stream(self.seed, run, _RANGE), sensors, self.deletion_share)
        return Ranges(there, first, middle, stop, bounds & 7)

    def covered(self, cells: Cells, run: int) -> np.ndarray:
        """bool (n,): whether a deletion of this run hides what older runs wrote to the row."""
        if self.deletion_share == 0:
            return np.zeros(len(cells.minutes), bool)
        ranges = self.ranges(cells.sensors, run)
        in_range = ranges.there & (cells.minutes >= ranges.first) & (cells.minutes < ranges.stop)
        covered: np.ndarray = in_range | self.partition_deleted(cells.sensors, run) | self._row_deleted(cells, run)
        return covered

    def _row_deleted(self, cells: Cells, run: int) -> np.ndarray:
        return chance(stream(self.seed, run, _ROW), cells.ids, self.deletion_share)

    def writes(self, cells: Cells, run: int) -> Writes:
        """What a run does to rows."""
        ids = cells.ids
        at_home = ids % self.runs == run
        written = at_home if self.runs == 1 else at_home | chance(stream(self.seed, run, _IN_RUN), ids, 0.2)
        deleted = self._row_deleted(cells, run)
        if self.deletion_share:
            written = written & (~self.covered(cells, run) | chance(stream(self.seed, run, _AGAIN), ids, 0.5))
        states = np.full((len(ids), len(self.columns)), LIVE, np.uint8)
        liveness = np.where(written, LIVE, ABSENT).astype(np.uint8)
        for c, column in enumerate(self.columns.values()):
            if column.has:
                states[~column.has(cells), c] = ABSENT
        if self.runs > 1:
            update = ~at_home & chance(stream(self.seed, run, _UPDATE), ids, 0.5)
            liveness[update] = ABSENT
            for c, name in enumerate(self.columns):
                states[update, c] = LIVE if name in self.updated else ABSENT
        ttl_s = self._expire(ids, run, liveness, states)
        self._delete_cells(ids, run, states)
        states[~written] = ABSENT
        return Writes(written | deleted, written, deleted, liveness, ttl_s, states)

    def _expire(self, ids: np.ndarray, run: int, liveness: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Make rows and cells expire. Returns the TTLs, 0 where nothing does."""
        expires = chance(stream(self.seed, run, _TTL), ids, self.ttl_share)
        if self.ttl_share == 0:
            return np.zeros(len(ids), np.int64)
        one_cell = chance(stream(self.seed, run, _TTL_CELL), ids, 0.5)
        liveness[expires & ~one_cell & (liveness == LIVE)] = EXPIRING
        states[(expires & ~one_cell)[:, None] & (states == LIVE)] = EXPIRING
        states[expires & one_cell & (states[:, -1] == LIVE), -1] = EXPIRING
        days = 1 + below(draw(stream(self.seed, run, _TTL_DAYS), ids), LONGEST_TTL_DAYS)
        return np.where(expires, days * _DAY_S, 0)

    def _delete_cells(self, ids: np.ndarray, run: int, states: np.ndarray) -> None:
        places = np.flatnonzero(chance(stream(self.seed, run, _CELL), ids, self.deletion_share))
        columns = below(draw(stream(self.seed, run, _CELL_COLUMN), ids[places]), len(self.columns))
        states[places, columns] = DELETED


@dataclass(frozen=True, slots=True)
class Markers:
    """Range tombstone markers; arrays of one element each."""

    partition: np.ndarray
    """int64: which of the sensors."""
    kind: np.ndarray
    clustering: np.ndarray
    deleted_us: np.ndarray
    opened_us: np.ndarray


def markers(ranges: Ranges, begin_us: int) -> Markers:
    """The markers of range deletions, in the order of the table: descending minutes.

    Each bound can be said in two ways: on one side of the row it includes, or on the other side of its neighbour.
    """
    newer_us, older_us = begin_us - RANGE_DELETION_US, begin_us - SECOND_RANGE_DELETION_US
    found: list[tuple[np.ndarray, ...]] = []

    def add(which: np.ndarray, bit: int, minute: np.ndarray, kinds: tuple[int, int], ends: int, opens: int) -> None:
        """kinds: of the bound before the row of `minute - 1`, and of the one after the row of `minute`."""
        places = np.flatnonzero(which)
        after = ranges.bounds[places] & bit != 0
        kind = np.where(after, kinds[1], kinds[0])
        at_ms = FIRST_MS + (minute[places] - ~after) * STEP_MS
        found.append((places, kind, at_ms, np.full(len(places), ends), np.full(len(places), opens)))

    two = ranges.there & (ranges.middle > ranges.first)
    add(ranges.there, 1, ranges.stop, (INCL_START, EXCL_START), newer_us, NOT_DELETED)
    add(two, 2, ranges.middle, (END_START, END_START_AFTER), newer_us, older_us)
    add(two, 4, ranges.first, (EXCL_END, INCL_END), older_us, NOT_DELETED)
    add(ranges.there & ~two, 4, ranges.first, (EXCL_END, INCL_END), newer_us, NOT_DELETED)
    return Markers(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
