"""Transaction logs: which SSTables a node was writing, and which it was about to delete.

    <version>_txn_<operation>_<uuid>.log     beside the SSTables; the version is `nb` or `bti-da`

    ADD:[/data/ks/t-id/nb-7-big-,0,8][2973123426]        the SSTable is new
    REMOVE:[/data/ks/t-id/nb-3-big-,1796062391161,8][…]  the SSTable is to go: last change in ms, count of its files
    COMMIT:[,0,0][2613697770]  or  ABORT:[,0,0][737437348]

The last number is a CRC32 of the record. Up to 4.1 a path ends without its `-`. A transaction has the same log, a
replica, in each data folder of its table; a node appends to one after the other.

Source: org.apache.cassandra.db.lifecycle.LogFile, LogRecord, LogReplicaSet.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.sstable.cursor import Cursor

_NAME: Final = re.compile(r"(?:(?:[a-z]+-)?.{2}_)?txn_.*_.*\.log")
_RECORD: Final = re.compile(
    r"(ADD|REMOVE|COMMIT|ABORT):\[([^,]*),(-?\d{1,19}),(-?\d{1,10})\]\[(\d{1,10})\]", re.IGNORECASE
)


class Record(NamedTuple):
    """An SSTable that a transaction adds or removes."""

    folder: str
    """Where the node had it."""
    sstable: str
    """What its files' names start with: `nb-7-big`."""
    changed_ms: int
    """When the newest of its files was changed; 0 of one that is added."""
    file_count: int


@dataclass(frozen=True, slots=True)
class TransactionLog:
    """What a transaction does, as far as it got."""

    added: tuple[Record, ...]
    removed: tuple[Record, ...]
    is_committed: bool
    is_aborted: bool
    is_cut: bool
    """The last line is not whole, at least in one replica: the node died while it wrote it."""

    @property
    def doomed(self) -> tuple[Record, ...]:
        """The SSTables that a node deletes when it starts: those that were to go, or, unless all went well, the new."""
        return self.removed if self.is_committed else self.added


class _Line(NamedTuple):
    text: str
    where: Where


def is_log_name(file_name: str) -> bool:
    """Whether a file is a transaction log, by its name."""
    return _NAME.fullmatch(file_name) is not None


def parse(replicas: Sequence[Cursor]) -> TransactionLog:
    """Read a whole log, all its replicas together. The last line may be cut off or wrong: the node died.

    Raises CorruptSSTableError, as a node would refuse to start, when another line is no record or its checksum is
    wrong, when replicas differ, or a record comes twice, or after COMMIT or ABORT.
    """
    lines, is_cut = _agreed([_lines_of(replica) for replica in replicas])
    found: dict[str, list[Record]] = {"ADD": [], "REMOVE": [], "COMMIT": [], "ABORT": []}
    for number, line in enumerate(lines, 1):
        record = _RECORD.fullmatch(line.text)
        is_sound = record is not None and int(record[5]) == _checksum(record)
        _require(is_sound or number == len(lines), line, "it is no record, or its checksum is another")
        is_cut |= not is_sound
        if record is None or not (is_sound or record[1].upper() == "ADD"):
            continue
        kind, named = record[1].upper(), _record_of(record)
        _require(not found["COMMIT"] and not found["ABORT"], line, f"{kind} comes after the end")
        _require(named not in found[kind], line, f"{kind} of {named.sstable} comes twice")
        found[kind].append(named)
    return TransactionLog(
        tuple(found["ADD"]), tuple(found["REMOVE"]), bool(found["COMMIT"]), bool(found["ABORT"]), is_cut
    )


def _lines_of(cursor: Cursor) -> list[_Line]:
    lines = []
    while cursor.left:
        text = cursor.line("record")
        lines.append(_Line(text, cursor.where("record")))
    return lines


def _agreed(replicas: list[list[_Line]]) -> tuple[list[_Line], bool]:
    """The lines that the replicas have together, and whether the last one is cut off in some of them."""
    agreed: list[_Line] = []
    is_cut = False
    for lines in zip_longest(*replicas):
        given = [line for line in lines if line is not None]
        longest = max(given, key=lambda line: len(line.text))
        _require(not is_cut, longest, "it comes after a line that is cut off in another replica of the log")
        for line in given:
            _require(longest.text.startswith(line.text), line, "another replica of the log has another record here")
        is_cut = any(line.text != longest.text for line in given)
        agreed.append(longest)
    return agreed, is_cut


def _record_of(record: re.Match[str]) -> Record:
    path = PurePosixPath(record[2].removesuffix("-"))
    return Record(str(path.parent), path.name, int(record[3]), int(record[4]))


def _checksum(record: re.Match[str]) -> int:
    kind, path, file_count = record[1].upper(), record[2], int(record[4])
    changed_ms = int(record[3]) if kind == "REMOVE" else 0
    numbers = struct.pack(">III", changed_ms & 0xFFFFFFFF, changed_ms >> 32 & 0xFFFFFFFF, file_count & 0xFFFFFFFF)
    return zlib.crc32(path.encode() + kind.encode() + numbers)


def _require(holds: bool, line: _Line, what: str) -> None:
    if not holds:
        raise CorruptSSTableError(what, line.where)
