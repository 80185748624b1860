from __future__ import annotations

import numpy as np
import pytest

from flightsrv.cql.vint import write_unsigned_vint
from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import index
from flightsrv.sstable.clustering import CLUSTERING, INCL_START_BOUND
from flightsrv.sstable.cursor import Cursor, Line
from flightsrv.sstable.index import IndexEntries, entries, walk
from flightsrv.sstable.version import version_of
from tests.sstable.components import SSTable, copied, every_sstable

WIDE = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")
PATH = "/data/nb-1-big-Index.db"


def entry(key: bytes, position: int, promoted: bytes = b"") -> bytes:
    size = write_unsigned_vint(len(promoted))
    return len(key).to_bytes(2) + key + write_unsigned_vint(position) + size + promoted


def walked(data: bytes) -> IndexEntries:
    return walk(np.frombuffer(data + bytes(SLACK), np.uint8), len(data), PATH)


def read(data: bytes) -> list[index.Entry]:
    return list(entries(Cursor(data, PATH), version_of("big", "nb", "x"), ()))


def test_entries_have_keys_and_positions() -> None:
    data = entry(b"one", 0) + entry(b"two", 1000)
    assert [(e.key, e.position, e.promoted) for e in read(data)] == [(b"one", 0, None), (b"two", 1000, None)]


def test_the_kernel_finds_the_same_entries() -> None:
    columns = walked(entry(b"one", 0) + entry(b"three", 1000, b"promoted"))
    assert columns.key_start.tolist() == [2, 9]
    assert columns.key_size.tolist() == [3, 5]
    assert columns.data_position.tolist() == [0, 1000]
    assert columns.promoted_size.tolist() == [0, 8]


def test_an_empty_index_has_no_entries() -> None:
    assert read(b"") == []
    assert walked(b"").key_start.size == 0


def test_more_entries_than_one_call_holds_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_ENTRIES_A_CALL", 2)
    columns = walked(b"".join(entry(b"k%d" % i, 10 * i) for i in range(5)))
    assert columns.data_position.tolist() == [0, 10, 20, 30, 40]


@pytest.mark.parametrize(
    "data",
    [
        entry(b"one", 5) + entry(b"two", 5),
        entry(b"one", 5) + entry(b"two", 4),
        entry(b"one", 5) + entry(b"two", 2**63),
        entry(b"one", 5) + entry(b"", 6),
    ],
)
def test_entries_out_of_order_are_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptSSTableError):
        read(data)
    with pytest.raises(CorruptSSTableError, match="offset 7: not an entry, or not one that comes after position 5"):
        walked(data)


@pytest.mark.parametrize("cut", range(1, 20))
def test_an_entry_that_is_cut_off_is_corrupt(cut: int) -> None:
    data = entry(b"one", 0) + entry(b"three", 1000, b"promoted ix")
    with pytest.raises(CorruptSSTableError):
        read(data[:-cut])
    with pytest.raises(CorruptSSTableError, match=f"offset 7: .* within the file's {len(data) - cut} bytes"):
        walked(data[:-cut])


@pytest.mark.parametrize("size", [2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_promoted_index_of_any_size_stays_within_the_file(size: int) -> None:
    data = b"\0\x03one\0" + write_unsigned_vint(size)
    with pytest.raises(CorruptSSTableError):
        read(data)
    with pytest.raises(CorruptSSTableError):
        walked(data)


def test_a_wide_partition_has_blocks() -> None:
    promoted = WIDE.parse("Index.db")[0].promoted
    assert len(promoted.blocks) > 2
    assert promoted.deletion is None
    assert promoted.blocks[0].start == promoted.header_length
    assert {block.first.kind for block in promoted.blocks} == {CLUSTERING, INCL_START_BOUND}
    assert any(block.open_deletion for block in promoted.blocks)


def test_without_types_promoted_indexes_are_stepped_over() -> None:
    trace: list[Line] = []
    found = list(entries(WIDE.cursor("Index.db", trace), WIDE.version, None))
    assert [e.promoted for e in found] == [None] * len(found)
    assert "promoted" in [line.field for line in trace]


def test_a_promoted_index_must_be_as_large_as_it_says() -> None:
    trace: list[Line] = []
    list(entries(WIDE.cursor("Index.db", trace), WIDE.version, None))
    promoted = next(line for line in trace if line.field == "promoted")
    stored = WIDE.file("Index.db").read_bytes()[promoted.offset : promoted.offset + promoted.size]
    for size in (promoted.size - 1, promoted.size + 1):
        data = entry(b"key", 0, stored[:size].ljust(size, b"\0"))
        with pytest.raises(CorruptSSTableError, match=r"promoted\.(end|block offsets|block \d+)"):
            list(entries(Cursor(data, PATH), WIDE.version, WIDE.header.clustering_types))


@pytest.mark.parametrize("sstables", every_sstable())
def test_the_kernel_and_the_parser_agree_on_real_files(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        file = sstable.file("Index.db")
        if not file.exists() or file.stat().st_size > 1_000_000:
            continue
        data = file.read_bytes()
        columns, parsed = walked(data), sstable.parse("Index.db")
        starts, sizes = columns.key_start.tolist(), columns.key_size.tolist()
        assert [data[start : start + size] for start, size in zip(starts, sizes, strict=True)] == [
            e.key for e in parsed
        ]
        assert columns.data_position.tolist() == [e.position for e in parsed]
        assert (columns.promoted_size > 0).tolist() == [e.promoted is not None for e in parsed]


@pytest.mark.parametrize("sstables", every_sstable())
def test_blocks_of_real_files_follow_each_other(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        file = sstable.file("Index.db")
        if not file.exists() or file.stat().st_size > 1_000_000:
            continue
        for promoted in (e.promoted for e in sstable.parse("Index.db") if e.promoted):
            ends = [block.start + block.width for block in promoted.blocks]
            assert [block.start for block in promoted.blocks] == [promoted.header_length, *ends[:-1]]
