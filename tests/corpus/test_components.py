"""The components beside Data.db say what is true of it."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from corpus import chunks, collections, keyvalue, mixed
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.sstable import bloom, index, statistics, summary
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.describe import describe
from flightsrv.sstable.stats import NO_DELETION_TIME_S, Stats
from flightsrv.sstable.version import version_of
from tests.corpus.reading import sstables_in
from tests.reference.model import LIVE, Complex, Marker, Partition, Row
from tests.reference.sstables import SSTable

EVENTS = {"ttl_share": 0.3, "deletion_share": 0.3}


def version(sstable: SSTable):  # type: ignore[no-untyped-def]
    return version_of("big", sstable.data_file.name[:2], "")


def cursor(sstable: SSTable, component: str) -> Cursor:
    return Cursor(sstable.component(component).read_bytes(), component)


@pytest.fixture(scope="module", params=["nb", "oa"])
def sstable(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SSTable:
    """The older of two runs of bench.mixed, with some of everything and several index blocks a partition."""
    folder = mixed.write(tmp_path_factory.mktemp("mixed"), 10, 1200, 2, request.param, **EVENTS).folder
    return sstables_in(folder)[0]


@pytest.fixture(scope="module", params=["nb", "oa"])
def narrow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SSTable:
    """bench.keyvalue with 3000 keys."""
    return sstables_in(keyvalue.write(tmp_path_factory.mktemp("keyvalue"), 3000, version=request.param).folder)[0]


@pytest.fixture(scope="module", params=["nb", "oa"])
def collected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SSTable:
    """The older of two runs of bench.collections, with some of everything."""
    folder = collections.write(tmp_path_factory.mktemp("collections"), 100, 9, 2, request.param, **EVENTS).folder
    return sstables_in(folder)[0]


def test_every_component_parses(sstable: SSTable) -> None:
    toc = sstable.component("TOC.txt").read_text().split()
    assert (
        sorted(path.name.split("-")[-1] for path in sstable.data_file.parent.glob(f"{sstable.data_file.name[:5]}*"))
        == toc
    )
    for name in set(toc) - {"Data.db"}:
        path = sstable.component(name)
        assert list(describe(path.name, path.read_bytes()))


def test_the_digest_is_that_of_the_file(sstable: SSTable) -> None:
    assert int(sstable.component("Digest.crc32").read_text()) == zlib.crc32(sstable.data_file.read_bytes())


def test_the_filter_knows_every_key_and_few_others(narrow: SSTable) -> None:
    filter_ = bloom.parse(cursor(narrow, "Filter.db"), version(narrow))

    def might_contain(number: int) -> bool:
        key = np.frombuffer(b"user:%010d" % number, np.uint8)
        return filter_.might_contain(*(int(half) for half in hash3_x64_128(key.ctypes.data, key.size)))

    assert all(might_contain(number) for number in range(3000))
    assert sum(might_contain(number) for number in range(3000, 13_000)) < 200


def test_the_summary_holds_every_128th_index_entry(narrow: SSTable) -> None:
    entries = list(index.entries(cursor(narrow, "Index.db"), version(narrow), None))
    found = summary.parse(cursor(narrow, "Summary.db"))
    assert [found.key(i) for i in range(found.entry_count)] == [entry.key for entry in entries[::128]]
    assert (found.first_key, found.last_key) == (entries[0].key, entries[-1].key)
    at = Cursor(narrow.component("Index.db").read_bytes()[found.index_offsets[-1] :], "Index.db")
    assert next(index.entries(at, version(narrow), None)) == entries[128 * (found.entry_count - 1)]


def test_blocks_of_a_promoted_index_follow_each_other(sstable: SSTable) -> None:
    types = statistics.parse(cursor(sstable, "Statistics.db"), version(sstable)).header.clustering_types
    entries = list(index.entries(cursor(sstable, "Index.db"), version(sstable), types))
    ends = [entry.position for entry in entries[1:]] + [len(sstable.data())]
    assert any(entry.promoted for entry in entries)
    for entry, end in zip(entries, ends, strict=True):
        if entry.promoted:
            at = entry.promoted.header_length
            for block in entry.promoted.blocks:
                assert block.start == at
                at += block.width
            assert at in (end - entry.position, end - entry.position - 1)


def stats_of(sstable: SSTable) -> Stats:
    return statistics.parse(cursor(sstable, "Statistics.db"), version(sstable)).stats


def test_statistics_are_those_of_the_rows(sstable: SSTable) -> None:
    check_statistics(sstable)


def test_statistics_count_the_elements_and_the_deletions_of_collections(collected: SSTable) -> None:
    check_statistics(collected)


def check_statistics(sstable: SSTable) -> None:
    stats, seen = stats_of(sstable), Seen(sstable.partitions())
    assert (stats.min_timestamp_us, stats.max_timestamp_us) == (min(seen.timestamps_us), max(seen.timestamps_us))
    assert (stats.min_ttl_s, stats.max_ttl_s) == (min(seen.ttls_s), max(seen.ttls_s))
    assert stats.min_local_deletion_time_s == min(seen.local_deletion_times_s)
    assert stats.max_local_deletion_time_s == max(seen.local_deletion_times_s) == NO_DELETION_TIME_S
    assert (stats.total_rows, stats.total_columns) == (seen.row_count, seen.column_count)
    assert stats.partition_count == len(seen.cell_counts)
    cells = stats.cells_per_partition
    up_to = [sum(count <= offset for count in seen.cell_counts) for offset in cells.offsets]
    assert np.cumsum(cells.counts)[:-1].tolist() == up_to
    dead = sum(time != NO_DELETION_TIME_S for time in seen.local_deletion_times_s)
    assert stats.tombstone_drop_times["count"].sum() == dead


class Seen:
    """Everything with a time in some partitions, found the plain way."""

    def __init__(self, partitions: list[Partition]) -> None:
        self.timestamps_us: list[int] = []
        self.local_deletion_times_s: list[int] = []
        self.ttls_s: list[int] = []
        self.cell_counts: list[int] = []
        """Of each partition."""
        self.row_count = self.column_count = 0
        for partition in partitions:
            self.cell_counts.append(0)
            self._deletion(partition.deletion)
            for unfiltered in partition.unfiltered:
                if isinstance(unfiltered, Marker):
                    self._deletion(unfiltered.ends)
                    self._deletion(unfiltered.starts)
                else:
                    self._row(unfiltered)

    def _deletion(self, deletion) -> None:  # type: ignore[no-untyped-def]
        if deletion is not None and deletion != LIVE:
            self.timestamps_us.append(deletion.marked_at_us)
            self.local_deletion_times_s.append(deletion.local_s)

    def _row(self, row: Row) -> None:
        self.row_count += 1
        self._deletion(row.deletion)
        if row.liveness:
            self._time(row.liveness.timestamp_us, row.liveness.ttl_s, row.liveness.expires_s)
        for column in row.columns.values():
            if isinstance(column, Complex):
                self._deletion(column.deletion)
            cells = column.cells if isinstance(column, Complex) else (column,)
            self.column_count += bool(cells)
            self.cell_counts[-1] += len(cells)
            for cell in cells:
                self._time(cell.timestamp_us, cell.ttl_s, cell.local_s)

    def _time(self, timestamp_us: int, ttl_s: int, local_s: int | None) -> None:
        self.timestamps_us.append(timestamp_us)
        self.ttls_s.append(ttl_s)
        self.local_deletion_times_s.append(NO_DELETION_TIME_S if local_s is None else local_s)


def test_without_c_functions_the_data_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_kernel = sstables_in(keyvalue.write(tmp_path / "kernel", 500).folder)[0]
    monkeypatch.setattr(chunks, "IN_KERNEL", False)
    in_python = sstables_in(keyvalue.write(tmp_path / "python", 500).folder)[0]
    assert in_kernel.data() == in_python.data()


def test_values_compress_as_they_are_meant_to(narrow: SSTable) -> None:
    assert 1.3 < 1 / stats_of(narrow).compression_ratio < 1.5
