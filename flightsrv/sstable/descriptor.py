"""Names of SSTable files: `<version>-<id>-<format>-<component>`, as in nb-7-big-Data.db.

The id is a sequence number or, from Cassandra 4.1 on, a UUID in base 36 (`3ggl_0p4k_4oyeo2e6pmvalkao02`). It orders
SSTables by age but never decides what a read returns.

Source: org.apache.cassandra.io.sstable.Descriptor, SSTableIdFactory, UUIDBasedSSTableId.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from flightsrv.sstable.version import Version


class FileName(NamedTuple):
    """The parts of a file's name."""

    letters: str
    id: str
    format: str
    component: str
    """`Data.db`, `TOC.txt`, `SAI+aa+…`: what follows the last `-`."""


_LETTERS = re.compile(r"[a-z]{2}")
_ID = re.compile(r"\d{1,10}|[0-9a-z]{4}_[0-9a-z]{4}_[0-9a-z]{18}", re.IGNORECASE)
_FORMAT = re.compile(r"[a-z]+")


def parse_name(file_name: str) -> FileName | None:
    """The parts of an SSTable file's name; None for any other file, unfinished `.tmp` files included.

    Names from before Cassandra 2.2 (`keyspace-table-ka-7-Data.db`) are taken apart as if they ended in
    `ka-7-big-Data.db`, so that `version_of` refuses them by name.
    """
    match file_name.split("-"):
        case [letters, id, format, component]:
            pass
        case [_keyspace, _table, letters, id, component]:
            format = "big"
        case _:
            return None
    if not (_LETTERS.fullmatch(letters) and _ID.fullmatch(id) and _FORMAT.fullmatch(format)):
        return None
    if not component or component.endswith(".tmp"):
        return None
    return FileName(letters, id, format, component)


def id_order(id: str) -> tuple[int, int, int]:
    """A key that sorts ids from old to new: every UUID is newer than every sequence number."""
    if "_" not in id:
        return 0, int(id), 0
    days, seconds, rest = id.split("_")
    ticks = (int(days, 36) * 86_400 + int(seconds, 36)) * 10_000_000 + int(rest[:5], 36)
    low_bits = int(rest[5:], 36)
    return 1, ticks, low_bits - 2**64 if low_bits >= 2**63 else low_bits


@dataclass(frozen=True, slots=True)
class Descriptor:
    """One SSTable: where it is and how its files are called."""

    folder: str
    version: Version
    id: str

    @property
    def name(self) -> str:
        """What all its files' names start with: `nb-7-big`."""
        return f"{self.version.letters}-{self.id}-{self.version.format}"

    def path(self, component: str) -> str:
        """Where a component such as `Data.db` is, or would be."""
        return str(PurePath(self.folder, f"{self.name}-{component}"))
