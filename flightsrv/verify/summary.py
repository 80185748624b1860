"""Summary.db: each of its keys with the entry of Index.db that it points at."""

from __future__ import annotations

import ctypes

import numpy as np

from flightsrv.sstable.summary import FULL_SAMPLING_LEVEL, Summary
from flightsrv.verify.batches import Batch
from flightsrv.verify.findings import Report


class SummaryCheck:
    """Follows the entries of Index.db."""

    def __init__(self, report: Report, summary: Summary) -> None:
        self._report = report
        self._summary = summary
        self._sample = 0
        self._entry_count = 0
        self._last_key = b""

    def look(self, batch: Batch) -> None:
        """See the next entries."""
        summary, entries = self._summary, batch.entries
        if self._entry_count == 0 and _key(batch, 0) != summary.first_key:
            self._report.error("Summary.db", "it is not the key of Index.db's first entry", field="first_key")
        stop = int(np.searchsorted(summary.index_offsets, entries.offset[-1], side="right"))
        offsets = summary.index_offsets[self._sample : stop]
        places = np.searchsorted(entries.offset, offsets)
        for sample, (offset, place) in enumerate(zip(offsets.tolist(), places.tolist(), strict=True), self._sample):
            self._check_sample(sample, offset, place, batch)
        self._sample = stop
        self._entry_count += entries.offset.size
        self._last_key = _key(batch, -1)

    def finish(self) -> None:
        """There are no more entries."""
        summary = self._summary
        if self._last_key != summary.last_key:
            self._report.error("Summary.db", "it is not the key of Index.db's last entry", field="last_key")
        if self._sample < summary.entry_count:
            what = f"it points at offset {summary.index_offsets[self._sample]}, but Index.db ends before"
            self._report.error("Summary.db", what, field=f"entry {self._sample}")
        size = -(-self._entry_count // summary.min_index_interval)
        if summary.size_at_full_sampling != size:
            what = (
                f"it is {summary.size_at_full_sampling}, but Index.db has {self._entry_count} entries, so it is {size}"
            )
            self._report.error("Summary.db", what, field="size_at_full_sampling")

    def _check_sample(self, sample: int, offset: int, place: int, batch: Batch) -> None:
        field = f"entry {sample}"
        if self._report.is_full("Summary.db"):
            return
        if batch.entries.offset[place] != offset:
            self._report.error("Summary.db", f"no entry of Index.db starts at offset {offset}", field=field)
        elif _key(batch, place) != self._summary.key(sample):
            self._report.error("Summary.db", f"its key is not that of Index.db's entry at offset {offset}", field=field)
        elif self._summary.sampling_level == FULL_SAMPLING_LEVEL:
            entry = self._entry_count + place
            wanted = sample * self._summary.min_index_interval
            if entry != wanted:
                what = f"it points at entry {entry} of Index.db, not {wanted}, though all samples are there"
                self._report.error("Summary.db", what, field=field)


def _key(batch: Batch, entry: int) -> bytes:
    return ctypes.string_at(int(batch.entries.key_at[entry]), int(batch.entries.key_size[entry]))
