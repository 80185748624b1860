"""Which folders hold the SSTables of which table.

    <data>/<keyspace>/<table>-<32 hex>/                     a table of a Cassandra data folder
    <data>/<keyspace>/<table>-<32 hex>/snapshots/<name>/    one of its snapshots
    <data>/<keyspace>/<table>-<32 hex>/backups/             copies of all its SSTables, if the node makes such
    <data>/<keyspace>/<table>-<32 hex>/.<index>/            a secondary index: a table of its own, that nobody asks for

A folder given by the user may be a data folder, a keyspace's, a table's, a snapshot's or that of backups. Source:
org.apache.cassandra.db.Directories.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from flightsrv.errors import SSTableError, Where
from flightsrv.sstable.descriptor import parse_name

_TABLE_FOLDER: Final = re.compile(r"(\w+)-([0-9a-f]{32})", re.ASCII)
_NAME: Final = re.compile(r"\w+", re.ASCII)
Stamps = Mapping[str, tuple[int, int, int] | None]

SNAPSHOTS: Final = "snapshots"
BACKUPS: Final = "backups"


@dataclass(frozen=True, slots=True)
class TableFolder:
    """A folder of SSTables, and the table it belongs to."""

    path: Path
    keyspace: str
    table: str
    id: UUID | None
    """From the folder's name; None where it has none."""
    is_of_node: bool = False
    """It was found in a data folder; the user did not name it, or its keyspace's."""


def find_table_folders(given: Path, keyspace: str | None = None) -> list[TableFolder]:
    """Every table's folder at or below a folder that a user named; only those of a keyspace, if one is asked for.

    What goes away meanwhile is left out. Raises SSTableError when a folder cannot be listed.
    """
    if not given.is_dir():
        raise SSTableError("is not a folder", Where(str(given)))
    given = given.resolve()
    found = list(_found(given, keyspace))
    return found if keyspace is None else [each for each in found if each.keyspace == keyspace]


def listed_folders(given: Path) -> set[Path]:
    """All folders that say by what they list which tables there are at or below a given one, and which SSTables. Raises
    as find_table_folders does."""
    tables = {each.path for each in find_table_folders(given)}
    given = given.resolve()
    return tables | {given} | (set() if given in tables else set(_subfolders(given)))


def _found(given: Path, keyspace: str | None) -> Iterator[TableFolder]:
    table = given.parent.parent if given.parent.name == SNAPSHOTS else given
    if given.name == BACKUPS and _TABLE_FOLDER.fullmatch(given.parent.name):
        table = given.parent
    if _TABLE_FOLDER.fullmatch(table.name) or _holds_sstables(given):
        yield _table_folder(table, table.parent.name, given)
        return
    below = _subfolders(given)
    if any(_TABLE_FOLDER.fullmatch(each.name) for each in below):
        yield from (_table_folder(each, given.name) for each in below if _TABLE_FOLDER.fullmatch(each.name))
        return
    for each in below:
        if _NAME.fullmatch(each.name) and keyspace in (None, each.name):
            for table in _subfolders(each, may_be_gone=True):
                if _NAME.fullmatch(table.name) or _TABLE_FOLDER.fullmatch(table.name):
                    yield _table_folder(table, each.name, is_of_node=True)


def _table_folder(folder: Path, keyspace: str, path: Path | None = None, *, is_of_node: bool = False) -> TableFolder:
    named = _TABLE_FOLDER.fullmatch(folder.name)
    table, id = (named[1], UUID(named[2])) if named else (folder.name, None)
    return TableFolder(path or folder, _as_name(keyspace), _as_name(table), id, is_of_node)


def _as_name(text: str) -> str:
    """A folder's name as a keyspace or table name: what does not belong into one becomes _."""
    return text if _NAME.fullmatch(text) else re.sub(r"\W", "_", text, flags=re.ASCII) or "_"


def _subfolders(path: Path, *, may_be_gone: bool = False) -> list[Path]:
    """The folders in a folder but for hidden ones, in order."""
    try:
        with os.scandir(path) as entries:
            return sorted(Path(each.path) for each in entries if each.is_dir() and not each.name.startswith("."))
    except OSError as error:
        if may_be_gone and isinstance(error, FileNotFoundError):
            return []
        raise _not_listed(path, error) from error


def list_names(path: Path) -> list[str]:
    """The names of a folder's files and folders, in order. Raises SSTableError when it cannot be listed."""
    try:
        with os.scandir(path) as entries:
            return sorted(each.name for each in entries)
    except OSError as error:
        raise _not_listed(path, error) from error


def list_stamps(path: Path) -> Stamps:
    """A folder's files, with what tells an SSTable, or a transaction log, from another that takes its name: inode,
    bytes, nanoseconds of its last change. Raises SSTableError when it cannot be listed."""
    found: dict[str, tuple[int, int, int] | None] = {}
    try:
        with os.scandir(path) as entries:
            for each in entries:
                found[each.name] = None
                if each.name.endswith(("Data.db", ".log")):
                    with suppress(FileNotFoundError):
                        status = each.stat()
                        found[each.name] = (status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise _not_listed(path, error) from error
    return found


def _not_listed(path: Path, error: OSError) -> SSTableError:
    return SSTableError(f"cannot be listed: {os.strerror(error.errno or 0)}", Where(str(path)))


def _holds_sstables(path: Path) -> bool:
    return any((name := parse_name(each)) is not None and name.component == "Data.db" for each in list_names(path))


def snapshot_folders(folders: Iterable[TableFolder], name: str) -> list[Path]:
    """The folders of a snapshot of a table, one a data folder. A name that leads elsewhere is that of no snapshot."""
    if name in ("", ".", "..") or "/" in name:
        return []
    return [each.path / SNAPSHOTS / name for each in folders if (each.path / SNAPSHOTS / name).is_dir()]
