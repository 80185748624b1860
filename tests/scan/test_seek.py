"""Token ranges give what a full scan gives of them: with an index, without one, and with one that is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from corpus.keyvalue import TABLE, write
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, partitioner_of
from flightsrv.cql.schema import TableSchema
from flightsrv.errors import SSTableError
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.scan.seek import start_of
from flightsrv.scan.sstables import SSTable
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.stages.decode import FILE_START, Start
from tests.reference import ordering
from tests.reference.fixtures import FixtureSet, copied_sets, params, refusal
from tests.reference.ordering import murmur3_token
from tests.scan.scanning import copied, open_file, scan_of, schema_of
from tests.scan.test_fixtures import EXPLAINED

LEAST_TOKEN, GREATEST_TOKEN = MURMUR3_PARTITIONER.least_token, MURMUR3_PARTITIONER.greatest_token
PARTITIONS = 700
SCHEMA = parse_ddl(TABLE.cql(), "bench", "keyvalue")

BEYOND = ("decimal", "varint", "float", "double")
"""Types with values that Arrow cannot hold, or that are not equal to themselves."""

Row = tuple[int, str, str]
"""Token, key, value."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two SSTables of a table, each with some four samples of its index in Summary.db."""
    return write(tmp_path_factory.mktemp("data"), PARTITIONS, 2).folder


def rows_of(folder: Path, **request: Any) -> list[Row]:
    sstables = tuple(open_file(path) for path in sorted(folder.glob("*-Data.db")))
    with scan_of(SCHEMA, sstables, now_s=0, **request) as scan:
        batches = [copied(batch) for batch in scan.batches()]
    pairs = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    return [(murmur3_token(key.encode()), key, value) for key, value in pairs]


@pytest.fixture(scope="module")
def all_rows(folder: Path) -> list[Row]:
    rows = rows_of(folder)
    assert len(rows) == PARTITIONS
    assert rows == sorted(rows)
    return rows


def within(rows: list[Row], start: int | None, end: int | None) -> list[Row]:
    """The rows of a token range as a client means it: both ends of the ring first when it wraps."""
    after = LEAST_TOKEN if start is None else start
    upto = GREATEST_TOKEN if end is None else end
    if after == upto:
        return rows
    if after < upto:
        return [row for row in rows if after < row[0] <= upto]
    return [row for row in rows if row[0] <= upto or row[0] > after]


def ranges(rows: list[Row]) -> list[tuple[int | None, int | None]]:
    """Ranges that begin and end at tokens, beside them, and at the ends of the ring."""
    tokens = [row[0] for row in rows]
    random = Random(7)
    bounds = [None, LEAST_TOKEN, LEAST_TOKEN + 1, -1, 0, GREATEST_TOKEN - 1, GREATEST_TOKEN]
    bounds += [tokens[0] - 1, tokens[0], tokens[-1], tokens[-1] + 1]
    bounds += [random.choice(tokens) + random.choice([-1, 0, 1]) for _ in range(30)]
    drawn = [(random.choice(bounds), random.choice(bounds)) for _ in range(60)]
    beside = [(tokens[i] + near, tokens[i + 3]) for i in (0, 1, 127, 128, 129, 300, 690) for near in (-1, 0)]
    return drawn + beside + [(0, 0), (None, None), (GREATEST_TOKEN, LEAST_TOKEN)]


@contextmanager
def copy_of(folder: Path, target: Path) -> Iterator[Path]:
    shutil.copytree(folder, target)
    yield target
    shutil.rmtree(target)


@pytest.mark.parametrize("left_out", [(), ("Summary.db",), ("Index.db",), ("Summary.db", "Index.db", "Filter.db")])
def test_a_range_gives_its_rows_of_the_full_scan(
    folder: Path, all_rows: list[Row], tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    with copy_of(folder, tmp_path / "copy") as copy:
        for component in left_out:
            for path in copy.glob(f"*-{component}"):
                path.unlink()
        for start, end in ranges(all_rows):
            assert rows_of(copy, token_start=start, token_end=end) == within(all_rows, start, end)


def test_ranges_that_tile_the_ring_give_every_row_once(folder: Path, all_rows: list[Row]) -> None:
    cuts = [LEAST_TOKEN, *(row[0] for row in all_rows[50::97]), GREATEST_TOKEN]
    found = [row for after, upto in pairwise(cuts) for row in rows_of(folder, token_start=after, token_end=upto)]
    assert found == all_rows


def starts(sstable: SSTable, rows: list[Row]) -> list[int]:
    """Where runs start for ranges above each token."""
    return [start_above(sstable, token).position for token, *_ in rows]


def start_above(sstable: SSTable, token: int) -> Start:
    return start_of(sstable, TokenRange(token, GREATEST_TOKEN))


def test_a_run_starts_close_before_its_range(folder: Path, all_rows: list[Row]) -> None:
    """At each sample of Summary.db, and never behind a partition that is wanted."""
    sstable = open_file(folder / "nb-1-big-Data.db")
    positions = starts(sstable, all_rows)
    assert positions == sorted(positions)
    assert 3 <= len(set(positions)) <= 5
    assert positions[0] == 0
    for token, position in zip((row[0] for row in all_rows), positions, strict=True):
        start = start_above(sstable, token)
        if start != FILE_START:
            assert start.position == position
            assert start.key is not None
            assert murmur3_token(start.key) < token


def test_a_full_scan_does_not_look_at_the_index(folder: Path, all_rows: list[Row], tmp_path: Path) -> None:
    with copy_of(folder, tmp_path / "copy") as copy:
        for path in [*copy.glob("*-Summary.db"), *copy.glob("*-Index.db")]:
            path.write_bytes(b"nonsense")
        assert rows_of(copy) == all_rows


def rows_or_error(folder: Path, wanted: list[Row]) -> bool:
    """Whether the rows of the range are right; an error must be one about a file, anything else fails."""
    try:
        found = rows_of(folder, token_start=wanted[0][0] - 1, token_end=wanted[-1][0])
    except SSTableError:
        return False
    assert found == wanted
    return True


@pytest.fixture
def single(folder: Path, tmp_path: Path) -> Iterator[tuple[Path, list[Row]]]:
    """One of the SSTables alone, and what stands in a range of it."""
    with copy_of(folder, tmp_path / "copy") as copy:
        for path in copy.glob("nb-2-big-*"):
            path.unlink()
        rows = rows_of(copy)
        yield copy, rows[300:320]


@pytest.mark.parametrize("component", ["Summary.db", "Index.db"])
def test_a_damaged_index_never_costs_rows(single: tuple[Path, list[Row]], component: str) -> None:
    copy, wanted = single
    path = copy / f"nb-1-big-{component}"
    good = path.read_bytes()
    places = range(len(good)) if component == "Summary.db" else places_read(copy, good)
    for at in places:
        for bit in (0x01, 0x80, 0xFF):
            path.write_bytes(good[:at] + bytes([good[at] ^ bit]) + good[at + 1 :])
            rows_or_error(copy, wanted)
    for size in {0, 1, len(good) // 2, *places}:
        path.write_bytes(good[:size])
        assert rows_or_error(copy, wanted)


def places_read(folder: Path, index: bytes) -> range:
    """Where in Index.db the entry that a range starts with lies."""
    sstable = open_file(folder / "nb-1-big-Data.db")
    rows = rows_of(folder)
    key = start_above(sstable, rows[300][0] - 1).key
    assert key is not None
    at = index.index(len(key).to_bytes(2, "big") + key)
    return range(at, at + 2 + len(key) + 5)


def test_an_index_of_another_sstable_never_costs_rows(folder: Path, single: tuple[Path, list[Row]]) -> None:
    copy, wanted = single
    for component in ("Summary.db", "Index.db"):
        shutil.copy(folder / f"nb-2-big-{component}", copy / f"nb-1-big-{component}")
        rows_or_error(copy, wanted)


def test_an_index_that_points_to_another_partition_is_an_error(single: tuple[Path, list[Row]]) -> None:
    copy, wanted = single
    path = copy / "nb-1-big-Index.db"
    good = bytearray(path.read_bytes())
    place = places_read(copy, bytes(good))[0] + 2 + 15  # behind the key
    assert good[place] >= 0x80  # a position of several bytes
    good[place + 1] ^= 0x01
    path.write_bytes(good)
    with pytest.raises(SSTableError, match="the index says that a partition starts here, but its key is another"):
        rows_of(copy, token_start=wanted[0][0] - 1, token_end=wanted[-1][0])


def is_served(fixture: FixtureSet) -> bool:
    if refusal(fixture) is not None or not fixture.has_expected_rows or fixture.id in EXPLAINED:
        return False
    return partitioner_of(open_file(fixture.data_files[0]).statistics.partitioner).tokens != NO_TOKENS


@pytest.mark.parametrize("fixture", params(is_served))
def test_ranges_that_tile_the_ring_give_the_rows_of_any_table(fixture: FixtureSet) -> None:
    sstables = tuple(map(open_file, fixture.data_files))
    schema = schema_of(fixture, sstables)
    key = tuple(column.name for column in schema.partition_key if column.type.kind not in BEYOND)
    whole = keys_of(sstables, schema, key)
    is_random = "Random" in sstables[0].statistics.partitioner
    cuts = [2**120, 2**125, 3**79] if is_random else [-(2**62), 0, 3**39]
    tiles = pairwise([None, *cuts, None])
    assert pa.concat_tables(keys_of(sstables, schema, key, start, end) for start, end in tiles).equals(whole)


def keys_of(
    sstables: tuple[SSTable, ...],
    schema: TableSchema,
    key: tuple[str, ...],
    start: int | None = None,
    end: int | None = None,
) -> pa.Table:
    with scan_of(schema, sstables, now_s=0, columns=key, token_start=start, token_end=end) as scan:
        as_received = pa.ipc.read_schema(scan.schema.serialize())
        return pa.Table.from_batches(map(copied, scan.batches()), as_received)


@pytest.mark.parametrize("folder", ["nb", "da"])
def test_a_range_of_random_partitioner_gives_its_rows(folder: str) -> None:
    (fixture,) = (each for each in copied_sets() if each.id == f"cassandra-5.0/{folder}/partitioner_random")
    sstables = tuple(map(open_file, fixture.data_files))
    schema = schema_of(fixture, sstables)
    rows = [(ordering.token("RandomPartitioner", row["k"].encode()), row["k"]) for row in fixture.expected_rows() or []]
    for start, end in product([-1, 0, *(token for token, _ in rows[::25]), 2**127], repeat=2):
        found = keys_of(sstables, schema, ("k",), start, end)["k"].to_pylist()
        if start <= end:
            assert found == [key for token, key in rows if start < token <= end or start == end]
        else:
            assert found == [key for token, key in rows if token <= end or token > start]


def test_a_run_starts_close_before_its_range_of_random_partitioner() -> None:
    (fixture,) = (each for each in copied_sets() if each.id == "cassandra-5.0/nb/partitioner_random")
    sstable = open_file(fixture.data_files[0])
    partitioner = partitioner_of(sstable.statistics.partitioner)
    tokens = sorted(ordering.token("RandomPartitioner", f"key{i}".encode()) for i in range(300))
    start = start_of(sstable, TokenRange(tokens[290], 2**127, partitioner))
    assert start.key is not None
    assert ordering.token("RandomPartitioner", start.key) == tokens[256]
