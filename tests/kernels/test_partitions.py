"""Going over partitions from head to head gives what the reference decoder and Index.db say."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.schema import schema_from_header
from flightsrv.kernels.partitions import (
    IN_PARTITION,
    ODD,
    PARTITION,
    SURVEY_STATE,
    TO_SKIP,
    Boundaries,
    Partitions,
    first_out_of_order,
    survey,
)
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.status import CORRUPT, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK
from flightsrv.scan.runs import run_header
from flightsrv.scan.schemas import schema_from_sstables
from tests.reference.schema import Schema
from tests.reference.sstables import SSTable as Reference
from tests.scan.scanning import open_file
from tests.sstable.components import SSTable, copied
from tests.stages.tables import DHT, an_sstable

pytestmark = pytest.mark.kernel

SSTABLES = [
    copied("cassandra-5.0/nb/ranges_mixed/nb-4-big-Data.db"),
    copied("cassandra-5.0/oa/ranges_mixed/oa-4-big-Data.db"),
    copied("cassandra-5.0/nb/statics/nb-3-big-Data.db"),
    copied("cassandra-5.0/oa/statics/oa-3-big-Data.db"),
    copied("cassandra-5.0/oa/collections/oa-3-big-Data.db"),
    copied("cassandra/ma/legacy_tables/legacy_ma_simple/ma-1-big-Data.db"),
]
NO_BOUNDARIES = Boundaries(*np.zeros((len(Boundaries._fields), 0), np.int64))
Found = list[tuple[bytes, int, Any]]
"""Key, position and deletion of each partition."""


def header_of(sstable: SSTable) -> RunHeader:
    opened = open_file(sstable.data_file)
    return run_header(opened, schema_from_sstables("ks", "t", [opened]))


class Surveying:
    """A run of calls over the same bytes, given in windows."""

    def __init__(self, header: RunHeader, capacity: int = 64) -> None:
        self.header = header
        self.state = np.zeros(SURVEY_STATE, np.int64)
        self.found: Found = []
        self.capacity = capacity
        self.windows: list[Any] = []

    def go(self, data: bytes, start: int, stop: int) -> tuple[int, int]:
        """Status and stopped_at, of bytes behind which there are only ones."""
        window = np.frombuffer(data[:stop] + b"\xff" * SLACK, np.uint8)
        self.windows.append(window)
        status, at = OUTPUT_FULL, start
        while status == OUTPUT_FULL:
            made_to = Partitions(*np.full((len(Partitions._fields), self.capacity), -7, np.int64))
            status, at, made = survey(window, at, stop, at, self.header, self.state, NO_BOUNDARIES, made_to)
            for i in range(made):
                key_at = made_to.key_at[i] - window.ctypes.data
                key = window[key_at : key_at + made_to.key_size[i]].tobytes()
                self.found.append((key, int(made_to.position[i]), int(made_to.deletion_us[i])))
        return int(status), int(at)


def expected(sstable: SSTable) -> Found:
    positions = [entry.position for entry in sstable.parse("Index.db")]
    partitions = Reference(sstable.data_file).partitions()
    return [
        (partition.key, position, partition.deletion.marked_at_us)
        for partition, position in zip(partitions, positions, strict=True)
    ]


@pytest.mark.parametrize("sstable", SSTABLES, ids=str)
@pytest.mark.parametrize("capacity", [1, 64])
def test_all_partitions_are_found(sstable: SSTable, capacity: int) -> None:
    surveying, data = Surveying(header_of(sstable), capacity), sstable.data()
    assert surveying.go(data, 0, len(data)) == (NEED_INPUT, len(data))
    assert surveying.found == expected(sstable)
    assert not surveying.state[[IN_PARTITION, TO_SKIP, ODD]].any()


@pytest.mark.parametrize("sstable", SSTABLES, ids=str)
def test_a_window_may_end_anywhere(sstable: SSTable) -> None:
    header, data, wanted = header_of(sstable), sstable.data(), expected(sstable)
    for cut in range(len(data)):
        surveying = Surveying(header)
        status, at = surveying.go(data, 0, cut)
        assert status == NEED_INPUT
        assert surveying.go(data, at, len(data)) == (NEED_INPUT, len(data))
        assert surveying.found == wanted
        assert not surveying.state[[IN_PARTITION, TO_SKIP, ODD]].any()


def test_a_header_length_ends_where_the_first_row_starts() -> None:
    sstable = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")
    data = np.frombuffer(sstable.data() + bytes(SLACK), np.uint8)
    found = Partitions(*np.zeros((len(Partitions._fields), 8), np.int64))
    survey(data, 0, data.size - SLACK, 0, header_of(sstable), np.zeros(SURVEY_STATE, np.int64), NO_BOUNDARIES, found)
    (entry,) = sstable.parse("Index.db")
    assert found.header_length[0] == entry.promoted.header_length


@given(st.binary(max_size=300))
@pytest.mark.parametrize("header", [header_of(SSTABLES[0]), header_of(SSTABLES[3])], ids=["nb", "oa with statics"])
def test_any_bytes_stay_within_bounds(header: RunHeader, data: bytes) -> None:
    surveying = Surveying(header)
    status, at = surveying.go(data, 0, len(data))
    assert status in (NEED_INPUT, CORRUPT)
    assert 0 <= at <= len(data)
    assert all(
        0 < len(key) <= len(data) and position <= surveying.state[PARTITION] for key, position, _ in surveying.found
    )


@pytest.mark.parametrize(
    ("partitioner", "key_type", "keys", "place"),
    [
        ("ByteOrdered", "BytesType", (b"a", b"b", b"c"), 3),
        ("ByteOrdered", "BytesType", (b"a", b"a", b"b"), 1),
        ("ByteOrdered", "BytesType", (b"a", b"ab", b"aa"), 2),
        ("ByteOrdered", "BytesType", (), 0),
        ("Murmur3", "BytesType", (b"a", b"c", b"b"), 3),
        ("Murmur3", "BytesType", (b"a", b"b", b"c"), 2),
        ("Murmur3", "BytesType", (b"a", b"c", b"c"), 2),
        ("Random", "BytesType", (b"a", b"c", b"b", b"d"), 4),
        ("Random", "BytesType", (b"c", b"a", b"b"), 1),
        ("Random", "BytesType", (b"a", b"a"), 1),
        ("OrderPreserving", "BytesType", ("\U00010000".encode(), "\uffff".encode()), 2),
        ("OrderPreserving", "BytesType", ("\uffff".encode(), "\U00010000".encode()), 1),
        ("Local", "Int32Type", (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\0"), 2),
        ("Local", "com.example.Own", (b"b", b"a"), 2),
    ],
)
def test_the_first_key_out_of_order_is_found(
    partitioner: str, key_type: str, keys: tuple[bytes, ...], place: int
) -> None:
    data = np.frombuffer(b"".join(keys) + b"\0", np.uint8)
    sizes = np.array([len(key) for key in keys], np.int64)
    columns = np.zeros((len(Partitions._fields), len(keys)), np.int64)
    found = Partitions(*columns)._replace(key_at=data.ctypes.data + np.cumsum(sizes) - sizes, key_size=sizes)
    assert first_out_of_order(found, 0, len(keys), header_by(f"{DHT}{partitioner}Partitioner", key_type)) == place


def header_by(partitioner: str, key_type: str) -> RunHeader:
    """The header of an SSTable with this order of partitions."""
    schema = Schema({})
    sstable = an_sstable(schema, schema.header())
    header = replace(sstable.statistics.header, key_type=key_type)
    sstable.statistics = SimpleNamespace(header=header, partitioner=partitioner)
    return run_header(sstable, schema_from_header("ks", "t", key_type, (), [], []))
