"""bench.sparse: a series of sixty columns, of which a row has six."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from corpus.columns import Column, Draw, numbers, pooled, text_pool
from corpus.series import Series
from corpus.series_cells import COLUMN_WORDS, Cells

_NEARLY_FULL_WORD = 63
_PERCENT, _NEARLY_FULL_PERCENT = 10, 90
_ONE_ROW_OF = 256
"""How many rows there are for one that is nearly full."""
_WORDS = text_pool(*(f"value {number}" for number in range(1000)))


def _part(number: int, shift: int, bits: int) -> Draw:
    return lambda cells: cells.part(COLUMN_WORDS + number, shift, bits)


_KINDS: tuple[Callable[[int], Column], ...] = (
    lambda number: pooled("text", _WORDS, lambda cells: _part(number, 0, 32)(cells) % 1000),
    lambda number: numbers("bigint", _part(number, 0, 48)),
    lambda number: numbers("int", _part(number, 0, 31)),
    lambda number: numbers("double", lambda cells: _part(number, 0, 48)(cells) / 1024),
    lambda number: numbers("boolean", _part(number, 0, 1)),
    lambda number: numbers("timestamp", lambda cells: cells.at_ms + _part(number, 0, 20)(cells)),
)


def _has(number: int, cells: Cells) -> np.ndarray:
    nearly_full = cells.part(_NEARLY_FULL_WORD, 0, 16) % _ONE_ROW_OF == 0
    percent = np.where(nearly_full, _NEARLY_FULL_PERCENT, _PERCENT)
    there: np.ndarray = _part(number, 50, 14)(cells) % 100 < percent
    return there


def series_of(name: str, columns: int) -> Series:
    """A series of so many columns."""
    return Series(
        name=name,
        columns={
            f"c{number:03}": _KINDS[number % len(_KINDS)](number).left_out(partial(_has, number))
            for number in range(columns)
        },
        updated=("c000", "c001", "c002"),
    )


SERIES = series_of("sparse", 60)
TABLE, ARROW_SCHEMA = SERIES.table, SERIES.arrow_schema
write, expected_batches, expected_rows = SERIES.write, SERIES.expected_batches, SERIES.expected_rows
