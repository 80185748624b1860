"""Range deletions to markers and back. A run's ranges may overlap as they please; its markers may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from tests.reference.model import (
    BEFORE,
    EXCL_END,
    EXCL_END_INCL_START,
    EXCL_START,
    INCL_END,
    INCL_END_EXCL_START,
    INCL_START,
    LIVE,
    Clustering,
    Deletion,
    Marker,
    Row,
)
from tests.reference.ordering import clustering_key
from tests.reference.types import CqlType


@dataclass(frozen=True, slots=True)
class Bound:
    """A place before (-1) or after (1) all rows whose clustering starts with these values."""

    values: Clustering
    side: int


@dataclass(frozen=True, slots=True)
class RangeDeletion:
    start: Bound
    end: Bound
    deletion: Deletion


def place_key(types: Sequence[CqlType], values: Clustering, side: int) -> Any:
    """Sorts rows (side 0) and bounds together. A shorter bound stands before or after all that begins like it."""

    def compare(a: tuple[tuple[Any, ...], int], b: tuple[tuple[Any, ...], int]) -> int:
        (a_key, a_side), (b_key, b_side) = a, b
        common = min(len(a_key), len(b_key))
        if a_key[:common] != b_key[:common]:
            return 1 if a_key[:common] > b_key[:common] else -1
        if len(a_key) != len(b_key):
            return a_side if len(a_key) < len(b_key) else -b_side
        return a_side - b_side

    return cmp_to_key(compare)((clustering_key(types, values), side))


def unfiltered_key(types: Sequence[CqlType], unfiltered: Row | Marker) -> Any:
    """Sorts the rows and markers of a partition as they lie in an SSTable."""
    if isinstance(unfiltered, Row):
        return place_key(types, unfiltered.clustering, 0)
    return place_key(types, unfiltered.values, -1 if unfiltered.kind in BEFORE else 1)


def markers_of(ranges: Sequence[RangeDeletion], types: Sequence[CqlType]) -> list[Marker]:
    """Walk over all bounds in order; where the deletion that counts changes, there is a marker."""

    def key(bound: Bound) -> Any:
        return place_key(types, bound.values, bound.side)

    markers = []
    active = LIVE
    for bound in sorted({bound for range_ in ranges for bound in (range_.start, range_.end)}, key=key):
        covering = [range_.deletion for range_ in ranges if key(range_.start) <= key(bound) < key(range_.end)]
        following = max(covering, default=LIVE)
        if following != active:
            markers.append(_marker(bound, active, following))
        active = following
    return markers


def _marker(bound: Bound, ends: Deletion, starts: Deletion) -> Marker:
    if starts == LIVE:
        return Marker(EXCL_END if bound.side < 0 else INCL_END, bound.values, ends=ends)
    if ends == LIVE:
        return Marker(INCL_START if bound.side < 0 else EXCL_START, bound.values, starts=starts)
    kind = EXCL_END_INCL_START if bound.side < 0 else INCL_END_EXCL_START
    return Marker(kind, bound.values, ends, starts)


def ranges_of_markers(markers: Sequence[Marker]) -> Iterator[RangeDeletion]:
    """The ranges that markers open and close, a boundary doing both."""
    for opening, closing in pairwise(markers):
        if opening.starts:
            yield RangeDeletion(_bound(opening), _bound(closing), opening.starts)


def _bound(marker: Marker) -> Bound:
    return Bound(marker.values, -1 if marker.kind in BEFORE else 1)
