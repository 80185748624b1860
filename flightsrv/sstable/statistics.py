"""Statistics.db: what is known of an SSTable without reading its rows, and how the rows are stored.

    i32                     component count, always 4
    u32                     crc of the count                       if the version has metadata checksums
    (i32 type, i32 offset)  of each component                      0 VALIDATION, 1 COMPACTION, 2 STATS, 3 HEADER
    u32                     crc of the count, types and offsets    if ...
    components              back to back, each with its crc at its end, if ...

VALIDATION is the partitioner and the bloom filter's chance of a false positive. COMPACTION is an estimator of the
number of keys that only Cassandra's library reads. STATS is `stats.py`, HEADER is `header.py`. Minor versions may
append to a component, so bytes left at its end are no error; but no version without checksums has any.

Source: org.apache.cassandra.io.sstable.metadata.MetadataSerializer, ValidationMetadata (3.0 to 5.0).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from flightsrv.sstable import header, stats
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.stats import Stats
from flightsrv.sstable.version import Version

_COMPONENTS = ("VALIDATION", "COMPACTION", "STATS", "HEADER")
_CRC_SIZE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """All of Statistics.db that a reader has a use for."""

    partitioner: str
    """Class name with its package."""
    bloom_filter_fp_chance: float
    stats: Stats
    header: SerializationHeader


def parse(cursor: Cursor, version: Version) -> Statistics:
    """Read a whole Statistics.db.

    Raises CorruptSSTableError when a checksum is wrong, a component is missing or a field does not end inside of its
    component.
    """
    sizes = _table_of_contents(cursor, version)
    with _component(cursor, version, "VALIDATION", sizes[0]):
        partitioner = cursor.utf("partitioner")
        bloom_filter_fp_chance = cursor.f64("bloom_filter_fp_chance")
    with _component(cursor, version, "COMPACTION", sizes[1]):
        cursor.ibytes("cardinality_estimator")
    with _component(cursor, version, "STATS", sizes[2]):
        statistics = stats.parse(cursor, version)
    with _component(cursor, version, "HEADER", sizes[3]):
        serialization_header = header.parse(cursor)
    cursor.end()
    return Statistics(partitioner, bloom_filter_fp_chance, statistics, serialization_header)


def _table_of_contents(cursor: Cursor, version: Version) -> list[int]:
    """The sizes of the components, crcs included."""
    with cursor.section("contents"):
        count = cursor.i32("count")
        cursor.require(count == len(_COMPONENTS), "count", f"there are {count} components, not {len(_COMPONENTS)}")
        crc = zlib.crc32(count.to_bytes(4))
        if version.has_metadata_checksum:
            cursor.crc32("count crc", crc)
        types, offsets = [], []
        for name in _COMPONENTS:
            crc = zlib.crc32(cursor.ahead(f"{name} type", 8), crc)
            types.append(cursor.i32(f"{name} type"))
            offsets.append(cursor.i32(f"{name} offset"))
        if version.has_metadata_checksum:
            cursor.crc32("crc", crc)
        cursor.require(types == [0, 1, 2, 3], "types", f"they are {types}, not 0, 1, 2, 3")
        cursor.require(
            offsets[0] == cursor.offset, "offsets", f"the first component is at {offsets[0]}, not {cursor.offset}"
        )
    return [int(size) for size in np.diff([*offsets, cursor.offset + cursor.left])]


@contextmanager
def _component(cursor: Cursor, version: Version, name: str, size: int) -> Iterator[None]:
    """The fields read inside are those of a component of `size` bytes; its crc, if any, is compared first."""
    start = cursor.offset
    body_size = size - _CRC_SIZE if version.has_metadata_checksum else size
    if version.has_metadata_checksum:
        with cursor.section(name):
            crc = zlib.crc32(cursor.ahead("crc", body_size))
            cursor.seek(start + body_size, "crc")
            cursor.crc32("crc", crc)
        cursor.seek(start, name)
    with cursor.section(name, body_size):
        yield
        if not version.has_metadata_checksum:
            cursor.end()
        elif cursor.left:
            cursor.raw("unknown", cursor.left)
    cursor.seek(start + size, name)
