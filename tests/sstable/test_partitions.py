"""Partitions.db of real nodes tells where every partition is; a footer that cannot be is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from flightsrv.cql.decorated_key import decorated_form, filter_hash
from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.partitioners import partitioner_of
from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import partitions, rows, statistics
from flightsrv.sstable.cursor import Cursor
from tests.sstable.components import SSTable, copied, every_sstable
from tests.sstable.placed import placed

PATH = "/data/da-1-bti-Partitions.db"
WORKED = bytes.fromhex(
    "0809ff 0837e9 08ddd1 0802b9 082fa1 a0300400f00c0090060030 1b40 000130 000134"
    "000000000000001c 0000000000000005 000000000000001a"
)
"""Of a table with keys "0" to "4" and ByteOrderedPartitioner, which Cassandra wrote."""

Found = list[tuple[bytes, int, int]]
"""Path, hash and target of each partition."""


def walked(data: bytes, path: str = PATH) -> Found:
    padded = np.frombuffer(data + bytes(SLACK), np.uint8)
    found: Found = []
    for targets in partitions.walk(padded, partitions.footer(Cursor(data, path), len(data)), path):
        paths = targets.nodes.paths.tobytes()
        places = zip(targets.nodes.path_start.tolist(), targets.nodes.path_size.tolist(), strict=True)
        strings = [paths[start : start + size] for start, size in places]
        found += zip(strings, targets.hash.tolist(), targets.target.tolist(), strict=True)
    return found


def test_a_whole_file_is_read() -> None:
    footer = partitions.footer(Cursor(WORKED, PATH), len(WORKED))
    assert footer == partitions.Footer(keys_offset=28, key_count=5, root=26)
    assert partitions.keys(Cursor(WORKED, PATH), footer, len(WORKED)) == (b"0", b"4")
    hashes, positions = (0x09, 0x37, 0xDD, 0x02, 0x2F), (0, 22, 46, 70, 94)
    paths = [bytes([0x40, 0x30 + i]) for i in range(5)]
    assert walked(WORKED) == list(zip(paths, hashes, [~position for position in positions], strict=True))


def test_the_last_bytes_are_enough_for_the_footer() -> None:
    tail = Cursor(WORKED[-24:], PATH, origin=len(WORKED) - 24)
    assert partitions.footer(tail, len(WORKED)).root == 26


@pytest.mark.parametrize(
    ("at", "new", "message"),
    [
        (-24, 2**63 - 1, "offset 34, keys_offset: there are no keys at 9223372036854775807 of a file of 58 bytes"),
        (-24, 0, "offset 34, keys_offset: there are no keys at 0"),
        (-24, 35, "offset 34, keys_offset: there are no keys at 35"),
        (-16, 0, "offset 42, key_count: 0 is not above 0"),
        (-8, 28, "offset 50, root: 28 is not before the first key, which is at 28"),
        (-8, 2**64 - 1, "offset 50, root: -1 is not before"),
    ],
)
def test_a_footer_that_cannot_be_is_named(at: int, new: int, message: str) -> None:
    damaged = bytearray(WORKED)
    damaged[at : at + 8 or None] = new.to_bytes(8)
    with pytest.raises(CorruptSSTableError, match=message):
        partitions.footer(Cursor(bytes(damaged), PATH), len(damaged))


def test_a_count_that_is_not_the_tries_is_an_error_behind_all_partitions() -> None:
    damaged = WORKED[:-9] + b"\x06" + WORKED[-8:]
    with pytest.raises(CorruptSSTableError, match="offset 28, key_count: 6 in the file, 5 in the trie"):
        walked(damaged)


def test_keys_must_end_where_the_footer_begins() -> None:
    footer = partitions.Footer(27, 5, 26)
    with pytest.raises(CorruptSSTableError, match=r"offset \d+, (end|last_key|first_key):"):
        partitions.keys(Cursor(WORKED, PATH), footer, len(WORKED))


def test_a_payload_must_end_before_the_keys() -> None:
    data = b"\x0b\x09\xff" + b"\0\0\0\0" + b"".join(number.to_bytes(8) for number in (3, 1, 0))
    with pytest.raises(CorruptSSTableError, match="offset 2, target: it is over 4 bytes, 1 are left"):
        walked(data)


@pytest.mark.parametrize(("flags", "size"), [(1, 1), (7, 7), (8, 1), (15, 8)])
def test_targets_are_of_any_size_with_and_without_a_hash(flags: int, size: int) -> None:
    for value in (-(2 ** (8 * size - 1)), -1, 0, 2 ** (8 * size - 1) - 1):
        stored = (b"\xab" if flags >= 8 else b"") + value.to_bytes(size, signed=True)
        assert partitions.target(Cursor(stored, PATH), flags) == (0xAB if flags >= 8 else partitions.NO_HASH, value)
        keys = b"\0\x01a\0\x01a" + b"".join(number.to_bytes(8) for number in (1 + len(stored), 1, 0))
        assert walked(bytes([flags]) + stored + keys) == [(b"", 0xAB if flags >= 8 else -1, value)]


@pytest.mark.parametrize("sstables", every_sstable())
def test_every_partition_of_real_files_is_where_it_says(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        file = sstable.file("Partitions.db")
        if not file.exists() or file.stat().st_size > 100_000:
            continue
        partitioner = statistics.parse(sstable.cursor("Statistics.db"), sstable.version).partitioner
        key_type = parse_marshal(sstable.header.key_type).type
        found, there = walked(file.read_bytes(), str(file)), placed(sstable)
        assert [position_of(sstable, target) for *_, target in found] == [each.position for each in there]
        assert [key_hash for _, key_hash, _ in found] == [filter_hash(each.key) for each in there]
        forms = [decorated_form(partitioner_of(partitioner), key_type, each.key) for each in there]
        assert all(form.startswith(path) for form, (path, *_) in zip(forms, found, strict=True))
        assert all(not b.startswith(a) and a < b for (a, *_), (b, *_) in pairwise(found))
        footer = partitions.footer(sstable.cursor("Partitions.db"), file.stat().st_size)
        keys = partitions.keys(sstable.cursor("Partitions.db"), footer, file.stat().st_size)
        assert keys == (there[0].key, there[-1].key)


def position_of(sstable: SSTable, target: int) -> int:
    """Where in Data.db a target is."""
    if target < 0:
        return ~target
    cursor = sstable.cursor("Rows.db")
    cursor.seek(target, "target")
    return rows.entry(cursor, sstable.version).position


def test_what_is_copied_has_wide_and_narrow_partitions() -> None:
    data_file = "cassandra-5.0/da/wide/da-3h5y_1e8r_290oa2vpc6ab5h8h1s-bti-Data.db"
    found = walked(copied(data_file).file("Partitions.db").read_bytes())
    assert {target < 0 for *_, target in found} == {True, False}
