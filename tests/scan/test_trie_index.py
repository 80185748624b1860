"""Lookups in indexes of the `bti` format find what Data.db has, and nothing else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count, pairwise
from pathlib import Path

import pytest

from flightsrv.cql.decorated_key import filter_hash
from flightsrv.cql.partitioners import partitioner_of
from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.scan.trie_index import IndexedPartition, TrieIndex
from flightsrv.slab import CLUSTERING, EXCL_START_BOUND, INCL_START_BOUND
from flightsrv.sstable import clustering
from flightsrv.sstable.cursor import Cursor
from tests.scan.scanning import open_file
from tests.sstable.components import SSTable, copied, described, every_sstable
from tests.sstable.placed import placed
from tests.verify.damaging import copy_of

WIDE = copied("cassandra-5.0/da/wide/da-3h5y_1e8r_290oa2vpc6ab5h8h1s-bti-Data.db")
ONE = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")
"""One partition: every key leads to it."""


@contextmanager
def opened(data_file: Path) -> Iterator[TrieIndex]:
    with closing(TrieIndex(open_file(data_file))) as index:
        yield index


def bti(sstables: list[SSTable]) -> list[SSTable]:
    """Those whose index can be looked into one by one."""
    return [
        each
        for each in sstables
        if each.file("Partitions.db").exists() and each.file("Partitions.db").stat().st_size < 100_000
    ]


@pytest.mark.parametrize("sstables", every_sstable())
def test_every_partition_is_found_by_its_key(sstables: list[SSTable]) -> None:
    for sstable in bti(sstables):
        there = placed(sstable)
        with opened(sstable.data_file) as index:
            for each in there[:: 1 + len(there) // 200]:
                found = index.find(each.key)
                assert found is not None
                assert (found.key, found.position) == (each.key, each.position)
                assert index.find(each.key + b"\0") is None
                assert found.row_index is None or index.end_of(found) == each.end + 1


def test_a_key_that_leads_to_another_of_the_same_hash_is_not_found() -> None:
    key = next(key for key in (b"%d" % i for i in count()) if filter_hash(key) == filter_hash(b"wide"))
    with opened(ONE.data_file) as index:
        assert index.find(b"wide") is not None
        assert index.find(key) is None
        assert index.find(b"other") is None


@pytest.mark.parametrize("sstables", every_sstable())
def test_the_floor_of_a_token_is_the_last_partition_not_above_it(sstables: list[SSTable]) -> None:
    for sstable in bti(sstables):
        partitioner = partitioner_of(open_file(sstable.data_file).statistics.partitioner)
        if partitioner.tokens == NO_TOKENS:
            continue
        there = placed(sstable)
        tokens = [partitioner.token(each.key) for each in there]
        ends = partitioner.least_token, partitioner.greatest_token
        with opened(sstable.data_file) as index:
            near = {token + step for token in tokens[:: 1 + len(tokens) // 100] for step in (-1, 0, 1)}
            for token in {*ends, 0, *near} - {partitioner.least_token - 1}:
                place = bisect_right(tokens, token)
                found = index.floor(token)
                assert (found and found.position) == (there[place - 1].position if place else None)


@pytest.mark.parametrize("sstable", [WIDE, ONE], ids=str)
def test_the_block_of_a_clustering_has_it_or_comes_before_it(sstable: SSTable) -> None:
    """A row is in the block that its clustering leads to; all that is behind a bound is there or later."""
    data, sizes = sstable.data(), clustering.fixed_sizes(Cursor(b"", "x"), "", sstable.header.clustering_types)
    with opened(sstable.data_file) as index:
        for each in placed(sstable):
            found = index.find(each.key)
            assert found is not None
            if found.row_index is None:
                continue
            starts = [index.block(found.row_index, INCL_START_BOUND, []).start, *starts_of(index, found)]
            assert starts[0] == starts[1]
            step = 1 + len(each.unfiltereds) // 500
            for position, behind in list(pairwise([*each.unfiltereds, each.end]))[::step]:
                if data[position] & 2:  # a marker
                    continue
                values = clustering.values(Cursor(data, "x", position + 1), sizes)
                place = bisect_right(starts, position - each.position) - 1
                assert index.block(found.row_index, CLUSTERING, values).start == starts[place]
                assert index.block(found.row_index, INCL_START_BOUND, values).start == starts[place]
                after = bisect_right(starts, behind - each.position) - 1
                assert index.block(found.row_index, EXCL_START_BOUND, values).start in (starts[place], starts[after])
            assert index.block(found.row_index, EXCL_START_BOUND, []).start == each.end - each.position


def starts_of(index: TrieIndex, partition: IndexedPartition) -> list[int]:
    """Where all blocks start, by their order."""
    assert partition.row_index
    return [block.start for _, block in index._blocks(partition.row_index).descending(b"\xff")][::-1]


def test_types_without_a_form_are_refused() -> None:
    with opened(ONE.data_file) as index:
        found = index.find(b"wide")
        assert found is not None
        assert found.row_index is not None
        with pytest.raises(ValueError, match="a value of type int has 3 bytes"):
            index.block(found.row_index, CLUSTERING, [b"abc"])


def test_a_target_outside_of_the_files_is_an_error(tmp_path: Path) -> None:
    copy = copy_of(ONE, tmp_path)
    copy.write("Rows.db", b"")
    with opened(copy.sstable.data_file) as index, pytest.raises(CorruptSSTableError, match=r"Rows\.db: offset 60, key"):
        index.find(b"wide")
    copy = copy_of(WIDE, tmp_path)
    fields = (line for line in described(copy.sstable, "Partitions.db") if line.field.endswith("inverted position"))
    offset, size, *_ = next(fields)
    copy.patch("Partitions.db", offset, b"\x80" + bytes(size - 1))
    with opened(copy.sstable.data_file) as index, pytest.raises(CorruptSSTableError, match="is said to start here"):
        index.find(b"narrow")
