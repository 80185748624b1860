"""The six stages, in order: read, decompress, decode, merge, encode, write.

Each is a generator over what the one before it yields; none knows its neighbours. What a stage yields is valid until it
is asked for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol


class Ahead(Protocol):
    """How a stage lets a function work on items ahead of need: results come in the order of the items."""

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]: ...
