"""Token ranges of SSTables of the `bti` format begin where they should, or at the start when the index is damaged."""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, Partitioner, partitioner_of
from flightsrv.errors import SSTableError
from flightsrv.io import buffered
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.scan.schemas import schema_from_sstables
from flightsrv.scan.seek import start_of
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.scan.warm import TABLES
from flightsrv.stages.decode import FILE_START, Start
from tests.scan.scanning import copied as copied_batch
from tests.scan.scanning import open_file, scan_of
from tests.sstable.components import SSTable, copied, every_sstable
from tests.sstable.placed import Placed, placed
from tests.verify.damaging import Copy, copy_of

NARROW = copied("cassandra-5.0/da/deletes/da-3h5y_1e7k_5iosa2vpc6ab5h8h1s-bti-Data.db")
WIDE = copied("cassandra-5.0/da/wide/da-3h5y_1e8r_290oa2vpc6ab5h8h1s-bti-Data.db")
"""A partition of 20,000 rows, and behind it two of 600 and 50."""
ONE = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")
"""A wide partition."""
MIXED = SSTable(next(TABLES.glob("*/indexed/*-Data.db")))
"""Seven narrow partitions and a wide one among them."""

Keys = list[bytes]


def above(token: int) -> TokenRange:
    return TokenRange(token, MURMUR3_PARTITIONER.greatest_token)


def tokens_of(partitions: list[Placed], partitioner: Partitioner = MURMUR3_PARTITIONER) -> list[int]:
    return [partitioner.token(each.key) for each in partitions]


def expected_start(sstable: SSTable, there: list[Placed], place: int) -> Start:
    """At a partition, the last that is not above the token, if there is one; behind it if it has a row index."""
    if place < 0:
        return FILE_START
    if not is_wide(sstable, there[place]):
        return Start(there[place].position, there[place].key)
    if place + 1 == len(there):
        return Start(there[place].end + 1, None)
    return Start(there[place + 1].position, there[place + 1].key)


def is_wide(sstable: SSTable, partition: Placed) -> bool:
    size = len(partition.key).to_bytes(2)
    return size + partition.key in sstable.file("Rows.db").read_bytes()


@pytest.mark.parametrize("sstables", every_sstable())
def test_a_range_begins_with_the_last_partition_before_it_or_behind_that(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        file = sstable.file("Partitions.db")
        if not file.exists() or file.stat().st_size > 20_000:
            continue
        opened, there = open_file(sstable.data_file), placed(sstable)
        partitioner = partitioner_of(opened.statistics.partitioner)
        if partitioner.tokens == NO_TOKENS:
            continue
        tokens = tokens_of(there, partitioner)
        near = {token + step for token in tokens[:: 1 + len(tokens) // 30] for step in (-1, 0, 1)}
        for token in {partitioner.least_token, 0, *near} - {partitioner.least_token - 1}:
            wanted = TokenRange(token, partitioner.greatest_token, partitioner)
            place = -1 if token == partitioner.least_token else bisect_right(tokens, token) - 1
            assert start_of(opened, wanted) == expected_start(sstable, there, place)


def test_what_is_copied_has_ranges_behind_wide_partitions_and_at_the_end() -> None:
    there = placed(MIXED)
    assert [len(each.unfiltereds) for each in placed(WIDE)] == [20000, 600, 50]
    starts = [start_of(open_file(MIXED.data_file), above(token)) for token in tokens_of(there)]
    assert [is_wide(MIXED, each) for each in there] == [False] * 4 + [True] + [False] * 3
    positions = [each.position for each in there]
    assert [start.position for start in starts] == [*positions[:4], positions[5], *positions[5:]]
    (only,) = placed(ONE)
    assert start_of(open_file(ONE.data_file), above(2**63 - 1)) == Start(only.end + 1, None)


def keys_in(sstable: SSTable, after: int | None, upto: int | None) -> Keys:
    """The keys that a scan of the range gives."""
    opened = open_file(sstable.data_file)
    schema = schema_from_sstables("ks", "t", [opened])
    key = (schema.partition_key[0].name,)
    with scan_of(schema, (opened,), now_s=0, columns=key, token_start=after, token_end=upto) as scan:
        as_received = pa.ipc.read_schema(scan.schema.serialize())
        table = pa.Table.from_batches(map(copied_batch, scan.batches()), as_received)
    found = dict.fromkeys(table.column(0).to_pylist())
    return [each.to_bytes(4, signed=True) if isinstance(each, int) else each.encode() for each in found]


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many bytes of which component are read."""
    read: dict[str, int] = {}
    real = os.preadv

    def preadv(descriptor: int, targets: list[Any], offset: int) -> int:
        size = real(descriptor, targets, offset)
        component = Path(f"/proc/self/fd/{descriptor}").readlink().name.rsplit("-", 1)[-1]
        read[component] = read.get(component, 0) + size
        return size

    monkeypatch.setattr(buffered.os, "preadv", preadv)
    return read


def test_no_more_is_read_than_a_range_needs(read_bytes: dict[str, int]) -> None:
    """The first partition is most of the file, and not read for a range behind it, though it is its floor."""
    there = placed(WIDE)
    tokens, whole = tokens_of(there), WIDE.data_file.stat().st_size
    assert keys_in(WIDE, tokens[0], None) == [each.key for each in there[1:]]
    assert read_bytes.pop("Data.db") < whole * 0.2
    assert read_bytes.pop("Partitions.db") <= 24 + WIDE.file("Partitions.db").stat().st_size
    assert keys_in(WIDE, tokens[0] - 1, None) == [each.key for each in there]
    assert read_bytes.pop("Data.db") >= whole


def without_index(copy: Copy) -> None:
    copy.remove("Partitions.db")


def with_nonsense(copy: Copy) -> None:
    copy.write("Partitions.db", b"nonsense" * 9)


def without_rows(copy: Copy) -> None:
    copy.remove("Rows.db")


@pytest.mark.parametrize("damage", [without_index, with_nonsense, without_rows])
def test_without_an_index_a_range_begins_at_the_start_of_the_file(tmp_path: Path, damage: Any) -> None:
    copy, there = copy_of(WIDE, tmp_path), placed(WIDE)
    damage(copy)
    token = tokens_of(there)[1]
    assert start_of(open_file(copy.sstable.data_file), above(token)) == FILE_START
    assert keys_in(copy.sstable, token, None) == [each.key for each in there[2:]]


def ranges_of(sstable: SSTable) -> list[tuple[int, Keys]]:
    """Some tokens, and what a whole scan gives above them."""
    keys, tokens = keys_in(sstable, None, None), tokens_of(placed(sstable))
    bounds = [tokens[0], tokens[len(tokens) // 2] - 1, tokens[len(tokens) // 2], tokens[-1]]
    return [(bound, [key for key in keys if MURMUR3_PARTITIONER.token(key) > bound]) for bound in bounds]


def is_right(sstable: SSTable, token: int, wanted: Keys) -> bool:
    """Whether a scan of all above a token is right; it may end in an error about a file, anything else fails."""
    try:
        found = keys_in(sstable, token, None)
    except SSTableError:
        return False
    assert found == wanted
    return True


@pytest.mark.parametrize(
    ("sstable", "component"),
    [(NARROW, "Partitions.db"), (MIXED, "Partitions.db"), (MIXED, "Rows.db"), (ONE, "Rows.db")],
    ids=["narrow", "mixed", "mixed rows", "one"],
)
def test_a_damaged_index_never_costs_rows(tmp_path: Path, sstable: SSTable, component: str) -> None:
    copy, ranges = copy_of(sstable, tmp_path), ranges_of(sstable)
    good = copy.read(component)
    for at in range(len(good)):
        for change in (1 << at % 8, 0xFF):
            copy.patch(component, at, bytes([good[at] ^ change]))
            for token, wanted in ranges:
                is_right(copy.sstable, token, wanted)
        copy.write(component, good)
    for size in {0, 1, len(good) // 2, len(good) - 1}:
        copy.write(component, good[:size])
        for token, wanted in ranges:
            assert is_right(copy.sstable, token, wanted)


def test_an_index_of_another_sstable_never_costs_rows(tmp_path: Path) -> None:
    copy, ranges = copy_of(NARROW, tmp_path), ranges_of(NARROW)
    for other in (WIDE, MIXED):
        for component in ("Partitions.db", "Rows.db"):
            copy.write(component, other.file(component).read_bytes())
        for token, wanted in ranges:
            assert is_right(copy.sstable, token, wanted)
