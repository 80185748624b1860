"""Entries of an index and partitions are matched by position, and compared by all that the index says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.decorated_key import decorated_form, filter_hash
from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, partitioner_of
from flightsrv.cql.types import CqlType
from flightsrv.kernels.entries import (
    ALL_MATCHED,
    EXTRA_ENTRY,
    MISSING_ENTRY,
    NOT_SAID,
    OTHER_DELETION,
    OTHER_HASH,
    OTHER_HEADER_LENGTH,
    OTHER_KEY,
    OTHER_PATH,
    Entries,
    match,
)
from flightsrv.kernels.key_forms import HASHED, KEY_BYTES, UNKNOWN, leads_to
from flightsrv.kernels.murmur3 import token_of
from flightsrv.kernels.partitions import Partitions

pytestmark = pytest.mark.kernel

PARTITIONERS = {
    HASHED: MURMUR3_PARTITIONER,
    KEY_BYTES: partitioner_of("org.apache.cassandra.dht.ByteOrderedPartitioner"),
}


def matched(entries: list[tuple[int, bytes]], partitions: list[tuple[int, bytes]]) -> list[tuple[int, int, int]]:
    """All that match says, going on behind each mismatch."""
    data = np.frombuffer(b"".join(key for _, key in entries + partitions) + b"\0", np.uint8)
    sizes = np.array([len(key) for _, key in entries + partitions], np.int64)
    places = data.ctypes.data + np.cumsum(sizes) - sizes
    count = len(entries)
    left = Entries(*np.full((len(Entries._fields), count), -1, np.int64))._replace(
        position=np.array([at for at, _ in entries], np.int64), key_at=places[:count], key_size=sizes[:count]
    )
    right = Partitions(*np.zeros((len(Partitions._fields), len(partitions)), np.int64))._replace(
        position=np.array([at for at, _ in partitions], np.int64), key_at=places[count:], key_size=sizes[count:]
    )
    said = []
    event, entry, partition = match(left, 0, count, right, 0, len(partitions), np.int64(UNKNOWN))
    while event != ALL_MATCHED:
        said.append((event, entry, partition))
        entry += event != MISSING_ENTRY
        partition += event != EXTRA_ENTRY
        event, entry, partition = match(left, entry, count, right, partition, len(partitions), np.int64(UNKNOWN))
    assert (entry, partition) == (count, len(partitions))
    return said


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([(0, b"a"), (9, b"b"), (20, b"c")], []),
        ([(0, b"a"), (20, b"c")], [(MISSING_ENTRY, 1, 1)]),
        ([(9, b"b"), (20, b"c")], [(MISSING_ENTRY, 0, 0)]),
        ([(0, b"a"), (9, b"b")], [(MISSING_ENTRY, 2, 2)]),
        ([(0, b"a"), (8, b"x"), (9, b"b"), (20, b"c")], [(EXTRA_ENTRY, 1, 1)]),
        ([(0, b"a"), (9, b"b"), (20, b"c"), (30, b"x")], [(EXTRA_ENTRY, 3, 3)]),
        ([(0, b"a"), (9, b"x"), (20, b"cc")], [(OTHER_KEY, 1, 1), (OTHER_KEY, 2, 2)]),
        ([(0, b"a"), (10, b"b"), (20, b"c")], [(MISSING_ENTRY, 1, 1), (EXTRA_ENTRY, 1, 2)]),
        ([], [(MISSING_ENTRY, 0, 0), (MISSING_ENTRY, 0, 1), (MISSING_ENTRY, 0, 2)]),
    ],
    ids=str,
)
def test_entries_and_partitions_are_matched_by_position(
    entries: list[tuple[int, bytes]], said: list[tuple[int, int, int]]
) -> None:
    assert matched(entries, [(0, b"a"), (9, b"b"), (20, b"c")]) == said


def difference(**said: int | bytes) -> int:
    """What match says of one entry, which says so much, and the partition "key" at 7."""
    data = np.frombuffer(b"key" + b"".join(each for each in said.values() if isinstance(each, bytes)) + b"\0", np.uint8)
    address = data.ctypes.data
    entry: dict[str, Any] = dict.fromkeys(Entries._fields, NOT_SAID) | {"position": 7}
    partition = {"position": 7, "key_at": address, "key_size": 3, "header_length": 9, "deletion_us": 5, "deletion_s": 6}
    for field, value in said.items():
        if isinstance(value, bytes):
            entry |= {f"{field}_at": address + 3, f"{field}_size": len(value)}
        else:
            entry[field] = value
    left = Entries(*(np.array([entry[field]], np.int64) for field in Entries._fields))
    right = Partitions(*(np.array([partition[field]], np.int64) for field in Partitions._fields))
    return int(match(left, 0, 1, right, 0, 1, np.int64(HASHED))[0])


FORM = decorated_form(PARTITIONERS[HASHED], CqlType("blob"), b"key")


@pytest.mark.parametrize(
    ("said", "event"),
    [
        ({}, ALL_MATCHED),
        ({"key": b"key"}, ALL_MATCHED),
        ({"key": b"kez"}, OTHER_KEY),
        ({"key": b"ke"}, OTHER_KEY),
        ({"path": FORM[:3]}, ALL_MATCHED),
        ({"path": b""}, ALL_MATCHED),
        ({"path": FORM[:2] + b"\0"}, OTHER_PATH),
        ({"path": FORM, "hash": filter_hash(b"key")}, ALL_MATCHED),
        ({"path": FORM, "hash": filter_hash(b"key") ^ 1}, OTHER_HASH),
        ({"header_length": 9, "deletion_us": 5, "deletion_s": 6}, ALL_MATCHED),
        ({"header_length": 8, "deletion_us": 5, "deletion_s": 6}, OTHER_HEADER_LENGTH),
        ({"header_length": 9, "deletion_us": 4, "deletion_s": 6}, OTHER_DELETION),
        ({"header_length": 9, "deletion_us": 5, "deletion_s": 7}, OTHER_DELETION),
    ],
    ids=str,
)
def test_what_an_entry_says_is_compared(said: dict[str, int | bytes], event: int) -> None:
    assert difference(**said) == event


@given(
    st.sampled_from([HASHED, KEY_BYTES]),
    st.lists(st.sampled_from([0, 0, 1, 0x38, 0x40, 0xFE, 0xFF]), min_size=1, max_size=6).map(bytes),
    st.data(),
)
def test_a_path_leads_to_a_key_if_its_form_begins_with_it(tokens: int, key: bytes, draw: st.DataObject) -> None:
    form = decorated_form(PARTITIONERS[tokens], CqlType("blob"), key)
    path = form[: draw.draw(st.integers(0, len(form)))] + draw.draw(st.sampled_from([b"", b"\0", b"\x38", b"\xfe"]))
    if path and draw.draw(st.booleans()):
        place = draw.draw(st.integers(0, len(path) - 1))
        path = path[:place] + bytes([draw.draw(st.sampled_from([0, 0x38, 0x40, 0xFE, 0xFF]))]) + path[place + 1 :]
    data = np.frombuffer(key + path + b"\0", np.uint8)
    address = data.ctypes.data
    token = token_of(address, len(key))
    assert leads_to(address + len(key), len(path), address, len(key), token, tokens) == form.startswith(path)
