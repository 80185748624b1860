"""A deletion time where it stands by itself: of a partition, or of a range still open between two index blocks.

    before oa    i32 local_deletion_time_s, i64 marked_for_delete_at_us; 2^31 - 1 and -2^63 when nothing is deleted
    from oa on   u8 0x80 when nothing is deleted; else i64 marked_for_delete_at_us, u32 local_deletion_time_s

Source: org.apache.cassandra.db.DeletionTime.LegacySerializer, DeletionTime.Serializer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import STRICT, IntFlag

from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.version import Version


class Flags(IntFlag, boundary=STRICT):
    """The first byte, if it has this one: no time has it."""

    IS_LIVE = 0x80


@dataclass(frozen=True, slots=True)
class DeletionTime:
    """All that was written at marked_for_delete_at_us or earlier is deleted."""

    marked_for_delete_at_us: int
    local_deletion_time_s: int
    """When the deletion was made, as stored."""


LIVE = DeletionTime(-(2**63), 2**31 - 1)


def parse(cursor: Cursor, version: Version) -> DeletionTime | None:
    """Read a deletion time; None when nothing is deleted."""
    if version.has_uint_deletion_time:
        if cursor.ahead("flags", 1)[0] & Flags.IS_LIVE:
            cursor.flags("flags", Flags)
            return None
        return DeletionTime(cursor.i64("marked_for_delete_at_us"), cursor.u32("local_deletion_time_s"))
    local_deletion_time_s = cursor.i32("local_deletion_time_s")
    deletion = DeletionTime(cursor.i64("marked_for_delete_at_us"), local_deletion_time_s)
    return None if deletion == LIVE else deletion
