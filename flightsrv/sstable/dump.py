"""The text of annotated dumps: `offset  bytes  field  value`, a field a line.

4938  00000000                  STATS.min_ttl_s                 0
4950  0005f0a3 57c1a5b6         STATS.min_timestamp_us          1671550812169654 = 2022-12-20T15:40:12.169654Z
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from enum import IntFlag
from typing import Any

import numpy as np
import numpy.typing as npt

from flightsrv.sstable.cursor import Line

_BYTES_SHOWN = 12
"""Of a field as stored."""
_ELEMENTS_SHOWN = 12
"""Of an array."""
_CHARACTERS_SHOWN = 160
"""Of any value."""

_TICKS = {
    "timestamp_us": timedelta(microseconds=1),
    "delete_at_us": timedelta(microseconds=1),
    "repaired_at_ms": timedelta(milliseconds=1),
    "deletion_time_s": timedelta(seconds=1),
}
"""Ends of names of fields that are points in time: what they count since 1970."""
_NO_TIMES = (0, 2**31 - 1, 2**32 - 1)
"""Not repaired, not deleted."""


def dump(lines: Iterable[Line], data: bytes | memoryview) -> Iterator[str]:
    """A text line for each field. `data`: what the lines' offsets count in."""
    for line in lines:
        shown = data[line.offset : line.offset + min(line.size, _BYTES_SHOWN)].hex(" ", -4)
        more = "…" if line.size > _BYTES_SHOWN else ""
        text = f"{line.offset:>8}  {shown + more:<27}  {line.field:<52}  {_value_text(line)}"
        yield text.rstrip()


def _value_text(line: Line) -> str:
    text = _text(line.value)
    if isinstance(line.value, int):
        text += _time_text(line.field, line.value)
    return text if len(text) <= _CHARACTERS_SHOWN else f"{text[:_CHARACTERS_SHOWN]}…"


def _text(value: Any) -> str:
    match value:
        case IntFlag():
            return "|".join(str(flag.name) for flag in value) or "none"
        case bytes():
            text = value.decode("ascii", "replace")
            return repr(text) if text.isprintable() and text.isascii() else f"0x{value.hex()}"
        case np.ndarray():
            return _array_text(value)
    return str(value)


def _array_text(array: npt.NDArray[Any]) -> str:
    """The first elements; of pairs with a count the first whose count is not 0."""
    if array.dtype.names:
        shown = [f"{point}: {count}" for point, count in array.tolist() if count]
    else:
        shown = [str(element) for element in array[: _ELEMENTS_SHOWN + 1].tolist()]
    more = ", …" if len(shown) > _ELEMENTS_SHOWN else ""
    return f"{array.size} of [{', '.join(shown[:_ELEMENTS_SHOWN])}{more}]"


def _time_text(field: str, value: int) -> str:
    """` = 2022-12-20T15:40:12Z` behind a time that a date can be said for."""
    tick = next((tick for end, tick in _TICKS.items() if field.endswith(end)), None)
    if tick is None or value in _NO_TIMES:
        return ""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + value * tick
    except OverflowError:
        return ""
    return f" = {moment.isoformat().removesuffix('+00:00')}Z"
