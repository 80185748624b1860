"""bench.mixed: a series of twelve columns of mixed types."""

from __future__ import annotations

import numpy as np

from corpus.columns import Draw, numbers, pooled, text_pool, uuids
from corpus.series import Series
from corpus.series_cells import Cells, version_4

SENSOR_STEP = 1000

_COUNTRIES = text_pool("NL", "US", "DE", "FR", "JP", "BR", "IN", "ZA")
_SITES = text_pool(*(f"site {site} building {building}" for site in range(500) for building in range(20)))
_STATUSES = text_pool(*(f"status text number {number}" for number in range(10_000)))
_GAUSS_STEP = 20 / 37_837
"""The sum of four 16-bit numbers has a standard deviation of 37837; column c one of 20."""


def _gauss(cells: Cells) -> np.ndarray:
    pieces = [cells.part(3, shift, 16) for shift in (0, 16, 32, 48)]
    normal: np.ndarray = (np.sum(pieces, axis=0) - 131_070) * _GAUSS_STEP
    return normal


def _nine_of_ten(shift: int) -> Draw:
    return lambda cells: cells.part(2, shift, 8) % 10 != 0


SERIES = Series(
    name="mixed",
    columns={
        "a": numbers("bigint", lambda cells: cells.sensors * SENSOR_STEP + cells.minutes),
        "b": numbers("int", lambda cells: cells.part(0, 0, 32) % 100_000),
        "c": numbers("double", _gauss),
        "d": numbers("float", lambda cells: cells.part(0, 32, 16) % 500 / 10),
        "e": numbers("boolean", lambda cells: cells.part(0, 63, 1)),
        "f": pooled("text", _COUNTRIES, lambda cells: cells.part(2, 0, 3)).left_out(_nine_of_ten(8)),
        "g": pooled("text", _SITES, lambda cells: cells.part(1, 0, 32) % 10_000),
        "h": uuids("uuid", lambda cells: version_4(cells.word(5), cells.word(6))),
        "i": numbers("int", lambda cells: cells.part(2, 24, 16) % 1000).left_out(_nine_of_ten(16)),
        "j": numbers("bigint", lambda cells: cells.at_ms + cells.part(2, 40, 24) % 1000),
        "k": numbers("double", lambda cells: cells.part(4, 11, 53) * 2.0**-53),
        "l": pooled("text", _STATUSES, lambda cells: cells.part(1, 32, 32) % 10_000),
    },
    updated="bgl",
)
TABLE, ARROW_SCHEMA = SERIES.table, SERIES.arrow_schema
write, expected_batches, expected_rows = SERIES.write, SERIES.expected_batches, SERIES.expected_rows
