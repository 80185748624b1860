from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from flightsrv.arrow.parts import Parts, array_of, is_utf8
from flightsrv.slab import Array


def ints(*values: int) -> Parts:
    return Parts(pa.int32(), len(values), 0, [None, np.array(values, "<i4").view(np.uint8)])


def offsets(*values: int) -> Array:
    return np.array(values, "<i4").view(np.uint8)


def test_levels_come_in_the_order_of_ipc_a_level_before_its_children() -> None:
    first, second = ints(1), ints(2)
    inner = Parts(pa.list_(pa.int32()), 1, 0, [None, offsets(0, 1)], [second])
    outer = Parts(pa.struct({"a": pa.int32(), "b": pa.list_(pa.int32())}), 1, 0, [None], [first, inner])
    assert [level is wanted for level, wanted in zip(outer.levels(), [outer, first, inner, second], strict=True)]
    assert array_of(outer).to_pylist() == [{"a": 1, "b": [2]}]


def test_an_array_lies_over_the_very_buffers() -> None:
    values = np.array([1, 2], "<i4")
    array = array_of(Parts(pa.int32(), 2, 0, [None, values.view(np.uint8)]))
    values[0] = 7
    assert array.to_pylist() == [7, 2]


def test_nulls_are_those_of_the_bitmap() -> None:
    parts = ints(1, 2, 3)
    parts.buffers[0], parts.null_count = np.array([0b101], np.uint8), 1
    assert array_of(parts).to_pylist() == [1, None, 3]


@pytest.mark.parametrize(
    ("content", "ends", "start", "stop", "fits"),
    [
        ("aé".encode(), (0, 1, 3), 0, 2, True),
        (b"a\xc3\xa9", (0, 2, 3), 0, 2, False),
        (b"\xff", (0, 1), 0, 1, False),
        (b"\xed\xa0\x80", (0, 3), 0, 1, False),
        (b"\xffab", (0, 1, 2, 3), 1, 3, True),
        (b"ab\xff", (0, 1, 2, 3), 0, 2, True),
        (b"ab\xff", (0, 1, 2, 3), 2, 3, False),
    ],
)
def test_each_text_asked_for_is_utf_8_by_itself(
    content: bytes, ends: tuple[int, ...], start: int, stop: int, fits: bool
) -> None:
    assert is_utf8(np.array(ends, np.int32), np.frombuffer(content, np.uint8), start, stop) == fits
