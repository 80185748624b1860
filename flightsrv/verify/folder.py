"""`flightsrv verify`: every checksum of an SSTable, every row, and every index entry against the rows.

What is found comes SSTable by SSTable, component by component, as it is found. A damaged component does not stop the
check of the others, nor a damaged SSTable that of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from flightsrv.config import Settings
from flightsrv.errors import CorruptSSTableError, SSTableError, UnsupportedSSTableError, Where
from flightsrv.scan.flow import Pools
from flightsrv.scan.folders import find_table_folders, list_names
from flightsrv.scan.live import doomed_sstables, transactions
from flightsrv.sstable.descriptor import Descriptor, FileName, id_order, parse_name
from flightsrv.sstable.version import version_of
from flightsrv.verify.components import check_components
from flightsrv.verify.data import check_data
from flightsrv.verify.findings import Finding, Report

Progress = Callable[[str, int, int], None]
"""Called with an SSTable's name, how many bytes of its Data.db have been read, and how many there are."""


@dataclass(slots=True)
class Summary:
    """How much was verified, and how much is wrong."""

    sstables: int = 0
    damaged_sstables: int = 0
    """Those with an error."""
    bytes: int = 0
    """Of all Data.db, as stored."""
    partitions: int = 0
    rows: int = 0
    """As stored: static rows and rows that only delete are among them, and nothing is merged."""
    errors: int = 0
    """Those that were too many to be listed included."""
    notes: int = 0


class Verification(Iterator[Finding]):
    """The findings, one after the other, and meanwhile their summary.

    Who does not want all of them calls close(), or lets go of it: nothing refers back to it, so that its threads end
    then and there, and not whenever, and in whichever thread, garbage is collected.
    """

    def __init__(self, findings: Generator[Finding], summary: Summary) -> None:
        self.summary = summary
        self._findings = findings

    def __next__(self) -> Finding:
        return next(self._findings)

    def close(self) -> None:
        """End early."""
        self._findings.close()


def verify_folder(path: Path, progress: Progress | None = None) -> Verification:
    """Verify all SSTables of a data folder, a keyspace's, a table's or a snapshot's.

    Iterate over the result for its findings; its `summary` is complete when they end. Raises SSTableError when there is
    no such folder or it cannot be listed.
    """
    verifier = _Verifier(path.resolve(), progress)
    folders = [each.path for each in find_table_folders(path)]
    return Verification(verifier.verify(folders), verifier.summary)


class _Verifier:
    """Goes through folders, and sums up."""

    def __init__(self, root: Path, progress: Progress | None) -> None:
        self.summary = Summary()
        self._root = root
        self._progress = progress

    def verify(self, folders: list[Path]) -> Generator[Finding]:
        """All findings, which are counted as well."""
        for finding in self._verify(folders):
            self.summary.notes += finding.severity == "note"
            yield finding

    def _verify(self, folders: list[Path]) -> Iterator[Finding]:
        settings = Settings()
        with closing(Pools(settings.disk_threads, settings.cpu_threads)) as pools:
            for folder in folders:
                names = list_names(folder)
                not_live = yield from self._not_live(folder, names)
                for name, components in _sstables_of(names):
                    if _prefix(name) in not_live:
                        what = "it is not live, says a transaction log: a node was writing or deleting it"
                        yield Finding(self._below(folder, _prefix(name)), "Data.db", what, None, None, None, "note")
                    else:
                        yield from self._verify_sstable(folder, name, components, pools)

    def _not_live(self, folder: Path, names: list[str]) -> Generator[Finding, None, set[str]]:
        """Which SSTables were being written or deleted when their node stopped."""
        found: set[str] = set()
        for name, replicas in transactions({folder: names}).items():
            try:
                found |= {sstable for _, sstable in doomed_sstables(name, replicas, {folder: names})}
            except SSTableError as error:
                self.summary.errors += 1
                offset, field = error.where.offset, error.where.field
                yield Finding(self._below(folder, name), "", error.what, offset, None, field, "error")
        return found

    def _below(self, folder: Path, name: str) -> str:
        """A file's name with its folders below the one that is verified."""
        return str((folder / name).relative_to(self._root))

    def _verify_sstable(
        self, folder: Path, name: FileName, components: frozenset[str], pools: Pools
    ) -> Iterator[Finding]:
        report = Report(self._below(folder, _prefix(name)))
        try:
            for _ in self._check(report, folder, name, components, pools):
                yield from report.take()
        except SSTableError as error:
            report.caught(error)
        except OSError as error:
            report.error("Data.db", f"a file cannot be looked at: {error.strerror}", field="file")
        yield from report.take()
        self.summary.sstables += 1
        self.summary.damaged_sstables += bool(report.errors)
        self.summary.errors += report.errors.total()

    def _check(
        self, report: Report, folder: Path, name: FileName, components: frozenset[str], pools: Pools
    ) -> Iterator[None]:
        """Step by step. Raises SSTableError when Data.db is missing or empty, or a file cannot be read."""
        data_path = str(folder / f"{_prefix(name)}-Data.db")
        try:
            version = version_of(name.format, name.letters, data_path)
        except UnsupportedSSTableError as error:
            report.error("Data.db", error.what, field="version")
            return
        descriptor = Descriptor(str(folder), version, name.id)
        if "Data.db" not in components:
            raise CorruptSSTableError("the file is missing", Where(data_path, field="file"))
        size = Path(data_path).stat().st_size
        if size == 0:
            raise CorruptSSTableError("the file is empty", Where(data_path, offset=0))
        found = check_components(report, descriptor, components, size)
        yield
        counts = yield from check_data(
            report, descriptor, components, found, pools, lambda done: self._tell(descriptor.name, done, size)
        )
        self.summary.bytes += size
        self.summary.partitions += counts.partitions
        self.summary.rows += counts.rows

    def _tell(self, sstable: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(sstable, done, total)


def _sstables_of(file_names: list[str]) -> Iterator[tuple[FileName, frozenset[str]]]:
    """A name of one of the files, and all components there are, of each SSTable, oldest id first."""
    names = [name for name in map(parse_name, file_names) if name is not None]
    names.sort(key=lambda name: (id_order(name.id), _prefix(name)))
    for _, files in groupby(names, key=_prefix):
        group = list(files)
        yield group[0], frozenset(each.component for each in group)


def _prefix(name: FileName) -> str:
    """What the names of all files of an SSTable start with."""
    return f"{name.letters}-{name.id}-{name.format}"
