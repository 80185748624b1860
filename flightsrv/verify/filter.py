"""Filter.db: of no key of the SSTable may it say that it is not there."""

from __future__ import annotations

from flightsrv.kernels.bloom import first_absent
from flightsrv.kernels.partitions import Partitions
from flightsrv.slab import Array
from flightsrv.sstable.bloom import BloomFilter
from flightsrv.verify.findings import Report


class FilterCheck:
    """Looks up the partition keys of an SSTable as they come."""

    def __init__(self, report: Report, bloom: BloomFilter) -> None:
        self._report = report
        self._hash_count = bloom.hash_count
        self._readings = bloom.readings

    def look_at(self, found: Partitions) -> None:
        """Look up the keys of partitions."""
        self.look(found.key_at, found.key_size, found.position)

    def look(self, key_at: Array, key_size: Array, position: Array) -> None:
        """Look up keys, int64 (n,) of addresses and sizes; the positions of their partitions are for errors."""
        count = key_at.size

        def absent(words: Array, start: int) -> int:
            return int(first_absent(words, self._hash_count, key_at, key_size, start, count))

        fitting = tuple(words for words in self._readings if absent(words, 0) == count)
        if fitting:
            self._readings = fitting
            return
        key = absent(self._readings[0], 0)
        while key < count and not self._report.is_full("Filter.db"):
            what = f"it says that the key of the partition at position {position[key]} of Data.db is not there"
            self._report.error("Filter.db", what, field="words")
            key = absent(self._readings[0], key + 1)
