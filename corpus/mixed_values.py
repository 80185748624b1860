"""What the twelve columns of bench.mixed hold: each value from the random words of its row and run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from corpus.draw import draw, stream
from corpus.table import MARSHAL

FIRST_MS = 1_700_000_000_000
STEP_MS = 60_000
SENSOR_STEP = 1000

_COUNTRIES = pa.array(["NL", "US", "DE", "FR", "JP", "BR", "IN", "ZA"])
_SITES = pa.array([f"site {site} building {building}" for site in range(500) for building in range(20)])
_STATUSES = pa.array([f"status text number {number}" for number in range(10_000)])
_GAUSS_STEP = 20 / 37_837
"""The sum of four 16-bit numbers has a standard deviation of 37837; column c one of 20."""


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

    def word(self, index: int) -> np.ndarray:
        """uint64 (n,): one of the random words of each row."""
        if index not in self._words:
            streams = np.array([stream(self.seed, run, index) for run in range(int(self.runs.max(initial=0)) + 1)])
            self._words[index] = draw(streams[self.runs], self.ids)
        return self._words[index]

    def part(self, index: int, shift: int, bits: int) -> np.ndarray:
        """int64 (n,): some bits of a word."""
        return ((self.word(index) >> np.uint64(shift)) & np.uint64(2**bits - 1)).astype(np.int64)

    def has(self, name: str) -> np.ndarray:
        """bool (n,): whether an INSERT sets this column; f and i are left out in one row of ten."""
        if name not in ("f", "i"):
            return np.ones(len(self.sensors), bool)
        there: np.ndarray = self.part(2, 8 if name == "f" else 16, 8) % 10 != 0
        return there


def _gauss(cells: Cells) -> np.ndarray:
    pieces = [cells.part(3, shift, 16) for shift in (0, 16, 32, 48)]
    normal: np.ndarray = (np.sum(pieces, axis=0) - 131_070) * _GAUSS_STEP
    return normal


def _uuid(cells: Cells) -> np.ndarray:
    """uint8 (n, 16): version 4."""
    words = np.stack([cells.word(5), cells.word(6)], axis=1)
    data = words.astype(">u8").view(np.uint8)
    data[:, 6] = data[:, 6] & 0x0F | 0x40
    data[:, 8] = data[:, 8] & 0x3F | 0x80
    return data


@dataclass(frozen=True, slots=True)
class Column:
    """A regular column: its class, its Arrow type, and its values as numpy or Arrow array."""

    cls: str
    arrow: pa.DataType
    values: Callable[[Cells], np.ndarray | pa.Array]


COLUMNS = {
    "a": Column("LongType", pa.int64(), lambda cells: cells.sensors * SENSOR_STEP + cells.minutes),
    "b": Column("Int32Type", pa.int32(), lambda cells: (cells.part(0, 0, 32) % 100_000).astype(np.int32)),
    "c": Column("DoubleType", pa.float64(), _gauss),
    "d": Column("FloatType", pa.float32(), lambda cells: (cells.part(0, 32, 16) % 500 / 10).astype(np.float32)),
    "e": Column("BooleanType", pa.bool_(), lambda cells: cells.part(0, 63, 1).astype(bool)),
    "f": Column("UTF8Type", pa.string(), lambda cells: _COUNTRIES.take(cells.part(2, 0, 3))),
    "g": Column("UTF8Type", pa.string(), lambda cells: _SITES.take(cells.part(1, 0, 32) % len(_SITES))),
    "h": Column("UUIDType", pa.binary(16), _uuid),
    "i": Column("Int32Type", pa.int32(), lambda cells: (cells.part(2, 24, 16) % 1000).astype(np.int32)),
    "j": Column("LongType", pa.int64(), lambda cells: cells.at_ms + cells.part(2, 40, 24) % 1000),
    "k": Column("DoubleType", pa.float64(), lambda cells: cells.part(4, 11, 53) * 2.0**-53),
    "l": Column("UTF8Type", pa.string(), lambda cells: _STATUSES.take(cells.part(1, 32, 32) % len(_STATUSES))),
}
CLASSES = tuple((name, MARSHAL + column.cls) for name, column in COLUMNS.items())
