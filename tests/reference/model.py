"""What one SSTable says, as plain objects. Values stay bytes; None is null (or not there)."""

from __future__ import annotations

from dataclasses import dataclass, field

MIN_I64 = -(2**63)
INVALID_DELETION_TIME_S = 4294967294
"""What Cassandra 5.0 reads an overflowed (negative) local deletion time as."""
EXPIRED_LIVENESS_TTL_S = 2147483647
"""The ttl that makes a row's liveness dead from the start (views only)."""


@dataclass(frozen=True, slots=True, order=True)
class Deletion:
    """Deletes all that was written at or before `marked_at_us`. Compares as Cassandra's `supersedes`."""

    marked_at_us: int
    local_s: int
    """Local deletion time: only breaks ties, and says when the tombstone may be purged."""

    def deletes(self, timestamp_us: int) -> bool:
        return timestamp_us <= self.marked_at_us


LIVE = Deletion(MIN_I64, -1)
"""No deletion. Nothing has a timestamp so low, except a liveness that is not there."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """A row's own timestamp: the row was inserted, not only its cells."""

    timestamp_us: int
    ttl_s: int = 0
    expires_s: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A value, a value that expires, or a tombstone."""

    timestamp_us: int
    value: bytes = b""
    ttl_s: int = 0
    local_s: int | None = None
    """When an expiring cell expires, or a tombstone was written; None for a cell that never expires."""
    path: bytes | None = None
    """Key of an element of a non-frozen collection, or index of a field of a non-frozen UDT."""

    @property
    def is_tombstone(self) -> bool:
        return self.local_s is not None and self.ttl_s == 0


@dataclass(frozen=True, slots=True)
class Complex:
    """A non-frozen collection or UDT in one row of one SSTable."""

    deletion: Deletion = LIVE
    cells: tuple[Cell, ...] = ()


Clustering = tuple[bytes | None, ...]
Columns = dict[str, "Cell | Complex"]


@dataclass(frozen=True, slots=True)
class Row:
    clustering: Clustering
    columns: Columns = field(default_factory=dict)
    liveness: Liveness | None = None
    deletion: Deletion = LIVE
    is_shadowable: bool = False
    """The deletion ends with the next newer liveness (views of 3.0 to 3.11)."""


EXCL_END, INCL_START, EXCL_END_INCL_START, INCL_END_EXCL_START, INCL_END, EXCL_START = 0, 1, 2, 5, 6, 7
BEFORE = (EXCL_END, INCL_START, EXCL_END_INCL_START)
"""Kinds that sort before the rows of their values; the others sort after them."""
ENDS = (EXCL_END, EXCL_END_INCL_START, INCL_END_EXCL_START, INCL_END)
STARTS = (INCL_START, EXCL_END_INCL_START, INCL_END_EXCL_START, EXCL_START)


@dataclass(frozen=True, slots=True)
class Marker:
    """A bound of a range deletion, or a boundary: the end of one and the start of the next."""

    kind: int
    values: Clustering
    ends: Deletion | None = None
    starts: Deletion | None = None


@dataclass(frozen=True, slots=True)
class Partition:
    key: bytes
    deletion: Deletion = LIVE
    static: Row | None = None
    unfiltered: tuple[Row | Marker, ...] = ()
