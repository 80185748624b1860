"""Draws are SplitMix64, whoever makes them; and a seed means the same for ever."""

from __future__ import annotations

import numpy as np
import pytest

from corpus import collections, keyvalue, mixed, rows_hash, sparse, sparse_80, wide
from corpus.draw import below, chance, draw, stream
from corpus.texts import draw as draw_in_kernel

MASK = 2**64 - 1
EVENTS = {"ttl_share": 0.2, "deletion_share": 0.2, "now_s": 1_800_000_000}


def splitmix64(where: int, counter: int) -> int:
    z = (where + 0x9E3779B97F4A7C15 * (counter + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def test_splitmix64_is_right() -> None:
    """The first numbers of the generator with seed 1234567, as its author's code gives them."""
    assert [splitmix64(1234567, counter) for counter in range(2)] == [6457827717110365317, 3203168211198807973]


def test_arrays_and_kernels_draw_the_same() -> None:
    where = stream(5, 1, 2)
    counters = np.array([0, 1, 77, 10**9, 2**40])
    plain = [splitmix64(int(where), int(counter)) for counter in counters]
    assert draw(where, counters).tolist() == plain
    assert [int(draw_in_kernel(where, counter)) for counter in counters] == plain


def test_streams_differ_by_seed_run_and_field() -> None:
    assert len({int(stream(*use)) for use in [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (0, 0, 0)]}) == 5


def test_draws_are_spread_evenly() -> None:
    where, counters = stream(1, 0, 0), np.arange(100_000)
    assert abs(int(chance(where, counters, 0.2).sum()) - 20_000) < 600
    assert np.bincount(below(draw(where, counters), 10)).min() > 9500


@pytest.mark.parametrize(
    ("batches", "known"),
    [
        (keyvalue.expected_batches(1000), "49f342b9e9cb5bd0"),
        (keyvalue.expected_batches(1000, 3, 7, **EVENTS), "8d792095cf654a74"),
        (mixed.expected_batches(50, 20), "42b25624acb14904"),
        (mixed.expected_batches(50, 20, 3, 7, **EVENTS), "78fa3f9fe5da4050"),
        (wide.expected_batches(50, 20, 3, 7, **EVENTS), "61e63242a36705d9"),
        (collections.expected_batches(50, 20, 3, 7, **EVENTS), "d43d22909eabe9cb"),
        (sparse.expected_batches(50, 20, 3, 7, **EVENTS), "54f3a905c2446887"),
        (sparse_80.expected_batches(50, 20, 3, 7, **EVENTS), "7723954b47785219"),
    ],
    ids=["keyvalue", "keyvalue-events", "mixed", "mixed-events", "wide", "collections", "sparse", "sparse-80"],
)
def test_a_seed_means_the_same_rows_for_ever(batches, known) -> None:  # type: ignore[no-untyped-def]
    assert rows_hash(batches)[:16] == known
