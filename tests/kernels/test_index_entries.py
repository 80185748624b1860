from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.vint import write_unsigned_vint
from flightsrv.kernels.index_entries import index_entries
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK

pytestmark = pytest.mark.kernel


def entry(key: bytes, position: int, promoted: int = 0) -> bytes:
    return len(key).to_bytes(2) + key + write_unsigned_vint(position) + write_unsigned_vint(promoted) + bytes(promoted)


ENTRIES = [entry(b"a", 0), entry(b"bcd" * 7, 100, 300), entry(b"e", 70_000), entry(b"f" * 300, 2**40, 3)]
DATA = b"".join(ENTRIES)
ROWS = [(2, 1, 0, 0), (7, 21, 100, 300), (333, 1, 70_000, 0), (340, 300, 2**40, 3)]


def run(
    data: bytes, start: int, stop: int, previous: int = -1, capacity: int = 8
) -> tuple[int, int, list[tuple[int, ...]]]:
    """Status, stopped_at and rows, of bytes behind which there are only ones."""
    padded = np.frombuffer(data[:stop] + b"\xff" * SLACK, np.uint8)
    out = np.full((4, capacity), -7, np.int64)
    status, at, made = index_entries(padded, start, stop, previous, out[0], out[1], out[2], out[3])
    assert (out[:, made:] == -7).all()
    return int(status), int(at), [tuple(row) for row in out[:, :made].T.tolist()]


def test_all_entries_are_found_in_one_call() -> None:
    assert run(DATA, 0, len(DATA)) == (DONE, len(DATA), ROWS)


@pytest.mark.parametrize("cut", range(len(DATA)))
def test_a_window_may_end_anywhere(cut: int) -> None:
    status, at, rows = run(DATA, 0, cut)
    assert (status, at) == (DONE if at == cut else NEED_INPUT, max(end for end in ends() if end <= cut))
    previous = rows[-1][2] if rows else -1
    assert run(DATA, at, len(DATA), previous) == (DONE, len(DATA), ROWS[len(rows) :])


def ends() -> list[int]:
    return [sum(map(len, ENTRIES[:i])) for i in range(len(ENTRIES) + 1)]


@pytest.mark.parametrize("capacity", range(1, 5))
def test_the_smallest_output_gives_the_same_as_a_large_one(capacity: int) -> None:
    rows: list[tuple[int, ...]] = []
    at, status = 0, OUTPUT_FULL
    while status == OUTPUT_FULL:
        status, at, made = run(DATA, at, len(DATA), rows[-1][2] if rows else -1, capacity)
        rows += made
    assert (status, rows) == (DONE, ROWS)


@pytest.mark.parametrize(
    "bad",
    [
        entry(b"", 100),
        entry(b"x", 0),
        b"\0\x01x" + b"\xff" * 9 + b"\0",
        b"\0\x01x\x05" + b"\xff" * 9,
    ],
)
def test_what_cannot_be_an_entry_is_corrupt_where_it_starts(bad: bytes) -> None:
    data = ENTRIES[0] + bad + ENTRIES[2]
    assert run(data, 0, len(data)) == (CORRUPT, len(ENTRIES[0]), ROWS[:1])


def test_the_first_key_may_be_empty() -> None:
    data = entry(b"", 0) + entry(b"x", 100)
    assert run(data, 0, len(data)) == (DONE, len(data), [(2, 0, 0, 0), (len(entry(b"", 0)) + 2, 1, 100, 0)])


def test_a_promoted_index_larger_than_any_file_needs_input() -> None:
    data = b"\0\x01x\0" + write_unsigned_vint(2**63 - 1) + bytes(100)
    assert run(data, 0, len(data)) == (NEED_INPUT, 0, [])


@given(st.binary(max_size=200))
def test_any_bytes_stay_within_bounds(data: bytes) -> None:
    status, at, rows = run(data, 0, len(data), capacity=64)
    assert status in (DONE, NEED_INPUT, CORRUPT)
    assert 0 <= at <= len(data)
    for i, (key_start, key_size, _, promoted_size) in enumerate(rows):
        assert key_size > 0 or i == 0
        assert key_start + key_size + promoted_size <= at
