"""Index.db, batch by batch: its entries, and the boundaries that their row indexes tell of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flightsrv.errors import SSTableError
from flightsrv.io.buffered import BufferedFile
from flightsrv.kernels.index_entries import index_entries
from flightsrv.kernels.partitions import Boundaries
from flightsrv.kernels.row_index import NO_ROW_INDEX, Entries, count_boundaries, row_index_boundaries
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.status import CORRUPT, DONE
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import NO_DELETION_TIME, NO_TIMESTAMP, Array
from flightsrv.sstable import index
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import Version
from flightsrv.verify.findings import Report

READ_BYTES = 1024 * 1024
ENTRIES_A_BATCH = 16_384


@dataclass(frozen=True, slots=True)
class RowIndexLayout:
    """What is needed to take row indexes apart."""

    header: RunHeader
    clustering_types: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some entries, one behind the other."""

    data: Array
    """What the addresses in the next two point into."""
    entries: Entries
    boundaries: Boundaries


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
        none = np.full(position.size, NO_ROW_INDEX, np.int64)
        entries = Entries(
            offset=key_start - 2 - self._start + self._offset,
            key_at=key_start + self._data.ctypes.data,
            key_size=key_size,
            position=position,
            promoted_at=ends - promoted_size,
            promoted_size=promoted_size,
            header_length=none,
            deletion_us=np.full(position.size, NO_TIMESTAMP, np.int64),
            deletion_s=np.full(position.size, NO_DELETION_TIME, np.int64),
        )
        boundaries = self._boundaries(entries) if self._layout and promoted_size.any() else boundaries_for(0)
        self._offset += stopped_at - self._start
        self._start = stopped_at
        self._previous = int(position[-1])
        return Batch(self._data, entries, boundaries)

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


def boundaries_for(count: int) -> Boundaries:
    """Room for so many."""
    return Boundaries(*np.zeros((len(Boundaries._fields), count), np.int64))
