"""Which folders hold the SSTables of which table.

    <data>/<keyspace>/<table>-<32 hex>/                     a table of a Cassandra data folder
    <data>/<keyspace>/<table>-<32 hex>/snapshots/<name>/    one of its snapshots

A folder given by the user may be a data folder, a keyspace's, a table's or a snapshot's. Source:
org.apache.cassandra.db.Directories.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from flightsrv.errors import CorruptSSTableError, SSTableError, Where
from flightsrv.io.buffered import read_component
from flightsrv.sstable import txn_log
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor, id_order, parse_name
from flightsrv.sstable.version import version_of

_TABLE_FOLDER = re.compile(r"(\w+)-([0-9a-f]{32})", re.ASCII)
_NAME = re.compile(r"\w+", re.ASCII)
SNAPSHOTS = "snapshots"


@dataclass(frozen=True, slots=True)
class TableFolder:
    """A folder of SSTables, and the table it belongs to."""

    path: Path
    keyspace: str
    table: str
    id: UUID | None
    """From the folder's name; None where it has none."""


def find_table_folders(given: Path) -> list[TableFolder]:
    """Every table's folder at or below a folder that a user named. Raises SSTableError when it cannot be listed."""
    if not given.is_dir():
        raise SSTableError("is not a folder", Where(str(given)))
    given = given.resolve()
    if _holds_sstables(given):
        return [_single_folder(given)]
    below = list(_subfolders(given))
    tables = [_table_folder(each, given.name) for each in below if _TABLE_FOLDER.fullmatch(each.name)]
    if tables:
        return tables
    return [_table_folder(table, keyspace.name) for keyspace in below for table in _subfolders(keyspace)]


def _single_folder(path: Path) -> TableFolder:
    """A table's folder, or that of a snapshot of it: the names are in the path."""
    table = path.parent.parent if path.parent.name == SNAPSHOTS else path
    return _table_folder(table, table.parent.name, path)


def _table_folder(folder: Path, keyspace: str, path: Path | None = None) -> TableFolder:
    named = _TABLE_FOLDER.fullmatch(folder.name)
    table, id = (named[1], UUID(named[2])) if named else (folder.name, None)
    return TableFolder(path or folder, _as_name(keyspace), _as_name(table), id)


def _as_name(text: str) -> str:
    """A folder's name as a keyspace or table name: what does not belong into one becomes _."""
    return text if _NAME.fullmatch(text) else re.sub(r"\W", "_", text, flags=re.ASCII) or "_"


def _subfolders(path: Path) -> Iterator[Path]:
    try:
        with os.scandir(path) as entries:
            yield from sorted(Path(each.path) for each in entries if each.is_dir() and not each.name.startswith("."))
    except OSError as error:
        raise SSTableError(f"cannot be listed: {os.strerror(error.errno or 0)}", Where(str(path))) from error


def list_names(path: Path) -> list[str]:
    """The names of a folder's files. Raises SSTableError when it cannot be listed."""
    try:
        return sorted(each.name for each in path.iterdir())
    except OSError as error:
        raise SSTableError(f"cannot be listed: {os.strerror(error.errno or 0)}", Where(str(path))) from error


def _holds_sstables(path: Path) -> bool:
    return any((name := parse_name(each)) is not None and name.component == "Data.db" for each in list_names(path))


def find_sstables(folder: Path) -> dict[Descriptor, frozenset[str]]:
    """The SSTables of a folder, oldest id first, and the components each has.

    Raises UnsupportedSSTableError when one is of a version this reader does not know, CorruptSSTableError when one has
    Statistics.db but no Data.db.
    """
    return _sstables_among(list_names(folder), folder, frozenset())


def live_sstables(folder: Path) -> dict[Descriptor, frozenset[str]]:
    """Those that a node would read: no transaction is writing them or about to delete them. Raises as find_sstables,
    and CorruptSSTableError for a transaction log that makes no sense.
    """
    names = list_names(folder)
    while True:
        try:
            return _sstables_among(names, folder, _not_live(names, folder))
        except CorruptSSTableError:
            now = list_names(folder)
            if now == names:
                raise
            names = now  # a node is at work here


def _not_live(names: list[str], folder: Path) -> frozenset[str]:
    """The names of SSTables that transaction logs take away. The logs are read after the folder was listed, so that
    one which ends meanwhile takes the old SSTables away, not the new one."""
    paths = [str(folder / name) for name in names if txn_log.is_log_name(name)]
    logs = [txn_log.parse(Cursor(read_component(path), path)) for path in paths]
    return frozenset().union(*(log.not_live for log in logs))


def _sstables_among(names: list[str], folder: Path, left_out: frozenset[str]) -> dict[Descriptor, frozenset[str]]:
    components: dict[tuple[str, str, str], set[str]] = {}
    for each in names:
        name = parse_name(each)
        if name is not None and f"{name.letters}-{name.id}-{name.format}" not in left_out:
            components.setdefault((name.format, name.letters, name.id), set()).add(name.component)
    found = {}
    for (format, letters, id), files in sorted(components.items(), key=lambda item: id_order(item[0][2])):
        data_name = f"{letters}-{id}-{format}-Data.db"
        version = version_of(format, letters, str(folder / data_name))
        descriptor = Descriptor(str(folder), version, id)
        if "Data.db" not in files:
            if "Statistics.db" not in files:
                continue  # a leftover of a deletion, or of another tool
            raise CorruptSSTableError("the file is missing", Where(descriptor.path("Data.db")))
        found[descriptor] = frozenset(files)
    return found


def snapshot_folders(folders: Iterable[TableFolder], name: str) -> list[Path]:
    """The folders of a snapshot of a table, one a data folder. A name that leads elsewhere is that of no snapshot."""
    if name in ("", ".", "..") or "/" in name:
        return []
    return [each.path / SNAPSHOTS / name for each in folders if (each.path / SNAPSHOTS / name).is_dir()]
