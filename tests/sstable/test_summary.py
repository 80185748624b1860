from __future__ import annotations

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.summary import FULL_SAMPLING_LEVEL, Summary, parse
from tests.sstable.components import SSTable, every_sstable
from tests.sstable.test_index import walked


def stored(
    entries: list[tuple[bytes, int]],
    *,
    interval: int = 128,
    level: int = 128,
    at_full: int | None = None,
    offsets: list[int] | None = None,
    count: int | None = None,
    extra_size: int = 0,
    after: bytes = b"",
) -> bytes:
    """A Summary.db, right unless told otherwise."""
    sizes = [len(key) + 8 for key, _ in entries]
    right = [4 * len(entries) + sum(sizes[:i]) for i in range(len(entries))]
    body = b"".join(offset.to_bytes(4, "little", signed=True) for offset in offsets or right)
    body += b"".join(key + position.to_bytes(8, "little", signed=True) for key, position in entries)
    head = [(interval, 4), (len(entries) if count is None else count, 4), (len(body) + extra_size, 8)]
    head += [(level, 4), (len(entries) if at_full is None else at_full, 4)]
    keys = [entries[0][0], entries[-1][0]] if entries else [b"a", b"b"]
    ends = b"".join(len(key).to_bytes(4) + key for key in keys)
    return b"".join(value.to_bytes(size, signed=True) for value, size in head) + body + ends + after


ENTRIES = [(b"one", 0), (b"three", 700), (b"two", 1400)]


def parsed(data: bytes) -> Summary:
    return parse(Cursor(data, "nb-1-big-Summary.db"))


def test_keys_and_positions_are_read() -> None:
    summary = parsed(stored(ENTRIES))
    assert [summary.key(i) for i in range(summary.entry_count)] == [b"one", b"three", b"two"]
    assert summary.index_offsets.tolist() == [0, 700, 1400]
    assert (summary.first_key, summary.last_key) == (b"one", b"two")
    assert (summary.min_index_interval, summary.sampling_level, summary.size_at_full_sampling) == (128, 128, 3)


def test_the_first_key_may_be_empty() -> None:
    summary = parsed(stored([(b"", 0), (b"two", 1400)]))
    assert [summary.key(i) for i in range(summary.entry_count)] == [b"", b"two"]


@pytest.mark.parametrize(
    ("data", "field", "what"),
    [
        (stored(ENTRIES, interval=0), "min_index_interval", "0 is not above 0"),
        (stored([]), "entry count", "0 is not above 0"),
        (stored(ENTRIES, count=-1), "entry count", "-1 is not above 0"),
        (stored(ENTRIES, count=2**31 - 1, at_full=2**31 - 1), "offsets", "2147483647 of 4 bytes do not fit"),
        (stored(ENTRIES, level=0), "sampling_level", "0 is not from 1 to 128"),
        (stored(ENTRIES, level=129), "sampling_level", "129 is not from 1 to 128"),
        (stored(ENTRIES, at_full=2), "size_at_full_sampling", "it is 2 of 3"),
        (stored(ENTRIES, extra_size=-100), "entries", "of 1 bytes do not fit"),
        (stored(ENTRIES, extra_size=2**40), "entries", "of 1 bytes do not fit"),
        (stored(ENTRIES, offsets=[13, 23, 36]), "entries", "offsets do not ascend"),
        (stored(ENTRIES, offsets=[12, 19, 36]), "entries", "offsets do not ascend"),
        (stored(ENTRIES, offsets=[12, 23, 31]), "entries", "offsets do not ascend"),
        (stored(ENTRIES, offsets=[12, 23, 40]), "entries", "offsets do not ascend"),
        (stored(ENTRIES, offsets=[12, 23, -1]), "entries", "offsets do not ascend"),
        (stored([(b"one", 1)]), "entries", "positions do not ascend from 0"),
        (stored([(b"one", 0), (b"two", 0)]), "entries", "positions do not ascend from 0"),
        (stored([(b"one", 0), (b"two", -1)]), "entries", "positions do not ascend from 0"),
        (stored(ENTRIES, after=b"x"), "end", "1 bytes are left"),
    ],
)
def test_what_cannot_be_is_corrupt(data: bytes, field: str, what: str) -> None:
    with pytest.raises(CorruptSSTableError) as caught:
        parsed(data)
    assert caught.value.where.field == field
    assert what in caught.value.what


@pytest.mark.parametrize("sstables", every_sstable())
def test_entries_of_real_files_point_at_those_of_the_index(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if not sstable.file("Summary.db").exists():
            continue
        summary, index = sstable.parse("Summary.db"), sstable.file("Index.db").read_bytes()
        columns = walked(index)
        starts = columns.key_start - 2
        at = np.searchsorted(starts, summary.index_offsets)
        assert starts[at].tolist() == summary.index_offsets.tolist()
        keys = [index[start + 2 : start + 2 + size] for start, size in zip(starts, columns.key_size, strict=True)]
        assert [summary.key(i) for i in range(summary.entry_count)] == [keys[i] for i in at]
        assert (summary.first_key, summary.last_key) == (keys[0], keys[-1])
        if summary.sampling_level == FULL_SAMPLING_LEVEL:
            assert at.tolist() == list(range(0, len(keys), summary.min_index_interval))
