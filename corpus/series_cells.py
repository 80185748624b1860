"""Where values of a series are drawn: each from the random words of its row and run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from corpus.draw import draw, stream

FIRST_MS = 1_700_000_000_000
STEP_MS = 60_000

WORDS = 16
"""Words below this belong to the rows of bench.mixed."""
COLUMN_WORDS = 64
"""Words from this on belong to a column each, in other tables; between them are those of events (series_events.py)."""
MOST_ELEMENTS = 8
"""Of a collection."""


@dataclass(slots=True)
class Cells:
    """Rows of the table, and the run that each was written in: all that a value depends on."""

    seed: int
    rows_per_sensor: int
    sensors: np.ndarray
    minutes: np.ndarray
    """int64 (n,): clustering is FIRST_MS + minute * STEP_MS."""
    runs: np.ndarray
    """int64 (n,) or (1,)"""
    _words: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def ids(self) -> np.ndarray:
        """int64 (n,): a number for every row of the table."""
        ids: np.ndarray = self.sensors * self.rows_per_sensor + self.minutes
        return ids

    @property
    def at_ms(self) -> np.ndarray:
        """int64 (n,): the clustering column."""
        at_ms: np.ndarray = FIRST_MS + self.minutes * STEP_MS
        return at_ms

    def _streams(self, index: int) -> np.ndarray:
        """uint64 (n,) or (1,): where the numbers of a word start."""
        streams = np.array([stream(self.seed, run, index) for run in range(int(self.runs.max(initial=0)) + 1)])
        started: np.ndarray = streams[self.runs]
        return started

    def word(self, index: int) -> np.ndarray:
        """uint64 (n,): one of the random words of each row."""
        if index not in self._words:
            self._words[index] = draw(self._streams(index), self.ids)
        return self._words[index]

    def part(self, index: int, shift: int, bits: int) -> np.ndarray:
        """int64 (n,): some bits of a word."""
        return ((self.word(index) >> np.uint64(shift)) & np.uint64(2**bits - 1)).astype(np.int64)

    def element_words(self, index: int, owner: np.ndarray, number: np.ndarray) -> np.ndarray:
        """uint64: a word for each element of a collection: number (below MOST_ELEMENTS) of row `owner`."""
        streams = np.broadcast_to(self._streams(index), self.sensors.shape)
        return draw(streams[owner], self.ids[owner] * MOST_ELEMENTS + number)


def version_4(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """uint8 (n, 16): UUIDs of two random words each."""
    data = np.stack([high, low], axis=1).astype(">u8").view(np.uint8)
    data[:, 6] = data[:, 6] & 0x0F | 0x40
    data[:, 8] = data[:, 8] & 0x3F | 0x80
    return data


_GREGORIAN_TICKS = 0x01B2_1DD2_1381_4000
"""100 ns from 1582-10-15, where version 1 counts from, to 1970."""


def version_1(unix_ticks: np.ndarray, node: np.ndarray) -> np.ndarray:
    """uint8 (n, 16): UUIDs of a time, in 100 ns since 1970, and of an int64 in place of clock sequence and node."""
    ticks = unix_ticks + _GREGORIAN_TICKS
    high = (ticks & 0xFFFF_FFFF) << 32 | (ticks >> 32 & 0xFFFF) << 16 | 0x1000 | ticks >> 48
    words = np.stack(np.broadcast_arrays(high, node), axis=1)
    data: np.ndarray = words.astype(">i8").view(np.uint8)
    data[:, 8] = data[:, 8] & 0x3F | 0x80
    return data
