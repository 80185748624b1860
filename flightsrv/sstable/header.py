"""SerializationHeader: the last part of Statistics.db, without which no row can be read.

    uvint    min_timestamp_us             less 1442880000000000, modulo 2^64
    uvint    min_local_deletion_time_s    less 1442880000
    uvint    min_ttl_s
    vbytes   key type
    uvint    clustering column count, then vbytes type
    uvint    static column count, then vbytes name, vbytes type
    uvint    regular column count, then vbytes name, vbytes type

The three minima are only what the times in Data.db are counted from. The columns stand in the order in which rows store
them: first those that are stored as one cell, then non-frozen collections and UDTs, each by the bytes of their names.
Names of keyspace, table, key and clustering columns are nowhere in an SSTable.

Source: org.apache.cassandra.db.SerializationHeader.Serializer, rows.EncodingStats.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flightsrv.sstable.cursor import Cursor

TIMESTAMP_EPOCH_US = 1_442_880_000_000_000
DELETION_TIME_EPOCH_S = 1_442_880_000

Column = tuple[str, str]
"""Name, and type as a marshal string."""


@dataclass(frozen=True, slots=True)
class SerializationHeader:
    """How the rows of one SSTable are stored. Types are marshal strings: `org.apache.cassandra.db.marshal.LongType`."""

    min_timestamp_us: int
    min_local_deletion_time_s: int
    min_ttl_s: int
    key_type: str
    clustering_types: tuple[str, ...]
    static_columns: tuple[Column, ...]
    regular_columns: tuple[Column, ...]


def parse(cursor: Cursor) -> SerializationHeader:
    """Read the header up to its last column.

    Raises CorruptSSTableError when columns are not in their order, or one is there twice.
    """
    return SerializationHeader(
        min_timestamp_us=cursor.delta("min_timestamp_us", TIMESTAMP_EPOCH_US),
        min_local_deletion_time_s=cursor.delta("min_local_deletion_time_s", DELETION_TIME_EPOCH_S),
        min_ttl_s=cursor.delta("min_ttl_s", 0),
        key_type=cursor.vtext("key_type"),
        clustering_types=types(cursor, "clustering"),
        static_columns=_columns(cursor, "static"),
        regular_columns=_columns(cursor, "regular"),
    )


def types(cursor: Cursor, section: str) -> tuple[str, ...]:
    """A counted list of types."""
    with cursor.section(section):
        return tuple(cursor.vtext(f"type {i}") for i in cursor.count("count", "uvint", at_least=1))


def _columns(cursor: Cursor, section: str) -> tuple[Column, ...]:
    with cursor.section(section):
        # A column's name is any bytes; encode("utf-8", "surrogateescape") gives them back, UTF-8 or not.
        columns = tuple(
            (cursor.vbytes(f"name {i}").decode("utf-8", "surrogateescape"), cursor.vtext(f"type {i}"))
            for i in cursor.count("count", "uvint", at_least=2)
        )
        names = [name.encode("utf-8", "surrogateescape") for name, _ in columns]
        # Which of them are stored cell by cell, 3.0 does not tell (CASSANDRA-15035): so names may start anew once.
        is_ordered = sum(a > b for a, b in pairwise(names)) <= 1 and len(set(names)) == len(names)
        cursor.require(is_ordered, "names", "they are not in their order, or one is there twice")
    return columns
