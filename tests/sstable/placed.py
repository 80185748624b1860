"""Where partitions and their rows lie in Data.db, by the walk that reads it field by field."""

from __future__ import annotations

from typing import NamedTuple

from flightsrv.sstable.describe import describe_data
from tests.sstable.components import SSTable


class Placed(NamedTuple):
    """One partition."""

    key: bytes
    position: int
    unfiltereds: list[int]
    """Positions of its rows and markers."""
    end: int
    """The position of its end marker."""


def placed(sstable: SSTable) -> list[Placed]:
    """All partitions of an SSTable, in order."""
    found: list[Placed] = []
    unfiltereds: list[int] = []
    for line in describe_data(sstable.data(), sstable.header, sstable.version, str(sstable.data_file)):
        field = line.field.partition(".")[2]
        if field == "key":
            unfiltereds = []
            found.append(Placed(line.value, line.offset, unfiltereds, -1))
        elif field == "end":
            found[-1] = found[-1]._replace(end=line.offset)
        elif field.endswith(".flags") and field.count(".") == 1 and field.startswith(("row ", "marker ")):
            unfiltereds.append(line.offset)
    return found
