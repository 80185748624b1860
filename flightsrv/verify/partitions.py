"""The partitions of a Data.db, window by window: their order, and where they lie.

Whatever is compared with them (Index.db, Filter.db, Statistics.db) is a watcher and is shown each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flightsrv.kernels.native import copy
from flightsrv.kernels.partitions import (
    BOUNDARY,
    CLOSES_NONE,
    CLOSES_OTHER,
    LAST_AT,
    LAST_SIZE,
    NEVER_CLOSED,
    ODD,
    ODD_POSITION,
    OPENS_IN_OPEN,
    SHADOWABLE_COUNT,
    SURVEY_STATE,
    Partitions,
    first_out_of_order,
    survey,
)
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.status import CORRUPT, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array, Window
from flightsrv.verify.batches import NO_BOUNDARIES
from flightsrv.verify.findings import Report
from flightsrv.verify.index import IndexCheck

PARTITIONS_A_CALL = 16_384

Watcher = Callable[[Partitions], None]
"""Is shown the next partitions. Their keys are valid during the call."""

_ODD = {
    OPENS_IN_OPEN: "a range deletion starts within another",
    CLOSES_NONE: "a range deletion ends that never started",
    CLOSES_OTHER: "a range deletion ends as another than the one that started",
    NEVER_CLOSED: "the partition ends within a range deletion",
}
"""What state[ODD] says."""


class Survey:
    """Follows the windows of a Data.db from its start."""

    def __init__(
        self, report: Report, header: RunHeader, index: IndexCheck | None, watchers: Sequence[Watcher]
    ) -> None:
        """watchers: beside the index."""
        self.partition_count = 0
        self.lost_at: int | None = None
        """The position of what is no partition, row or marker: behind it nothing is followed."""
        self._report = report
        self._header = header
        self._index = index
        self._watchers = watchers
        self._state = np.zeros(SURVEY_STATE, np.int64)
        self._rest = np.empty(0, np.uint8)
        self._prefix = np.empty(0, np.uint8)
        self._key = np.empty(0, np.uint8)
        # The first place is for the last partition of the call before.
        self._found = Partitions(*np.zeros((len(Partitions._fields), 1 + PARTITIONS_A_CALL), np.int64))
        self._recent = np.empty(0, np.int64)

    def follow(self, window: Window) -> None:
        """Go over the next window, which is left as it is but for its head room."""
        if self.lost_at is not None:
            return
        data, start, stop = self._with_rest(window)
        position = window.position - self._rest.size
        boundaries = (
            self._index.boundaries(window.position + window.stop - window.start) if self._index else NO_BOUNDARIES
        )
        self._state[BOUNDARY] = 0
        self._recent = self._recent[-1:]
        found = Partitions(*(column[1:] for column in self._found))
        status, at = OUTPUT_FULL, start
        while status == OUTPUT_FULL:
            here = position + at - start
            status, stopped_at, made = survey(data, at, stop, here, self._header, self._state, boundaries, found)
            at = int(stopped_at)
            self._show(int(made), position + at - start)
        if self._index:
            self._index.passed(int(self._state[BOUNDARY]))
        self._report_odd()
        if status == CORRUPT:
            self.lost_at = position + at - start
        self._rest = data[at:stop].copy()
        self._prefix = _kept(self._state, LAST_AT, int(self._state[LAST_SIZE]))

    @property
    def has_shadowable(self) -> bool:
        """Whether a row had a shadowable deletion."""
        return bool(self._state[SHADOWABLE_COUNT])

    def position_of(self, partition: int) -> int:
        """Where the n-th partition starts, if it is one of the window followed last, or was open before it."""
        return int(self._recent[partition - self.partition_count])

    def _with_rest(self, window: Window) -> tuple[Array, int, int]:
        """A window and, before it, what was left of the one before: array, start, stop."""
        size = self._rest.size
        if size <= window.start:
            window.data[window.start - size : window.start] = self._rest
            return window.data, window.start - size, window.stop
        joined = np.concatenate((self._rest, window.data[window.start : window.stop], np.zeros(SLACK, np.uint8)))
        return joined, 0, joined.size - SLACK

    def _show(self, made: int, reached: int) -> None:
        """Check the order of the partitions made, and show them."""
        has_last = min(self.partition_count, 1)
        self._check_order(Partitions(*(column[1 - has_last : 1 + made] for column in self._found)))
        found = Partitions(*(column[1 : 1 + made] for column in self._found))
        self.partition_count += made
        self._recent = np.concatenate((self._recent, found.position))
        for watcher in self._watchers:
            watcher(found)
        if self._index:
            self._index.look(found, reached)
        if made:
            for column in self._found:
                column[0] = column[made]
            self._key = _kept(self._found.key_at, 0, int(self._found.key_size[0]))

    def _check_order(self, found: Partitions) -> None:
        count = found.position.size
        at = first_out_of_order(found, 0, count, self._header)
        while at < count and not self._report.is_full("Data.db"):
            what = "the partition's key does not come after the one before it"
            self._report.error("Data.db", what, position=int(found.position[at]), field="partition order")
            at = first_out_of_order(found, at + 1, count, self._header)

    def _report_odd(self) -> None:
        odd = int(self._state[ODD])
        if odd:
            place = int(self._state[ODD_POSITION])
            self._report.error("Data.db", _ODD[odd], position=place, field="range tombstone")
            self._state[ODD] = 0


def _kept(places: Array, i: int, size: int) -> Array:
    """A copy of the `size` bytes at the address places[i], which is then its address."""
    kept = np.empty(size, np.uint8)
    if size:
        copy(kept.ctypes.data, places[i], size)
        places[i] = kept.ctypes.data
    return kept
