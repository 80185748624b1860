"""An SSTable's index against its Data.db: every entry with the partition it speaks of, every row index with that
partition's rows.

The index is read as far ahead as the windows of Data.db need it, so that not all of it need be in memory.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from flightsrv.kernels.entries import ALL_MATCHED, EXTRA_ENTRY, MISSING_ENTRY, Entries, match
from flightsrv.kernels.partitions import Boundaries, Partitions
from flightsrv.slab import Array
from flightsrv.verify.batches import NO_BOUNDARIES, Batch, Index, entries_for
from flightsrv.verify.filter import FilterCheck
from flightsrv.verify.summary import SummaryCheck

_NO_PARTITIONS = Partitions(*np.zeros((len(Partitions._fields), 0), np.int64))
_BEHIND_ALL = 2**63 - 1


_NO_ENTRIES = entries_for(0)


class IndexCheck:
    """Follows the entries of an index beside the partitions of its Data.db."""

    def __init__(
        self,
        index: Index,
        tokens: int,
        summary_check: SummaryCheck | None,
        filter_check: FilterCheck | None,
    ) -> None:
        """tokens: how the partitioner makes them, see kernels/key_forms.py. The other two checks are shown all entries.
        filter_check: None when it sees the keys of Data.db."""
        self._index = index
        self._tokens = np.int64(tokens)
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
        self._index.passed(checked)

    def look(self, found: Partitions, reached: int) -> None:
        """Compare the next partitions, all that start before the position `reached`, with their entries.

        boundaries() was asked for no less, so the entries are at hand, and what it gave stays what it is.
        """
        self._index.saw(found)
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
        self._index.finish(is_complete)
        if self._summary_check is not None and not self._index.is_broken:
            self._summary_check.finish()

    def _compare(self, found: Partitions, entry_stop: int) -> None:
        """Match partitions with the first entries, and forget those."""
        entry, partition, partition_stop = 0, 0, found.position.size
        while not self._index.is_full():
            event, entry, partition = match(
                self._entries, entry, entry_stop, found, partition, partition_stop, self._tokens
            )
            if event == ALL_MATCHED:
                break
            if event == MISSING_ENTRY and self._index.is_broken and entry == self._entries.position.size:
                break  # the other entries are there, but nobody can tell where
            place = self._entries.position[entry] if event == EXTRA_ENTRY else found.position[partition]
            self._index.differs(int(event), self._entries, int(entry), int(place))
            entry += event != MISSING_ENTRY
            partition += event != EXTRA_ENTRY
        self._entries = Entries(*(column[entry_stop:] for column in self._entries))
        self._forget()

    def _next(self) -> bool:
        """One batch more; False at the end."""
        batch = self._index.next_batch()
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
