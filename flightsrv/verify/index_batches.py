"""Index.db, batch by batch: its entries, the boundaries that their row indexes tell of, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flightsrv.errors import SSTableError
from flightsrv.io.buffered import BufferedFile
from flightsrv.kernels.entries import (
    EXTRA_ENTRY,
    MISSING_ENTRY,
    NOT_SAID,
    OTHER_DELETION,
    OTHER_HEADER_LENGTH,
    OTHER_KEY,
    Entries,
)
from flightsrv.kernels.index_entries import index_entries
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
from flightsrv.kernels.row_index import count_boundaries, row_index_boundaries
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.status import CORRUPT, DONE
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import NO_DELETION_TIME, NO_TIMESTAMP, Array
from flightsrv.sstable import index
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import Version
from flightsrv.verify.batches import Batch, boundaries_for
from flightsrv.verify.findings import Report

READ_BYTES = 1024 * 1024
ENTRIES_A_BATCH = 16_384


@dataclass(frozen=True, slots=True)
class RowIndexLayout:
    """What is needed to take row indexes apart."""

    header: RunHeader
    clustering_types: Sequence[str]


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


class IndexBatches:
    """An Index.db, from its start to its end or to what is no entry."""

    def __init__(self, report: Report, file: BufferedFile, version: Version, layout: RowIndexLayout | None) -> None:
        """layout: None when nobody can tell; row indexes are stepped over then."""
        self.is_broken = False
        """Whether it ended at what is no entry."""
        self._report = report
        self._file = file
        self._version = version
        self._layout = layout
        self._data = np.empty(SLACK, np.uint8)
        self._start = self._stop = 0
        self._offset = 0
        """In the file, of self._data[self._start]."""
        self._previous = -1

    def next_batch(self) -> Batch | None:
        """The next entries, at least one; None at the end. Raises SSTableError when the file cannot be read."""
        while not self.is_broken:
            columns = np.empty((4, ENTRIES_A_BATCH), np.int64)
            status, stopped_at, made = index_entries(self._data, self._start, self._stop, self._previous, *columns)
            if made:
                return self._batch(columns[:, :made], int(stopped_at))
            if status == CORRUPT:
                self._break(f"it is not above {self._previous}, where the partition before starts")
            elif status == DONE and self._offset == self._file.size:
                return None
            elif self._offset + self._entry_bytes() > self._file.size:
                self._break(f"it does not end within the file's {self._file.size} bytes")
            else:
                self._read(self._entry_bytes())
        return None

    def is_full(self) -> bool:
        """Whether so much is wrong with it that no more need be said."""
        return self._report.is_full("Index.db")

    def differs(self, event: int, entries: Entries, entry: int, position: int) -> None:
        """Say how an entry and the partition at a position differ: what match returned of them."""
        field, what = _MISMATCHES[event]
        offset = int(entries.offset[entry]) if entry < entries.offset.size else None
        self._report.error("Index.db", what.format(position=position), offset=offset, field=field)

    def passed(self, boundaries: Boundaries) -> None:
        """Say what is wrong with boundaries that survey has passed."""
        for i in np.flatnonzero(boundaries.wrong).tolist():
            if self.is_full():
                return
            what = _WRONG_BOUNDARIES[int(boundaries.wrong[i])]
            what = what.format(partition=boundaries.partition[i], position=boundaries.position[i])
            self._report.error("Index.db", what, offset=int(boundaries.entry_offset[i]), field="promoted.blocks")

    def saw(self, found: Partitions) -> None:
        """Take notice of the next partitions of Data.db."""

    def finish(self, is_complete: bool) -> None:
        """There are no more entries. is_complete: all partitions were seen."""

    def _entry_bytes(self) -> int:
        """How long the next entry is by its own words; what more is needed to tell, as long as it cannot."""
        left = self._stop - self._start
        cursor = Cursor(self._data[self._start : self._stop], self._file.path)
        try:
            cursor.sbytes("key")
            cursor.uvint("position")
            return cursor.uvint("promoted size") + cursor.offset
        except SSTableError:
            return left + 1

    def _read(self, wanted: int) -> None:
        """More of the file behind what is left, so that `wanted` bytes are at hand."""
        left = self._stop - self._start
        behind = self._offset + left
        size = min(max(wanted - left, READ_BYTES), self._file.size - behind)
        data = np.empty(left + size + SLACK, np.uint8)
        data[:left] = self._data[self._start : self._stop]
        self._file.read_into(behind, data[left : left + size])
        self._data, self._start, self._stop = data, 0, left + size

    def _batch(self, columns: Array, stopped_at: int) -> Batch:
        key_start, key_size, position, promoted_size = (column.copy() for column in columns)
        ends = np.append(key_start[1:] - 2, stopped_at)
        not_said = np.full(position.size, NOT_SAID, np.int64)
        entries = Entries(
            offset=key_start - 2 - self._start + self._offset,
            key_at=key_start + self._data.ctypes.data,
            key_size=key_size,
            path_at=not_said,
            path_size=not_said,
            hash=not_said,
            position=position,
            row_index_at=ends - promoted_size,
            row_index_size=promoted_size,
            header_length=not_said.copy(),
            deletion_us=np.full(position.size, NO_TIMESTAMP, np.int64),
            deletion_s=np.full(position.size, NO_DELETION_TIME, np.int64),
        )
        boundaries = self._boundaries(entries) if self._layout and promoted_size.any() else boundaries_for(0)
        self._offset += stopped_at - self._start
        self._start = stopped_at
        self._previous = int(position[-1])
        return Batch((self._data,), entries, boundaries)

    def _boundaries(self, entries: Entries) -> Boundaries:
        """What the row indexes say; an error for each that makes no sense."""
        assert self._layout
        header = self._layout.header
        found = boundaries_for(int(count_boundaries(self._data, entries, header)))
        entry, made, status = -1, 0, CORRUPT
        while status == CORRUPT:
            status, entry, made = row_index_boundaries(self._data, entries, entry + 1, header, found, made)
            if status == CORRUPT:
                start = int(entries.offset[entry]) - self._offset + self._start
                self._report_damage(start, "its row index makes no sense")
        return Boundaries(*(column[:made] for column in found))

    def _break(self, what: str) -> None:
        self.is_broken = True
        self._report_damage(self._start, what)

    def _report_damage(self, start: int, what: str) -> None:
        """An error about the entry at data[start]: what the parser, which names fields, says of it, else `what`."""
        offset = start - self._start + self._offset
        types = self._layout.clustering_types if self._layout else None
        cursor = Cursor(self._data[start : self._stop], self._file.path, origin=offset)
        try:
            next(index.entries(cursor, self._version, types))
        except SSTableError as error:
            self._report.caught(error)
        else:
            self._report.error("Index.db", what, offset=offset, field="position")
