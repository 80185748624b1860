"""A counter's value is the sum over those who counted, whichever SSTables their shards are in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.reference.counters import GLOBAL, LOCAL, REMOTE, Shard, context_of, total
from tests.reference.merge import merged
from tests.reference.model import Cell, Partition, Row
from tests.reference.schema import Schema
from tests.stages.merging import Sizes, encoded, rows_of, selections

pytestmark = pytest.mark.kernel

COUNTERS = Schema({"c": "counter"})
SMALL = Sizes(slab_rows=2, window_bytes=40)
IDS = [bytes([first]) + bytes(15) for first in (1, 0x7F, 0x80, 0xFF)]
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63)]))


@st.composite
def contexts(draw: DrawFn) -> bytes:
    ids = sorted(draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4)))
    kinds = st.sampled_from([REMOTE, LOCAL, GLOBAL])
    # A remote clock of 0 is none that Cassandra writes, and compares as no other.
    clocks = st.integers(-3, 3).filter(bool)
    context = context_of([Shard(id, draw(clocks), draw(NUMBERS), draw(kinds)) for id in ids])
    if draw(st.booleans()):
        return context
    count = int.from_bytes(context[:2], "big")
    return (-count).to_bytes(2, "big", signed=True) + context[2:]  # its local shards are to be cleared


@st.composite
def cells(draw: DrawFn) -> Cell:
    timestamp_us = draw(st.integers(1, 4))
    if draw(st.integers(0, 5)) == 0:
        return Cell(timestamp_us, b"", 0, 50)
    return Cell(timestamp_us, draw(contexts()))


def totals(runs: list[bytes]) -> list[int | None]:
    found = selections(runs, COUNTERS, sizes=SMALL)
    values = [row[1] for selection in found for row in rows_of(selection)]
    return [None if value is None else int.from_bytes(value, "big", signed=True) for value in values]


@given(st.lists(cells(), min_size=1, max_size=4))
def test_a_counters_shards_add_up_as_the_reference_adds_them(versions: list[Cell]) -> None:
    runs = [[Partition(b"k", unfiltered=(Row((), {"c": cell}),))] for cell in versions]
    expected = [total(row.columns["c"].value) for row in merged(runs, COUNTERS.table(), 0)]  # type: ignore[union-attr]
    assert totals([encoded(run, COUNTERS) for run in runs]) == expected


@pytest.mark.parametrize("context", [b"\0", b"\0\1", b"\0\0" + bytes(31), b"\xff\xff" + bytes(32), bytes(8)])
def test_what_is_no_context_is_no_counter(context: bytes) -> None:
    """It comes out in a size that no counter has: encode names the column."""
    (selection,) = selections(
        [encoded([Partition(b"k", unfiltered=(Row((), {"c": Cell(1, context)}),))], COUNTERS)], COUNTERS
    )
    assert selection.size[1, 0] not in (8, 0)
