"""The small components of an SSTable: which are there, and what they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from flightsrv.sstable import bloom, digest, statistics, summary, toc
from flightsrv.sstable.bloom import BloomFilter
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.statistics import Statistics
from flightsrv.sstable.summary import Summary
from flightsrv.stages.decompress import Chunks
from flightsrv.verify.chunks import chunks_of
from flightsrv.verify.findings import Report, parsed

REQUIRED = {
    "big": frozenset({"Data.db", "Statistics.db", "Index.db"}),
    "bti": frozenset({"Data.db", "Statistics.db", "Partitions.db", "Rows.db"}),
}
"""Without these Cassandra does not open an SSTable."""
KNOWN = frozenset({"CompressionInfo.db", "CRC.db", "Digest.crc32", "Filter.db", "Summary.db", "TOC.txt"}).union(
    *REQUIRED.values()
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Components:
    """What could be read of an SSTable beside its data and index; None for what is missing or damaged."""

    statistics: Statistics | None
    chunks: Chunks | None
    digest: int | None
    bloom: BloomFilter | None
    summary: Summary | None


def check_components(report: Report, descriptor: Descriptor, present: frozenset[str], data_size: int) -> Components:
    """Parse what is there, and say what is missing.

    present: the components whose files are there. data_size: bytes of the file Data.db.
    """
    version = descriptor.version
    for component in sorted(REQUIRED[version.format] - present):
        report.error(component, "the file is missing", field="file")

    def optional(component: str, parse: Callable[[Cursor], T]) -> T | None:
        if component not in present:
            report.note(component, "the file is missing, which costs no rows")
            return None
        return parsed(report, descriptor, component, parse)

    listed = _check_contents(report, present, optional("TOC.txt", toc.parse))
    return Components(
        statistics=(
            parsed(report, descriptor, "Statistics.db", lambda cursor: statistics.parse(cursor, version))
            if "Statistics.db" in present
            else None
        ),
        chunks=chunks_of(report, descriptor, present, listed, data_size),
        digest=optional("Digest.crc32", digest.parse),
        bloom=optional("Filter.db", lambda cursor: bloom.parse(cursor, version)),
        summary=optional("Summary.db", summary.parse) if version.format == "big" else None,
    )


def _check_contents(report: Report, present: frozenset[str], names: tuple[str, ...] | None) -> frozenset[str]:
    """Compare TOC.txt with the files that are there. Returns what it lists."""
    if names is None:
        return frozenset()
    listed = frozenset(names)
    for component in sorted(listed - present - KNOWN):  # of those that are known, something is said anyway
        report.note("TOC.txt", f"it lists {component}, which is missing", field="component")
    for component in sorted(present - listed):
        what = f"it does not list {component}, which is there"
        if component in KNOWN:
            report.error("TOC.txt", what, field="component")
        else:
            report.note("TOC.txt", what, field="component")
    return listed
