from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.vint import write_unsigned_vint
from flightsrv.kernels.explode import (
    MALFORMED,
    count_elements,
    explode_arrays,
    explode_collections,
    explode_fields,
    explode_vectors,
    split_composite,
)
from flightsrv.slab import Array
from tests.kernels.places import is_valid, places_of

pytestmark = pytest.mark.kernel

Element = bytes | None
ELEMENTS = st.lists(st.none() | st.binary(max_size=5), max_size=4)


def sized(element: Element) -> bytes:
    return struct.pack(">i", -1) if element is None else struct.pack(">i", len(element)) + element


def at_places(at: Array, size: Array) -> list[Element]:
    return [ctypes.string_at(int(a), int(n)) if n >= 0 else None for a, n in zip(at, size, strict=True)]


def collections(
    values: list[bytes | None], parts: int, filled: int = 0
) -> int | tuple[list[int], list[bool], list[list[Element]]]:
    """Offsets, validity and elements of collections, or MALFORMED."""
    found = places_of(values)
    elements = int(count_elements(found.at, found.size, 0, found.count, parts))
    if elements < 0:
        return elements
    offsets, valid = (
        np.full(filled + found.count + 1, 7, np.int32),
        np.full((filled + found.count) // 8 + 1, 255, np.uint8),
    )
    at, size = np.zeros((parts, elements), np.int64), np.zeros((parts, elements), np.int32)
    nulls = explode_collections(found.at, found.size, 0, found.count, parts, offsets, valid, filled, at, size)
    if nulls < 0:
        return int(nulls)
    validity = is_valid(valid, filled + found.count)[filled:]
    assert nulls == validity.count(False)
    return offsets[filled:].tolist(), validity, [at_places(*each) for each in zip(at, size, strict=True)]


@given(st.lists(st.none() | st.just([]) | ELEMENTS, max_size=5), st.integers(0, 9))
def test_lists_become_offsets_and_elements(lists: list[list[Element] | None], filled: int) -> None:
    stored = [None if each is None else struct.pack(">i", len(each)) + b"".join(map(sized, each)) for each in lists]
    ends = np.cumsum([7] + [len(each or []) for each in lists]).tolist()
    flat = [element for each in lists for element in each or []]
    assert collections(stored, 1, filled) == (ends, [each is not None for each in lists], [flat])


@given(st.lists(st.lists(st.tuples(st.binary(max_size=3), st.none() | st.binary(max_size=3)), max_size=3), max_size=4))
def test_maps_become_offsets_keys_and_values(maps: list[list[tuple[bytes, Element]]]) -> None:
    stored = [struct.pack(">i", len(each)) + b"".join(sized(part) for pair in each for part in pair) for each in maps]
    ends = np.cumsum([7] + [len(each) for each in maps]).tolist()
    pairs = [pair for each in maps for pair in each]
    wanted = [[key for key, _ in pairs], [value for _, value in pairs]]
    assert collections(stored, 2) == (ends, [True] * len(maps), wanted)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize(
    "value",
    [
        "00",
        "000000",
        "ffffffff",
        "00000001",
        "00000002 00000000",
        "7fffffff" + "00000000" * 4,
        "00000001 00000002 61",
        "00000001 00000001 61 62",
        "00000000 00000000",
        "00000001 7fffffff 61 00000000",
        "00000002 00000000 00000001 61 00000001 62",
    ],
)
def test_a_collection_that_does_not_end_with_its_value_is_malformed(value: str, parts: int) -> None:
    assert collections([bytes.fromhex(value)], parts) == MALFORMED


def fields(values: list[bytes | None], count: int) -> int | list[list[Element]]:
    found = places_of(values)
    at, size = np.zeros((count, found.count), np.int64), np.zeros((count, found.count), np.int32)
    valid = np.full(found.count // 8 + 1, 255, np.uint8)
    nulls = explode_fields(found.at, found.size, 0, found.count, valid, 0, at, size)
    if nulls < 0:
        return int(nulls)
    assert is_valid(valid, found.count) == [bool(value) for value in values]
    return [at_places(*each) for each in zip(at, size, strict=True)]


@given(st.lists(st.lists(st.none() | st.binary(max_size=4), max_size=3), min_size=1, max_size=4))
def test_tuples_become_fields_and_those_missing_are_null(tuples: list[list[Element]]) -> None:
    stored = [b"".join(map(sized, each)) or None for each in tuples]
    padded = [each + [None] * (3 - len(each)) for each in tuples]
    assert fields(stored, 3) == [list(column) for column in zip(*padded, strict=True)]


@pytest.mark.parametrize("value", ["00", "000000", "00000001", "00000002 61", "ffffffff ffffffff 00", "ffffffff" * 3])
def test_a_tuple_that_does_not_end_with_its_value_is_malformed(value: str) -> None:
    assert fields([bytes.fromhex(value)], 2) == MALFORMED


def vectors(values: list[bytes | None], dimension: int, width: int) -> int | tuple[list[int], list[Element]]:
    found = places_of(values)
    elements = int(np.count_nonzero(found.size > 0)) * dimension
    at, size = np.zeros(elements, np.int64), np.zeros(elements, np.int32)
    offsets, valid = np.zeros(found.count + 1, np.int32), np.full(found.count // 8 + 1, 255, np.uint8)
    nulls = explode_vectors(found.at, found.size, 0, found.count, dimension, width, offsets, valid, 0, at, size)
    if nulls < 0:
        return int(nulls)
    assert is_valid(valid, found.count) == [bool(value) for value in values]
    return offsets.tolist(), at_places(at, size)


@given(st.lists(st.none() | st.lists(st.binary(min_size=4, max_size=4), min_size=3, max_size=3), max_size=4))
def test_vectors_of_a_fixed_width_lie_back_to_back(values: list[list[bytes] | None]) -> None:
    ends = np.cumsum([0] + [len(each or []) for each in values]).tolist()
    flat = [element for each in values for element in each or []]
    assert vectors([each and b"".join(each) for each in values], 3, 4) == (ends, flat)


@given(st.lists(st.lists(st.binary(max_size=200), min_size=2, max_size=2), max_size=3))
def test_vectors_of_other_types_say_each_size(values: list[list[bytes]]) -> None:
    stored = [b"".join(write_unsigned_vint(len(element)) + element for element in each) for each in values]
    flat = [element for each in values for element in each]
    assert vectors(stored, 2, -1) == ([2 * i for i in range(len(values) + 1)], flat)


@pytest.mark.parametrize(
    ("value", "width"),
    [
        ("00", 4),
        ("00000000 000000", 4),
        ("00000000 00000000 00", 4),
        ("01 61", -1),
        ("01 61 02 62", -1),
        ("01 61 01 62 00", -1),
        ("01 61 ffffffffffffffffff", -1),
        ("01 61 f8 0000000001 62", -1),
        ("80", -1),
    ],
)
def test_a_vector_that_does_not_end_with_its_value_is_malformed(value: str, width: int) -> None:
    assert vectors([bytes.fromhex(value)], 2, width) == MALFORMED


def arrays(values: list[bytes | None], dimension: int, width: int) -> int | list[Element]:
    found = places_of(values)
    at, size = np.zeros(found.count * dimension, np.int64), np.zeros(found.count * dimension, np.int32)
    valid = np.full(found.count // 8 + 1, 255, np.uint8)
    nulls = explode_arrays(found.at, found.size, 0, found.count, dimension, width, valid, 0, at, size)
    if nulls < 0:
        return int(nulls)
    assert is_valid(valid, found.count) == [bool(value) for value in values]
    assert nulls == sum(not value for value in values)
    return at_places(at, size)


@given(st.lists(st.none() | st.lists(st.binary(min_size=2, max_size=2), min_size=3, max_size=3), max_size=4))
def test_arrays_are_vectors_and_a_null_one_has_nulls_for_elements(values: list[list[bytes] | None]) -> None:
    flat = [element for each in values for element in each or [None] * 3]
    assert arrays([each and b"".join(each) for each in values], 3, 2) == flat
    sized_values = [each and b"".join(b"\2" + element for element in each) for each in values]
    assert arrays(sized_values, 3, -1) == flat


@pytest.mark.parametrize(("value", "width"), [("00", 4), ("00000000 00000000 00", 4), ("01 61", -1), ("80", -1)])
def test_an_array_that_does_not_end_with_its_value_is_malformed(value: str, width: int) -> None:
    assert arrays([None, bytes.fromhex(value)], 2, width) == MALFORMED


def components(values: list[bytes], count: int) -> int | list[list[Element]]:
    found = places_of(values)
    at, size = np.zeros((count, found.count), np.int64), np.zeros((count, found.count), np.int32)
    if split_composite(found.at, found.size, 0, found.count, at, size) == MALFORMED:
        return MALFORMED
    return [at_places(*each) for each in zip(at, size, strict=True)]


@given(st.lists(st.lists(st.binary(max_size=4), min_size=2, max_size=2), min_size=1, max_size=4))
def test_composite_keys_become_components(keys: list[list[bytes]]) -> None:
    stored = [b"".join(struct.pack(">H", len(part)) + part + b"\0" for part in key) for key in keys]
    assert components(stored, 2) == [list(column) for column in zip(*keys, strict=True)]


@pytest.mark.parametrize("value", ["", "00", "0000", "000000", "0001 61 00", "0000 00 0001 61", "000000 000000 00"])
def test_a_composite_key_that_does_not_end_with_its_value_is_malformed(value: str) -> None:
    assert components([bytes.fromhex(value)], 2) == MALFORMED


EXPLODED: dict[str, Callable[[bytes], Any]] = {
    "list": lambda data: collections([data], 1),
    "map": lambda data: collections([data], 2),
    "fields": lambda data: fields([data], 3),
    "vector": lambda data: vectors([data], 3, -1),
    "array": lambda data: arrays([data], 3, -1),
    "composite": lambda data: components([data], 2),
}


@pytest.mark.parametrize("form", EXPLODED)
@given(data=st.binary(max_size=40))
def test_what_any_bytes_are_exploded_to_lies_within_them(form: str, data: bytes) -> None:
    made = EXPLODED[form](data)
    if made != MALFORMED:
        assert all(element in data for element in _elements(made))


def _elements(made: Any) -> list[bytes]:
    if isinstance(made, bytes):
        return [made]
    return [element for part in made for element in _elements(part)] if isinstance(made, list | tuple) else []
