"""Clustering prefixes as they are stored: the values that place a row or a bound within its partition.

    values   for every 32 of them: uvint header, then the values that have bytes
             header bit 2i: value i is empty; bit 2i + 1: it is null
             a value is raw when its type has a fixed size, else uvint length and bytes
    bound    u8 kind, u16 count, values
    prefix   u8 kind; of a row: as many values as the table has clustering columns; else: as a bound

Source: org.apache.cassandra.db.ClusteringPrefix, ClusteringBoundOrBoundary, Clustering.Serializer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flightsrv.cql.marshal import parse_marshal
from flightsrv.errors import SchemaError
from flightsrv.sstable.cursor import Cursor

EXCL_END_BOUND = 0
INCL_START_BOUND = 1
EXCL_END_INCL_START_BOUNDARY = 2
CLUSTERING = 4
INCL_END_EXCL_START_BOUNDARY = 5
INCL_END_BOUND = 6
EXCL_START_BOUND = 7

BOUNDARY_KINDS = frozenset((EXCL_END_INCL_START_BOUNDARY, INCL_END_EXCL_START_BOUNDARY))
"""They end one range of deleted rows and start the next."""
BOUND_KINDS = BOUNDARY_KINDS | {EXCL_END_BOUND, INCL_START_BOUND, INCL_END_BOUND, EXCL_START_BOUND}

_BATCH = 32


@dataclass(frozen=True, slots=True)
class Prefix:
    """A row's clustering, or a bound before or after all rows that start with its values."""

    kind: int
    values: tuple[bytes | None, ...]
    """None is null."""


def fixed_sizes(cursor: Cursor, field: str, types: Iterable[str]) -> tuple[int, ...]:
    """For each marshal string the bytes of its values where they are stored without a length, else -1.

    Raises CorruptSSTableError at the field read last when a string is no type.
    """
    try:
        return tuple(parse_marshal(type).type.fixed_size for type in types)
    except SchemaError as error:
        cursor.fail(field, str(error))


def values(cursor: Cursor, sizes: Sequence[int]) -> tuple[bytes | None, ...]:
    """Read one value for each of the fixed sizes."""
    found: list[bytes | None] = []
    for first in range(0, len(sizes), _BATCH):
        batch = sizes[first : first + _BATCH]
        header = cursor.uvint("values header")
        cursor.require(
            header >> 2 * len(batch) == 0, "values header", f"{header:#x} is of more than {len(batch)} values"
        )
        for i, size in enumerate(batch):
            is_empty, is_null = header >> 2 * i & 1, header >> 2 * i & 2
            cursor.require(not (is_empty and is_null), "values header", f"value {first + i} is both empty and null")
            if is_empty or is_null:
                found.append(b"" if is_empty else None)
            else:
                field = f"value {first + i}"
                found.append(cursor.vbytes(field) if size < 0 else cursor.raw(field, size))
    return tuple(found)


def bound(cursor: Cursor, sizes: Sequence[int]) -> Prefix:
    """Read a bound; `sizes` are those of all clustering columns."""
    return _bound_values(cursor, sizes, cursor.u8("kind"))


def prefix(cursor: Cursor, sizes: Sequence[int]) -> Prefix:
    """Read a row's clustering or a bound; `sizes` are those of all clustering columns."""
    kind = cursor.u8("kind")
    if kind == CLUSTERING:
        return Prefix(kind, values(cursor, sizes))
    return _bound_values(cursor, sizes, kind)


def _bound_values(cursor: Cursor, sizes: Sequence[int], kind: int) -> Prefix:
    cursor.require(kind in BOUND_KINDS, "kind", f"{kind} is not that of a bound")
    count = cursor.u16("value count")
    cursor.require(count <= len(sizes), "value count", f"{count} is more than the {len(sizes)} clustering columns")
    return Prefix(kind, values(cursor, sizes[:count]))
