"""Which SSTables of a table are live: those that a node would read if it started on these folders now.

A table's folders, one in each data folder, are looked at together, as one transaction may write to several. What was
seen counts when the folders list the same afterwards: names are never used again, so all of it was there at one time.

Source: org.apache.cassandra.db.lifecycle.LogTransaction.removeUnfinishedLeftovers, LogFile.verify, LogAwareFileLister.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from flightsrv.errors import CorruptSSTableError, SSTableError, Where
from flightsrv.io.buffered import file_stamp, read_component
from flightsrv.scan.folders import list_names
from flightsrv.sstable import manifest, txn_log
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor, id_order, parse_name
from flightsrv.sstable.txn_log import Record
from flightsrv.sstable.version import version_of

Names = Mapping[Path, list[str]]
"""The folders of one table, and what they list."""
Listing = Mapping[Path, Mapping[Descriptor, frozenset[str]]]
"""The folders of one table, their SSTables, oldest id first, and the components each of those has."""

Seen = TypeVar("Seen")
Result = TypeVar("Result")

MAX_LISTINGS: Final = 100
"""How often folders are listed in a row, until they stay as they are meanwhile."""


def live_sstables(folders: Collection[Path]) -> Listing:
    """The live SSTables of a table's folders.

    Raises UnsupportedSSTableError when one is of a version this reader does not know, CorruptSSTableError when one has
    no Data.db or a snapshot lacks one, or a transaction log makes no sense: a node would not start.
    """
    names = _listed(folders)
    for _ in range(MAX_LISTINGS):
        found: Listing | SSTableError
        try:
            found = _live_among(names)
        except SSTableError as error:
            found = error
        now = _listed(folders)
        if now != names:
            names = now  # a node is at work here
        elif isinstance(found, SSTableError):
            raise found
        else:
            return found
    raise SSTableError(f"it changed each time of {MAX_LISTINGS} that it was listed", Where(str(next(iter(folders)))))


def settled(list_now: Callable[[], Seen], use: Callable[[Seen], Result]) -> Result:
    """Use what is listed now. When that fails, but other things are listed by then, use those: a node is at work here,
    and something went away before it was open. Raises what `use` raises in the end.
    """
    seen = list_now()
    for _ in range(MAX_LISTINGS):
        try:
            return use(seen)
        except SSTableError:
            now = list_now()
            if now == seen:
                raise
            seen = now
    return use(seen)


def find_sstables(folder: Path) -> Mapping[Descriptor, frozenset[str]]:
    """All SSTables of a folder, live or not. Raises as live_sstables does of them."""
    return _sstables_among(list_names(folder), folder, frozenset())


def transactions(names: Names) -> dict[str, list[Path]]:
    """The transaction logs in a table's folders, and which of these have a replica of each."""
    logs: dict[str, list[Path]] = {}
    for folder, files in names.items():
        for name in filter(txn_log.is_log_name, files):
            logs.setdefault(name, []).append(folder)
    return logs


def doomed_sstables(log_name: str, replicas: list[Path], names: Names) -> set[tuple[Path, str]]:
    """The SSTables that one transaction takes away: folder and `nb-7-big`. Raises CorruptSSTableError."""
    paths = [str(folder / log_name) for folder in replicas]
    log = txn_log.parse([Cursor(read_component(path), path) for path in paths])
    if log.is_committed:
        for record in log.removed:
            _refuse_others(record, names, paths[0])
    if log.is_cut or not (log.is_committed or log.is_aborted):
        has_all_folders = len({record.folder for record in log.added + log.removed}) <= len(replicas)
        for record in log.removed:
            _refuse_missing(record, _places(record, replicas, names), names, has_all_folders, paths[0])
    return {(folder, record.sstable) for record in log.doomed for folder in _places(record, replicas, names)}


def _listed(folders: Iterable[Path]) -> Names:
    return {folder: list_names(folder) for folder in folders}


def _live_among(names: Names) -> Listing:
    """The logs are read after the folders were listed: when one ends meanwhile, the old SSTables are still known."""
    doomed: set[tuple[Path, str]] = set()
    for log_name, replicas in transactions(names).items():
        doomed |= doomed_sstables(log_name, replicas, names)
    _refuse_incomplete_snapshot(names)
    return {
        folder: _sstables_among(files, folder, {name for place, name in doomed if place == folder})
        for folder, files in names.items()
    }


def _places(record: Record, replicas: list[Path], names: Names) -> list[Path]:
    """The folders in which a record's SSTable is one of that name: the one that the node had it in; where that is not
    among the table's, these were moved or copied, and all that have the log, as ids are a table's and not a folder's.
    """
    folder = Path(record.folder)
    return [folder] if folder in names else replicas


def _refuse_others(record: Record, names: Names, log_path: str) -> None:
    """Files that somebody brought back to where a transaction had removed them must not be left out for its sake.

    Like a node this compares times, in seconds; but only where the files lie where the log has them, as copies have
    times of their own.
    """
    folder = Path(record.folder)
    newest_s = 0
    for name in names.get(folder, ()):
        if name.startswith(f"{record.sstable}-"):
            newest_s = max(newest_s, file_stamp(str(folder / name))[2] // 1_000_000_000)
    if newest_s and newest_s != record.changed_ms // 1000:
        raise CorruptSSTableError(
            f"it says that {record.sstable} was to be deleted, whose newest file was of {record.changed_ms // 1000} s "
            f"since 1970, but there is one of {newest_s} s; take the log away if it is to be read",
            Where(log_path),
        )


def _refuse_missing(record: Record, places: list[Path], names: Names, has_all_folders: bool, log_path: str) -> None:
    """What was to be replaced by an SSTable that is not complete must be there itself. Where it may lie in a data
    folder that is not served, nobody can tell."""
    data_name = f"{record.sstable}-Data.db"
    is_known_place = has_all_folders or Path(record.folder) in names
    if is_known_place and not any(data_name in names[folder] for folder in places):
        raise CorruptSSTableError(f"it did not commit to delete {record.sstable}, but that is missing", Where(log_path))


def _refuse_incomplete_snapshot(names: Names) -> None:
    for folder, files in names.items():
        if manifest.FILE in files:
            path = str(folder / manifest.FILE)
            for name in manifest.parse(read_component(path), path):
                if not any(name in each for each in names.values()):
                    raise CorruptSSTableError(f"it lists {name}, which is missing", Where(path))


def _sstables_among(files: list[str], folder: Path, left_out: Collection[str]) -> dict[Descriptor, frozenset[str]]:
    components: dict[tuple[str, str, str], set[str]] = {}
    for each in files:
        name = parse_name(each)
        if name is not None and f"{name.letters}-{name.id}-{name.format}" not in left_out:
            components.setdefault((name.format, name.letters, name.id), set()).add(name.component)
    found = {}
    for (format, letters, id), parts in sorted(components.items(), key=lambda item: id_order(item[0][2])):
        data_name = f"{letters}-{id}-{format}-Data.db"
        version = version_of(format, letters, str(folder / data_name))
        descriptor = Descriptor(str(folder), version, id)
        if "Data.db" not in parts:
            if "Statistics.db" not in parts:
                continue  # a leftover of a deletion, or of another tool
            raise CorruptSSTableError("the file is missing", Where(descriptor.path("Data.db")))
        found[descriptor] = frozenset(parts)
    return found
