"""rows_hash: what it must tell apart, and what it must not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from corpus import rows_hash

SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("number", pa.int32()),
        ("flag", pa.bool_()),
        ("at", pa.timestamp("ms", "UTC")),
        ("id", pa.binary(2)),
    ]
)
ROWS = [
    ("a", 1, True, 5, b"aa"),
    (None, None, None, None, None),
    ("", 0, False, 0, b"\0\0"),
    ("bc", -1, True, -5, b"bb"),
]


def batch(rows: list[tuple[object, ...]], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


RIGHT = rows_hash([batch(ROWS)])


@pytest.mark.parametrize("cut", range(len(ROWS) + 1))
def test_cuts_do_not_matter(cut: int) -> None:
    assert rows_hash([batch(ROWS[:cut]), batch(ROWS[cut:])]) == RIGHT
    assert rows_hash([batch(ROWS).slice(0, cut), batch(ROWS).slice(cut)]) == RIGHT


def test_what_stands_below_a_null_does_not_matter() -> None:
    dirty = pa.Array.from_buffers(pa.int32(), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(b"\xff" * 8)])
    assert rows_hash([pa.record_batch({"n": dirty})]) == rows_hash(
        [pa.record_batch({"n": pa.array([None, -1], pa.int32())})]
    )


def test_wide_offsets_do_not_matter() -> None:
    wide = SCHEMA.set(0, pa.field("text", pa.large_string()))
    assert rows_hash([batch(ROWS, wide)]) == RIGHT


@pytest.mark.parametrize(
    "others",
    [
        ROWS[::-1],
        ROWS[:-1],
        [*ROWS, ROWS[-1]],
        [("a", 1, True, 5, b"aa"), ("", None, None, None, None), *ROWS[2:]],
        [("ab", 1, True, 5, b"aa"), ROWS[1], ROWS[2], ("c", -1, True, -5, b"bb")],
        [("a", 2, True, 5, b"aa"), *ROWS[1:]],
        [("a", 1, False, 5, b"aa"), *ROWS[1:]],
        [("a", 1, True, 6, b"aa"), *ROWS[1:]],
        [("a", 1, True, 5, b"ab"), *ROWS[1:]],
    ],
)
def test_every_value_and_its_place_matter(others: list[tuple[object, ...]]) -> None:
    assert rows_hash([batch(others)]) != RIGHT


NESTED = pa.schema(
    [
        ("list", pa.list_(pa.int32())),
        ("map", pa.map_(pa.string(), pa.int64())),
        ("struct", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    ]
)
NESTED_ROWS = [
    ([1, 2], [("k", 1)], {"a": 1, "b": "x"}),
    (None, None, None),
    ([], [], {"a": None, "b": None}),
    ([None], [("k", None), ("l", 2)], {"a": None, "b": ""}),
]
NESTED_RIGHT = rows_hash([batch(NESTED_ROWS, NESTED)])


@pytest.mark.parametrize("cut", range(len(NESTED_ROWS) + 1))
def test_cuts_do_not_matter_inside_of_collections_and_structs_either(cut: int) -> None:
    whole = batch(NESTED_ROWS, NESTED)
    assert rows_hash([whole.slice(0, cut), whole.slice(cut)]) == NESTED_RIGHT
    assert rows_hash([batch(NESTED_ROWS[:cut], NESTED), batch(NESTED_ROWS[cut:], NESTED)]) == NESTED_RIGHT


@pytest.mark.parametrize(
    "other",
    [
        ([1], [("k", 1)], {"a": 1, "b": "x"}),
        ([2, 1], [("k", 1)], {"a": 1, "b": "x"}),
        ([1, None], [("k", 1)], {"a": 1, "b": "x"}),
        (None, [("k", 1)], {"a": 1, "b": "x"}),
        ([1, 2], [("l", 1)], {"a": 1, "b": "x"}),
        ([1, 2], [("k", 2)], {"a": 1, "b": "x"}),
        ([1, 2], [], {"a": 1, "b": "x"}),
        ([1, 2], [("k", 1)], {"a": None, "b": "x"}),
        ([1, 2], [("k", 1)], {"a": 1, "b": "y"}),
        ([1, 2], [("k", 1)], None),
    ],
)
def test_every_value_inside_of_them_matters(other: tuple[object, ...]) -> None:
    assert rows_hash([batch([other, *NESTED_ROWS[1:]], NESTED)]) != NESTED_RIGHT


def test_names_matter() -> None:
    assert rows_hash([pa.record_batch({"a": pa.array([1])})]) != rows_hash([pa.record_batch({"b": pa.array([1])})])
