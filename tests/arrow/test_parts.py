from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from flightsrv.arrow.parts import Parts, array_of, check_utf8
from flightsrv.errors import ValueFormError
from flightsrv.slab import Array


def ints(*values: int) -> Parts:
    return Parts(pa.int32(), len(values), 0, [None, np.array(values, "<i4").view(np.uint8)])


def offsets(*values: int) -> Array:
    return np.array(values, "<i4").view(np.uint8)


def texts(content: bytes, *ends: int) -> Parts:
    return Parts(pa.string(), len(ends) - 1, 0, [None, offsets(*ends), np.frombuffer(content, np.uint8)])


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


def test_text_is_checked_value_by_value() -> None:
    check_utf8(texts("aé".encode(), 0, 1, 3))
    for content, ends in ((b"a\xc3\xa9", (0, 2, 3)), (b"\xff", (0, 1)), (b"\xed\xa0\x80", (0, 3))):
        with pytest.raises(ValueFormError, match="a text that is not UTF-8"):
            check_utf8(texts(content, *ends))
