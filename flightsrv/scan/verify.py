"""`flightsrv verify`: every checksum of an SSTable, every row, and every index entry against the rows.

What is found comes SSTable by SSTable, component by component, as it is found. A damaged component does not stop the
check of the others, nor a damaged SSTable that of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from flightsrv.config import Settings
from flightsrv.errors import CorruptSSTableError, SSTableError, UnsupportedSSTableError, Where
from flightsrv.scan.flow import Pools
from flightsrv.scan.folders import find_table_folders, list_names
from flightsrv.scan.verify_components import check_components
from flightsrv.scan.verify_data import check_data
from flightsrv.scan.verify_findings import Finding, Report
from flightsrv.sstable.descriptor import Descriptor, FileName, id_order, parse_name
from flightsrv.sstable.version import version_of

__all__ = ["Finding", "Summary", "Verification", "verify_folder"]

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
    """The findings, one after the other, and meanwhile their summary."""

    def __init__(self, folder: Path, progress: Progress | None) -> None:
        """Raises SSTableError when there is no such folder or it cannot be listed."""
        self.summary = Summary()
        self._root = folder.resolve()
        self._progress = progress
        self._findings = self._verify([each.path for each in find_table_folders(folder)])

    def __next__(self) -> Finding:
        finding = next(self._findings)
        self.summary.notes += finding.severity == "note"
        return finding

    def _verify(self, folders: list[Path]) -> Iterator[Finding]:
        settings = Settings()
        with closing(Pools(settings.disk_threads, settings.cpu_threads)) as pools:
            for folder in folders:
                for name, components in _sstables_of(folder):
                    yield from self._verify_sstable(folder, name, components, pools)

    def _verify_sstable(
        self, folder: Path, name: FileName, components: frozenset[str], pools: Pools
    ) -> Iterator[Finding]:
        below = (folder / f"{name.letters}-{name.id}-{name.format}").relative_to(self._root)
        report = Report(str(below))
        try:
            for _ in self._check(report, folder, name, components, pools):
                yield from report.take()
        except SSTableError as error:
            report.caught(error)
        yield from report.take()
        self.summary.sstables += 1
        self.summary.damaged_sstables += bool(report.errors)
        self.summary.errors += report.errors.total()

    def _check(
        self, report: Report, folder: Path, name: FileName, components: frozenset[str], pools: Pools
    ) -> Iterator[None]:
        """Step by step. Raises SSTableError when Data.db is missing or empty, or a file cannot be read."""
        data_path = str(folder / f"{name.letters}-{name.id}-{name.format}-Data.db")
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


def verify_folder(path: Path, progress: Progress | None = None) -> Verification:
    """Verify all SSTables of a data folder, a keyspace's, a table's or a snapshot's.

    Iterate over the result for its findings; its `summary` is complete when they end. Raises SSTableError when there is
    no such folder or it cannot be listed.
    """
    return Verification(path, progress)


def _sstables_of(folder: Path) -> Iterator[tuple[FileName, frozenset[str]]]:
    """A name of one of the files, and all components there are, of each SSTable, oldest id first."""
    names = [name for name in map(parse_name, list_names(folder)) if name is not None]
    names.sort(key=lambda name: (id_order(name.id), name.id, name.format, name.letters))
    for _, files in groupby(names, key=lambda name: name[:3]):
        group = list(files)
        yield group[0], frozenset(each.component for each in group)
