"""Tries of all forms of nodes: the kernel walks them as they were written, and lookups find what a sorted list has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.status import OUTPUT_FULL
from flightsrv.kernels.tries import walk
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import trie_walk
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.trie import NodeType, Trie, node
from flightsrv.sstable.trie_walk import new_branch, new_nodes, walk_nodes
from tests.sstable.tries import Choose, Payload, smallest, write_trie

PATH = "/data/da-1-bti-Partitions.db"
Entries = dict[bytes, Payload]


def payload(number: int) -> Payload:
    return Payload(2, number.to_bytes(2))


def entries_of(strings: list[bytes]) -> Entries:
    return {string: payload(i) for i, string in enumerate(sorted(strings))}


def strings(alphabet: bytes = bytes(range(256)), **sizes: int) -> st.SearchStrategy[list[bytes]]:
    string = st.lists(st.sampled_from(alphabet), max_size=4).map(bytes)
    return st.lists(string, unique=True, **sizes)


def any_form(seed: int) -> Choose:
    return Random(seed).choice


def read(cursor: Cursor, flags: int) -> bytes:
    return cursor.raw("payload", flags)


def trie_of(data: bytes, root: int) -> Trie[bytes]:
    return Trie(lambda offset: Cursor(data, PATH, offset), root, read)


def walked(data: bytes, root: int, floor: int = 0) -> list[tuple[bytes, bytes]]:
    """Strings and payloads, by the kernel; none of the trie lies before `floor`."""
    padded = np.frombuffer(data + b"\xff" * SLACK, np.uint8)
    found = []
    for nodes in walk_nodes(padded, PATH, root, floor, len(data)):
        paths = nodes.paths.tobytes()
        for i in range(nodes.node.size):
            start, at = nodes.path_start[i], nodes.payload[i]
            found.append(
                (paths[start : start + nodes.path_size[i]], read(Cursor(data, PATH, int(at)), int(nodes.flags[i])))
            )
    return found


@given(strings(min_size=1, max_size=60), st.integers(0, 99), st.sampled_from([b"", b"before" * 9]))
def test_a_walk_gives_all_strings_in_order(found: list[bytes], seed: int, before: bytes) -> None:
    entries = entries_of(found)
    data, root = write_trie(entries, any_form(seed), before)
    assert walked(data, root, len(before)) == [(string, entries[string].data) for string in sorted(entries)]


@given(strings(b"ab", min_size=1), strings(b"abc"), st.integers(0, 99))
def test_lookups_from_above_give_what_a_sorted_list_does(stored: list[bytes], asked: list[bytes], seed: int) -> None:
    entries = entries_of(stored)
    trie = trie_of(*write_trie(entries, any_form(seed)))
    ordered = sorted(entries)
    for form in asked:
        below = ordered[: bisect_right(ordered, form)]
        assert list(trie.descending(form)) == [(string, entries[string].data) for string in reversed(below)]
    assert trie.last() == entries[ordered[-1]].data


@given(strings(b"abc", min_size=1), strings(b"abc"), st.integers(0, 99))
def test_strings_stored_up_to_what_tells_them_apart_are_found(
    stored: list[bytes], asked: list[bytes], seed: int
) -> None:
    whole = sorted(string + b"\0" for string in stored)
    entries = {shortest(string, whole): payload(i) for i, string in enumerate(whole)}
    trie = trie_of(*write_trie(entries, any_form(seed)))
    for i, string in enumerate(whole):
        assert trie.find(string) == payload(i).data
    for string in asked:
        found = trie.find(string + b"\0")
        assert found is None or string not in stored or found == payload(whole.index(string + b"\0")).data


def shortest(string: bytes, others: list[bytes]) -> bytes:
    """The beginning that none of the others has."""
    sizes = range(len(string) + 1)
    return next(string[:n] for n in sizes if sum(each.startswith(string[:n]) for each in others) == 1)


@pytest.mark.parametrize("form", list(NodeType)[1:], ids=lambda form: form.name)
def test_every_form_of_node_is_read(form: NodeType) -> None:
    """By the parser and by the kernel, with as many children as it may have and with few."""
    most = 1 if form < NodeType.SPARSE_8 else 255 if form < NodeType.DENSE_12 else 256
    for count in {1, min(most, 2), min(most, 3), most}:
        entries = {bytes([byte]): payload(byte) for byte in range(255 - count + 1, 256)}
        data, root = write_trie(entries, lambda forms: form if form in forms else forms[0])
        if data[root] >> 4 != form:
            assert form in (NodeType.SINGLE_NOPAYLOAD_4, NodeType.SPARSE_8)  # the children are too far away
            continue
        found = node(Cursor(data, PATH, root))
        assert found.transitions == b"".join(entries)
        children = [found.child(i) for i in range(len(entries))]
        assert [data[child : child + 3][1:] for child in children] == [held.data for held in entries.values()]
        assert walked(data, root) == [(string, held.data) for string, held in entries.items()]


@pytest.mark.parametrize(("nodes", "path_bytes"), [(1, 100), (3, 5), (1000, 4)])
def test_a_walk_goes_on_where_its_output_was_full(monkeypatch: pytest.MonkeyPatch, nodes: int, path_bytes: int) -> None:
    monkeypatch.setattr(trie_walk, "NODES_A_CALL", nodes)
    monkeypatch.setattr(trie_walk, "PATH_BYTES_A_CALL", path_bytes)
    entries = entries_of([bytes([a, b, 7, c]) for a in range(5) for b in range(3) for c in (0, 255)])
    assert walked(*write_trie(entries)) == [(string, held.data) for string, held in sorted(entries.items())]


def test_every_node_can_be_had_with_the_end_of_its_path() -> None:
    data, root = write_trie(entries_of([b"abcd", b"abce"]))
    padded = np.frombuffer(data + bytes(SLACK), np.uint8)
    (nodes,) = walk_nodes(padded, PATH, root, 0, len(data), every_node=True, path_limit=2)
    paths = [
        nodes.paths[start : start + size].tobytes()
        for start, size in zip(nodes.path_start, nodes.path_size, strict=True)
    ]
    assert paths == [b"", b"a", b"ab", b"bc", b"cd", b"ce"]


# --- damage -----------------------------------------------------------------------------------------------------------


def outcome(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except CorruptSSTableError as error:
        return CorruptSSTableError if error.where.field and error.where.offset is not None else error


@given(strings(b"abc", min_size=1, max_size=20), st.integers(0, 99), st.data())
def test_damaged_tries_are_errors_or_others(stored: list[bytes], seed: int, draw: st.DataObject) -> None:
    """Whatever the bytes are, the kernel and the parser say the same of them, and end."""
    data, root = write_trie(entries_of(stored), any_form(seed))
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        damaged[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    by_kernel = outcome(lambda: [held for _, held in walked(bytes(damaged), root)])
    trie = trie_of(bytes(damaged), root)
    by_parser = outcome(lambda: [held for _, held in trie.descending(b"\xff" * 99)][::-1])
    if by_kernel is not CorruptSSTableError:
        assert by_kernel == by_parser
    for string in stored:
        outcome(lambda form=string: trie.find(form))  # type: ignore[misc]


def chain(length: int) -> tuple[bytes, int]:
    """A trie of one long string, and its root."""
    data = bytearray(b"\x02\0\0")  # a payload
    for _ in range(length):
        data += b"\x13\x61" if len(data) == 3 else b"\x12\x61"  # SINGLE_NOPAYLOAD_4, 3 or 2 bytes back
    return bytes(data), len(data) - 2


def test_a_path_may_be_as_long_as_the_form_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    ((path, held),) = walked(*chain(100_000))
    assert (path, held) == (b"a" * 100_000, b"\0\0")
    monkeypatch.setattr(trie_walk, "MAX_PATH_BYTES", 1000)
    assert walked(*chain(1000))
    with pytest.raises(CorruptSSTableError, match=r"Partitions\.db: offset 3, node: .* below too many of them"):
        walked(*chain(1001))


def test_nodes_that_share_children_without_end_are_soon_an_error() -> None:
    """Each node has the one before it twice: in all 2^60 strings."""
    data = bytearray(b"\x02\0\0")
    for i in range(60):
        back = 3 if i == 0 else 6
        data += bytes([0x50, 2, 0x61, 0x62, back, back])
    with pytest.raises(CorruptSSTableError, match="shares bytes with others"):
        walked(bytes(data), len(data) - 6)
    assert trie_of(bytes(data), len(data) - 6).find(b"a" * 60) == b"\0\0"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (b"\x00", "offset 0, type, flags: the node has neither children nor a payload"),
        (b"\x10\x61", "offset 1, distances: 0 or 0 bytes before offset 0 there is no child"),
        (b"\x02\0\0\x15\x61", "offset 4, distances: 5 or 5 bytes before offset 3 there is no child"),
        (b"\x02\0\0\x50\x00", "offset 4, count: the node has no children"),
        (b"\x02\0\0\x50\x02\x62\x61\x03\x03", "offset 5, transitions: 0x6261 do not ascend"),
        (b"\x02\0\0\x50\x02\x61\x61\x03\x03", "offset 5, transitions: 0x6161 do not ascend"),
        (b"\x02\0\0\xa0\xff\x01\0\x30\x03", "offset 5, count - 1: 2 transitions from 255 on go beyond 255"),
        (b"\x02\0\0\xb0\x61\x01\0\x03\0\0", "offset 6, distances: the first or the last leads nowhere"),
        (b"\x02\0\0\x50\x05\x61", "offset 5, transitions: its length is 5, 1 bytes are left"),
        (b"\x02\0\0\xf0\x61\x00\xff\xff\xff\xff\xff\xff\xff\xff", "bytes before offset 3 there is no child"),
        (b"\x02\0\0\xd0", "offset 4, first transition: it needs 1 bytes, 0 are left"),
    ],
    ids=repr,
)
def test_a_node_that_cannot_be_is_named(written: bytes, message: str) -> None:
    root = 0 if written[0] != 2 else 3
    with pytest.raises(CorruptSSTableError, match=message):
        node(Cursor(written, PATH, root))
    with pytest.raises(CorruptSSTableError, match=message):
        walked(written, root)


def test_a_child_before_the_trie_is_an_error() -> None:
    data, root = write_trie(entries_of([b"a"]), before=b"\x02\0\0")
    assert walked(data, root, 3)
    with pytest.raises(CorruptSSTableError, match="it lies outside of its trie"):
        walked(data, root, 4)


def test_the_kernel_stops_without_a_place_for_its_output() -> None:
    data, root = write_trie(entries_of([b"a"]))
    padded = np.frombuffer(data + bytes(SLACK), np.uint8)
    numbers = [np.int64(number) for number in (root, 0, len(data), 0, 9)]
    status, _, made, used = walk(padded, *numbers, new_branch(), new_nodes(0, 10), np.int64(0), np.int64(0))
    assert (status, made, used) == (OUTPUT_FULL, 0, 0)


def test_smallest_is_what_cassandra_chooses() -> None:
    """The first bytes of its forms, in a trie that it wrote: see sstable-format's worked example."""
    entries = {
        bytes([0x40, 0x30 + i]): Payload(8, held)
        for i, held in enumerate((b"\x09\xff", b"\x37\xe9", b"\xdd\xd1", b"\x02\xb9", b"\x2f\xa1"))
    }
    data, root = write_trie(entries, smallest)
    assert data.hex() == "0809ff0837e908ddd10802b9082fa1a0300400f00c00900600301b40"
    assert root == 26
