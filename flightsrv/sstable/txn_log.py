"""Transaction logs: which SSTables of a folder a node was writing, and which it was about to delete.

    <version>_txn_<operation>_<uuid>.log     beside the SSTables; the version is `nb` or `bti-da`

    ADD:[/data/ks/t-id/nb-7-big-,0,8][2973123426]        the SSTable is new
    REMOVE:[/data/ks/t-id/nb-3-big-,1796062391161,8][…]  the SSTable is to go: last change in ms, count of its files
    COMMIT:[,0,0][2613697770]  or  ABORT:[,0,0][737437348]

The last number is a CRC32 of the record. Paths are those of the node that wrote, so SSTables are known by their names
here. Source: org.apache.cassandra.db.lifecycle.LogFile, LogRecord, LogAwareFileLister.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath

from flightsrv.sstable.cursor import Cursor

_NAME = re.compile(r"(?:(?:[a-z]+-)?.{2}_)?txn_.+\.log")
_RECORD = re.compile(r"(ADD|REMOVE|COMMIT|ABORT):\[([^,]*),(-?\d{1,19}),(-?\d{1,10})\]\[(\d{1,10})\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TransactionLog:
    """What one transaction did to the SSTables of a folder, by the names of their files: `nb-7-big`."""

    added: frozenset[str]
    removed: frozenset[str]
    is_committed: bool

    @property
    def not_live(self) -> frozenset[str]:
        """SSTables that must not be read: those that were to go, or, unless all went well, those that are new."""
        return self.removed if self.is_committed else self.added


def is_log_name(file_name: str) -> bool:
    """Whether a file is a transaction log, by its name."""
    return _NAME.fullmatch(file_name) is not None


def parse(cursor: Cursor) -> TransactionLog:
    """Read a whole log. Its last line may be cut off or wrong: the node died while it wrote it.

    Raises CorruptSSTableError when another line is no record or its checksum is wrong, or one comes after COMMIT or
    ABORT.
    """
    names: dict[str, set[str]] = {"ADD": set(), "REMOVE": set(), "COMMIT": set(), "ABORT": set()}
    while cursor.left:
        text = cursor.line("record")
        record = _RECORD.fullmatch(text)
        if record is None or int(record[5]) != _checksum(record):
            cursor.require(cursor.left == 0, "record", f"{text[:80]!r} is no record, or its checksum is another")
            break
        kind = record[1].upper()
        cursor.require(not names["COMMIT"] and not names["ABORT"], "record", f"{kind} comes after the end")
        names[kind].add(PurePosixPath(record[2]).name.removesuffix("-"))
    return TransactionLog(frozenset(names["ADD"]), frozenset(names["REMOVE"]), bool(names["COMMIT"]))


def _checksum(record: re.Match[str]) -> int:
    kind, path, changed_ms, file_count = record[1].upper(), record[2], int(record[3]), int(record[4])
    numbers = struct.pack(">III", changed_ms & 0xFFFFFFFF, changed_ms >> 32 & 0xFFFFFFFF, file_count & 0xFFFFFFFF)
    return zlib.crc32(path.encode() + kind.encode() + numbers)
