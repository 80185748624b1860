"""A Data.db from its first byte to its last: chunks, partitions, rows, and what other components say of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from typing import NamedTuple

from flightsrv.errors import CorruptSSTableError, LimitError
from flightsrv.io.buffered import BufferedFile
from flightsrv.kernels.key_forms import UNKNOWN
from flightsrv.scan.flow import Pools
from flightsrv.scan.sstables import SSTable
from flightsrv.slab import Window
from flightsrv.sstable.clustering import INCL_END_BOUND, INCL_START_BOUND, Prefix
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.verify.chunks import Digest, Outcome, outcomes, raw_chunks
from flightsrv.verify.components import Components
from flightsrv.verify.filter import FilterCheck
from flightsrv.verify.findings import Report
from flightsrv.verify.index import IndexCheck
from flightsrv.verify.index_batches import IndexBatches, RowIndexLayout
from flightsrv.verify.layout import Layout, layout_of
from flightsrv.verify.numbers import Numbers
from flightsrv.verify.partitions import Survey
from flightsrv.verify.rows import Bound, RowCheck
from flightsrv.verify.separators import SeparatorCheck
from flightsrv.verify.summary import SummaryCheck
from flightsrv.verify.trie_batches import TrieBatches, tokens_of

_INDEXES = {"big": "Index.db", "bti": "Partitions.db"}
"""What has an entry for each partition."""


class Counts(NamedTuple):
    """How much was decoded."""

    partitions: int = 0
    rows: int = 0


def check_data(
    report: Report,
    descriptor: Descriptor,
    present: frozenset[str],
    components: Components,
    pools: Pools,
    progress: Callable[[int], None],
) -> Generator[None, None, Counts]:
    """Check Data.db and its index, step by step: each may have added to the report.

    Raises SSTableError when a file cannot be read.
    """
    layout = layout_of(report, descriptor, present, components)
    filter_check = None if components.bloom is None else FilterCheck(report, components.bloom)
    with ExitStack() as stack:
        file = _opened(stack, descriptor, "Data.db")
        digest = Digest()
        chunks = components.chunks or raw_chunks(file.path, file.size)
        stored = _Stored(report, stack.enter_context(closing(outcomes(chunks, file, digest, pools, progress))))
        index_check = None
        if _INDEXES[descriptor.version.format] in present:
            index_check = _index_check(report, stack, descriptor, present, components, layout, filter_check)
        counts, is_complete = Counts(), False
        if layout is not None:
            counts, is_complete = yield from _check_rows(report, layout, stored, filter_check, index_check)
        yield from stored.drain()
        if components.digest is not None and components.digest != digest.value:
            what = f"{components.digest} in the file, {digest.value} computed over Data.db"
            report.error("Digest.crc32", what, offset=0, field="crc32")
        if index_check is not None:
            index_check.finish(is_complete)
    return counts


def _opened(stack: ExitStack, descriptor: Descriptor, component: str) -> BufferedFile:
    file = BufferedFile(descriptor.path(component))
    stack.callback(file.close)
    return file


def _index_check(
    report: Report,
    stack: ExitStack,
    descriptor: Descriptor,
    present: frozenset[str],
    components: Components,
    layout: Layout | None,
    filter_check: FilterCheck | None,
) -> IndexCheck:
    tokens = UNKNOWN if layout is None else tokens_of(layout.sstable.statistics.partitioner)
    clustering_types = () if layout is None else layout.sstable.statistics.header.clustering_types
    if descriptor.version.format == "bti":
        data_length = None if layout is None else layout.sstable.data_length
        separators = None if layout is None else SeparatorCheck(report, layout.sstable.data_path, clustering_types)
        if layout is not None and tokens == UNKNOWN:
            what = f"which keys lead where is not checked: tokens are those of {layout.sstable.statistics.partitioner}"
            report.note("Partitions.db", what, field="node")
        return IndexCheck(TrieBatches(report, descriptor, present, data_length, separators), tokens, None, None)
    row_indexes = None if layout is None else RowIndexLayout(layout.header, clustering_types)
    file = _opened(stack, descriptor, "Index.db")
    return IndexCheck(
        IndexBatches(report, file, descriptor.version, row_indexes),
        tokens,
        None if components.summary is None else SummaryCheck(report, components.summary),
        filter_check if layout is None else None,
    )


class _Stored:
    """The windows of a Data.db up to the first damage; what is wrong with any chunk goes into the report."""

    def __init__(self, report: Report, outcomes: Iterator[Outcome]) -> None:
        self.is_damaged = False
        self._report = report
        self._outcomes = outcomes

    def windows(self) -> Iterator[Window]:
        """Each is the consumer's until it calls release()."""
        for outcome in self._outcomes:
            if isinstance(outcome, Window):
                yield outcome
            else:
                self._report_damage(outcome)
                return

    def drain(self) -> Iterator[None]:
        """Check what is left of the file."""
        for outcome in self._outcomes:
            if isinstance(outcome, Window):
                outcome.release()
            else:
                self._report_damage(outcome)
            yield

    def _report_damage(self, errors: list[CorruptSSTableError]) -> None:
        self.is_damaged = True
        for error in errors:
            self._report.caught(error)


def _check_rows(
    report: Report, layout: Layout, stored: _Stored, filter_check: FilterCheck | None, index_check: IndexCheck | None
) -> Generator[None, None, tuple[Counts, bool]]:
    """Decode all rows; also returns whether that was all of them."""
    sstable = layout.sstable
    numbers = Numbers(report, sstable.statistics.stats, layout.schema, layout.header)
    watchers = [numbers.look] if filter_check is None else [numbers.look, filter_check.look_at]
    survey = Survey(report, layout.header, index_check, watchers)
    rows = RowCheck(report, layout.schema, _bounds(sstable), survey, numbers)

    def followed() -> Iterator[Window]:
        for window in stored.windows():
            survey.follow(window)
            yield window

    is_complete = False
    try:
        yield from rows.decode(sstable.data_path, layout.in_any_order, followed())
        is_complete = not stored.is_damaged
    except CorruptSSTableError as error:
        if not stored.is_damaged:
            report.caught(error)
    except LimitError as error:
        report.error("Data.db", str(error), field="row")
    if is_complete and survey.lost_at is not None:
        report.error("Data.db", "no partition, row or marker starts here", position=survey.lost_at, field="unfiltered")
        is_complete = False
    if is_complete:
        numbers.compare(sstable.data_length, survey.has_shadowable)
    else:
        report.note("Data.db", "behind the damage no rows were decoded, and nothing was compared with them")
    return Counts(survey.partition_count, numbers.row_count), is_complete


def _bounds(sstable: SSTable) -> tuple[Bound, ...]:
    """The first and the last clustering that Statistics.db tells of, where they can be relied on."""
    stats, version = sstable.statistics.stats, sstable.descriptor.version
    covered = stats.covered_clustering or stats.late_covered_clustering
    if covered is not None:
        return (
            Bound("STATS.covered_clustering.start", covered.start),
            Bound("STATS.covered_clustering.end", covered.end),
        )
    if not version.has_accurate_min_max:
        return ()
    return (
        Bound("STATS.min_clustering", Prefix(INCL_START_BOUND, stats.min_clustering)),
        Bound("STATS.max_clustering", Prefix(INCL_END_BOUND, stats.max_clustering)),
    )
