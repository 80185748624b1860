"""The six stages, in order: read, decompress, decode, merge, encode, write.

The last is asynchronous and lives in server/write.py. Each of the others is a generator over what the one before it
yields; none knows its neighbours. What a stage yields is valid until it is asked for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

Ahead = Callable[[Callable[[Any], Any], Iterable[Any]], Generator[Any]]
"""How a stage lets a function work on items ahead of need: results come in the order of the items."""


def in_turn(function: Callable[[Any], Any], items: Iterable[Any]) -> Generator[Any]:
    """An `Ahead` that is none: works on each item when its result is asked for."""
    for item in items:
        yield function(item)
