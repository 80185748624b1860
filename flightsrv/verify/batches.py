"""What is known of an SSTable's index before it is compared with the partitions: entries, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from flightsrv.kernels.entries import Entries
from flightsrv.kernels.partitions import Boundaries, Partitions
from flightsrv.slab import Array


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some entries, one behind the other."""

    data: tuple[Array, ...]
    """What the addresses in the next two point into."""
    entries: Entries
    boundaries: Boundaries


class Index(Protocol):
    """An index of one format, and what there is to say about it."""

    is_broken: bool
    """Whether entries may be missing because it is damaged."""

    def next_batch(self) -> Batch | None:
        """The next entries, at least one, by position; None at the end. Raises SSTableError when it cannot be read."""

    def is_full(self) -> bool:
        """Whether so much is wrong with it that no more need be said."""

    def differs(self, event: int, entries: Entries, entry: int, position: int) -> None:
        """Say how an entry and the partition at a position differ: what match returned of them."""

    def passed(self, boundaries: Boundaries) -> None:
        """Say what is wrong with boundaries that survey has passed."""

    def saw(self, found: Partitions) -> None:
        """Take notice of the next partitions of Data.db."""

    def finish(self, is_complete: bool) -> None:
        """There are no more entries. is_complete: all partitions were seen."""


def boundaries_for(count: int) -> Boundaries:
    """Room for so many."""
    return Boundaries(*np.zeros((len(Boundaries._fields), count), np.int64))


def entries_for(count: int) -> Entries:
    """Room for so many."""
    return Entries(*np.zeros((len(Entries._fields), count), np.int64))


NO_BOUNDARIES = boundaries_for(0)
