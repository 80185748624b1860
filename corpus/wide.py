"""bench.wide: a series of twenty columns, of every scalar type that a regular column can have but counters."""

from __future__ import annotations

import ipaddress

import numpy as np
import pyarrow as pa

from corpus.columns import Draw, Pool, blobs, decimals, numbers, pooled, text_pool, uuids
from corpus.encoding import signed_vint
from corpus.series import Series
from corpus.series_cells import COLUMN_WORDS, Cells, version_1, version_4

_DAY_NS = 86_400_000_000_000
_CODES = text_pool(*(f"{a}{b}-{number}" for a in "ABCDEFGH" for b in "XYZ" for number in range(10)))
_NAMES = text_pool(*(f"пример {number}" for number in range(100)), *(f"example {number}" for number in range(900)))
_NOTES = text_pool(*(f"note number {number}, of a length of some forty bytes" for number in range(5000)))


def _part(column: str, shift: int = 0, bits: int = 64) -> Draw:
    """int64 (n,): some bits of a column's own word."""
    return lambda cells: cells.part(COLUMN_WORDS + ord(column) - ord("a"), shift, bits)


def _signed(column: str, bits: int) -> Draw:
    """int64 (n,): numbers of so many bits, the first of which is their sign."""
    return lambda cells: _part(column, 0, bits)(cells) - 2 ** (bits - 1)


def _of_any_length(column: str, bits: int) -> Draw:
    """int64 (n,): likewise, but most are shorter."""
    return lambda cells: _signed(column, bits)(cells) >> _part(column, 58, 6)(cells) % bits


def _one_of(column: str, count: int) -> Draw:
    return lambda cells: _part(column, 0, 32)(cells) % count


def _nine_of_ten(column: str) -> Draw:
    return lambda cells: _part(column, 50, 8)(cells) % 10 != 0


def _bytes(cells: Cells) -> np.ndarray:
    words = np.stack([cells.word(COLUMN_WORDS + 20 + i) for i in range(3)], axis=1)
    return words.view(np.uint8)


def _addresses() -> Pool:
    found = [ipaddress.ip_address(0x0A00_0000 + 2557 * number) for number in range(200)]
    found += [
        ipaddress.ip_address((0x2001_0DB8 << 96) + (number << 64) * (number % 3) + number) for number in range(56)
    ]
    return Pool(pa.array([each.packed for each in found]), pa.array([str(each) for each in found]))


def _durations() -> Pool:
    """Months, days and nanoseconds, and how Cassandra writes them."""
    found = [((0, days, 0), f"{days}d") for days in range(1, 50)]
    found += [((0, 0, hours * 3_600_000_000_000 + 1_000), f"{hours}h1us") for hours in range(1, 50)]
    found += [((12 * years + 2, 3, 5_000_000), f"{years}y2mo3d5ms") for years in range(1, 20)]
    found += [((-1, -days, -1), f"-1mo{days}d1ns") for days in range(1, 9)]
    stored = [b"".join(signed_vint(part) for part in parts) for parts, _ in found]
    return Pool(pa.array(stored), pa.array([text for _, text in found]))


def _time_uuids(cells: Cells) -> np.ndarray:
    return version_1(cells.at_ms * 10_000 + _part("q", 0, 20)(cells), _part("q", 0, 63)(cells))


_ADDRESSES, _DURATIONS = _addresses(), _durations()

SERIES = Series(
    name="wide",
    columns={
        "a": pooled("ascii", _CODES, _one_of("a", 240)),
        "b": numbers("bigint", lambda cells: _part("b")(cells)),
        "c": blobs(_bytes, lambda cells: _part("c", 0, 32)(cells) % 25).left_out(_nine_of_ten("c")),
        "d": numbers("boolean", _part("d", 0, 1)),
        "e": numbers("date", lambda cells: _part("e", 0, 16)(cells) - 10_000),
        "f": decimals("decimal", _of_any_length("f", 32), scale=2).left_out(_nine_of_ten("f")),
        "g": numbers("double", lambda cells: _part("g", 0, 53)(cells) * 2.0**-40 - 1000),
        "h": pooled("duration", _DURATIONS, _one_of("h", len(_DURATIONS.shown))).left_out(_nine_of_ten("h")),
        "i": numbers("float", lambda cells: _part("i", 0, 20)(cells) / 8 - 10_000),
        "j": pooled("inet", _ADDRESSES, _one_of("j", len(_ADDRESSES.shown))),
        "k": numbers("int", _signed("k", 32)),
        "l": numbers("smallint", _signed("l", 16)),
        "m": pooled("text", _NAMES, _one_of("m", 1000)),
        "n": pooled("text", _NOTES, _one_of("n", 5000)).left_out(_nine_of_ten("n")),
        "o": numbers("time", lambda cells: _part("o", 0, 48)(cells) % _DAY_NS),
        "p": numbers("timestamp", lambda cells: cells.at_ms - _part("p", 0, 40)(cells)),
        "q": uuids("timeuuid", _time_uuids),
        "r": numbers("tinyint", _signed("r", 8)),
        "s": uuids("uuid", lambda cells: version_4(cells.word(COLUMN_WORDS + 18), cells.word(COLUMN_WORDS + 23))),
        "t": decimals("varint", _of_any_length("t", 48)).left_out(_nine_of_ten("t")),
    },
    updated="bkm",
)
TABLE, ARROW_SCHEMA = SERIES.table, SERIES.arrow_schema
write, expected_batches, expected_rows = SERIES.write, SERIES.expected_batches, SERIES.expected_rows
