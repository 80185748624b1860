"""Index.db against Data.db: every entry with the partition it speaks of, every row index with that partition's rows.

Index.db is read as far ahead as the windows of Data.db need it, so that neither is ever in memory as a whole.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from flightsrv.kernels.partitions import (
    GAP,
    NOT_A_START,
    NOT_THE_END,
    OTHER_FIRST,
    OTHER_LAST,
    OTHER_OPEN,
    Boundaries,
    Partitions,
)
from flightsrv.kernels.row_index import (
    ALL_MATCHED,
    EXTRA_ENTRY,
    MISSING_ENTRY,
    OTHER_DELETION,
    OTHER_HEADER_LENGTH,
    OTHER_KEY,
    Entries,
    match,
)
from flightsrv.slab import Array
from flightsrv.verify.filter import FilterCheck
from flightsrv.verify.findings import Report
from flightsrv.verify.index_batches import Batch, IndexBatches, boundaries_for
from flightsrv.verify.summary import SummaryCheck

NO_BOUNDARIES = boundaries_for(0)
_NO_ENTRIES = Entries(*np.zeros((len(Entries._fields), 0), np.int64))
_NO_PARTITIONS = Partitions(*np.zeros((len(Partitions._fields), 0), np.int64))
_BEHIND_ALL = 2**63 - 1

_MISMATCHES = {
    EXTRA_ENTRY: ("position", "no partition starts at position {position}"),
    MISSING_ENTRY: ("entry", "the partition at position {position} has no entry"),
    OTHER_KEY: ("key", "the key of the partition at position {position} is another"),
    OTHER_HEADER_LENGTH: ("promoted.header_length", "the head of the partition at position {position} is not so long"),
    OTHER_DELETION: ("promoted.deletion", "the partition at position {position} has another deletion"),
}
"""Field and text of what match says."""

_WRONG_BOUNDARIES = {
    NOT_A_START: "no row or marker of the partition at {partition} starts at position {position}",
    OTHER_FIRST: "the row or marker at position {position} has another clustering than the block's first",
    OTHER_LAST: "the row or marker before position {position} has another clustering than the block's last",
    OTHER_OPEN: "another range deletion is open at position {position}",
    NOT_THE_END: "the partition at {partition} does not end at position {position}, as its last block does",
    GAP: "a block starts at position {position}, where the one before it does not end",
}
"""What Boundaries.wrong says."""


class IndexCheck:
    """Follows the entries of an Index.db beside the partitions of its Data.db."""

    def __init__(
        self,
        report: Report,
        batches: IndexBatches,
        summary_check: SummaryCheck | None,
        filter_check: FilterCheck | None,
    ) -> None:
        """The other two checks are shown all entries. filter_check: None when it sees the keys of Data.db."""
        self._report = report
        self._batches = batches
        self._summary_check = summary_check
        self._filter_check = filter_check
        self._entries = _NO_ENTRIES
        self._boundaries = NO_BOUNDARIES
        self._alive: deque[Batch] = deque()
        """The batches that the two above still point into."""
        self._is_read = False

    def boundaries(self, upto: int) -> Boundaries:
        """Boundaries that were not passed yet, with all those of partitions that start before the position `upto`."""
        while not self._is_read and not (self._entries.position.size and self._entries.position[-1] >= upto):
            self._next()
        return self._boundaries

    def passed(self, count: int) -> None:
        """Take what was found out about the first boundaries, and forget them."""
        checked = Boundaries(*(column[:count] for column in self._boundaries))
        self._boundaries = Boundaries(*(column[count:] for column in self._boundaries))
        for i in np.flatnonzero(checked.wrong).tolist():
            if self._report.is_full("Index.db"):
                return
            what = _WRONG_BOUNDARIES[int(checked.wrong[i])]
            what = what.format(partition=checked.partition[i], position=checked.position[i])
            self._report.error("Index.db", what, offset=int(checked.entry_offset[i]), field="promoted.blocks")

    def look(self, found: Partitions, reached: int) -> None:
        """Compare the next partitions, all that start before the position `reached`, with their entries.

        boundaries() was asked for no less, so the entries are at hand, and what it gave stays what it is.
        """
        self._compare(found, int(np.searchsorted(self._entries.position, reached)))

    def finish(self, is_complete: bool) -> None:
        """Read what is left; is_complete: there are no more partitions, so there must be no entries.

        Raises SSTableError when the file cannot be read.
        """
        while True:
            if is_complete:
                self._compare(_NO_PARTITIONS, self._entries.position.size)
            self.passed(self._boundaries.position.size)
            self._entries = _NO_ENTRIES
            self._alive.clear()
            if not self._next():
                break
        if self._summary_check is not None and not self._batches.is_broken:
            self._summary_check.finish()

    def _compare(self, found: Partitions, entry_stop: int) -> None:
        """Match partitions with the first entries, and forget those."""
        entry, partition, partition_stop = 0, 0, found.position.size
        while not self._report.is_full("Index.db"):
            event, entry, partition = match(self._entries, entry, entry_stop, found, partition, partition_stop)
            if event == ALL_MATCHED:
                break
            if event == MISSING_ENTRY and self._batches.is_broken and entry == self._entries.position.size:
                break  # the other entries are there, but nobody can tell where
            self._report_mismatch(int(event), int(entry), found.position[partition : partition + 1])
            entry += event != MISSING_ENTRY
            partition += event != EXTRA_ENTRY
        self._entries = Entries(*(column[entry_stop:] for column in self._entries))
        self._forget()

    def _report_mismatch(self, event: int, entry: int, partition: Array) -> None:
        """partition: the position of the one at hand, or nothing."""
        field, what = _MISMATCHES[event]
        position = self._entries.position[entry] if event == EXTRA_ENTRY else partition[0]
        offset = int(self._entries.offset[entry]) if entry < self._entries.offset.size else None
        self._report.error("Index.db", what.format(position=position), offset=offset, field=field)

    def _next(self) -> bool:
        """One batch more; False at the end."""
        batch = self._batches.next_batch()
        self._is_read = batch is None
        if batch is None:
            return False
        if self._summary_check is not None:
            self._summary_check.look(batch)
        if self._filter_check is not None:
            self._filter_check.look(batch.entries.key_at, batch.entries.key_size, batch.entries.position)
        self._entries = Entries(*map(_joined, self._entries, batch.entries))
        self._boundaries = Boundaries(*map(_joined, self._boundaries, batch.boundaries))
        self._alive.append(batch)
        return True

    def _forget(self) -> None:
        """Let go of batches that nothing points into any longer."""
        needed = [column[0] for column in (self._entries.position, self._boundaries.partition) if column.size]
        first = min(needed, default=_BEHIND_ALL)
        while self._alive and self._alive[0].entries.position[-1] < first:
            self._alive.popleft()


def _joined(first: Array, second: Array) -> Array:
    return np.concatenate((first, second)) if first.size and second.size else first if first.size else second
