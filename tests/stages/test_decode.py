"""Stage 3: how windows and slabs are cut makes no difference, and nothing in the file is trusted."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.partitioners import partitioner_of
from flightsrv.errors import CorruptSSTableError, LimitError
from flightsrv.scan.runs import run_header
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.slab import (
    CLUSTERING,
    DELETION_S,
    DELETION_US,
    EXCL_END_INCL_START_BOUNDARY,
    FIRST_ROW,
    INCL_END_EXCL_START_BOUNDARY,
    KEY_AT,
    KEY_SIZE,
    KIND,
    LIVENESS_EXPIRES_S,
    LIVENESS_US,
    STATIC_CLUSTERING,
    TOKEN,
    TOKEN_LOW,
    SlabPart,
    Slabs,
    Window,
    allocate_slabs,
)
from flightsrv.stages import decode as stage
from flightsrv.stages.decode import FILE_START, Run, Start
from flightsrv.stages.read import HEAD_ROOM
from flightsrv.telemetry.clocks import Clock
from tests.reference.decoder import decode
from tests.reference.encoder import encode
from tests.reference.schema import Schema
from tests.reference.streams import CLUSTERED, COLLECTIONS, NO_CLUSTERING
from tests.stages.merging import (
    LARGE,
    Sizes,
    encoded,
    rows_of,
    scanned,
    selections,
    window_of,
    windows_cut_at,
    windows_of,
)
from tests.stages.tables import DHT, an_sstable, engine_table, prepared

pytestmark = pytest.mark.kernel

TEXT_KEYED, INT_KEYED = Schema({"a": "text"}), Schema({"a": "text"}, key="int")
WIDE = Schema({f"c{i:02}": "int" for i in range(66)}, ("int",))
MOST = " ".join(f"c{i:02}=''@1" for i in range(65))
SMALL_PARTITION = "k1/1,x: @1 a=1@1 ; k1/[2..3] del@2"
EVERYTHING = """
k1 del@1!40
k1/static: s=x@9 t=5@8!101
k1/1,x: @3!101 a=abc@3!101 b=1@4
k1/1,y: del@2 a=del@5 b=''@6
k1/[2..3,x) del@7
k1/[3,x..4] del@8
k1/3,y: shadow@2 @3 a=z@1!1
k2/static: s=del@2
k2/5,x: a=y@2
k3/(..2] del@4
k3/7,x: @5
"""
SHAPES = {
    "plain": (NO_CLUSTERING, "k1: @1 a=x@1 b=1@2 ; k2: @1!101 a=yy@2!101 ; k3: b=del@2"),
    "everything": (CLUSTERED, EVERYTHING),
    "64 columns or more": (WIDE, f"k1/1: @1 c03=1@1 c65=2@1 ; k1/2: @1 {MOST} ; k1/3: @1 {MOST} c65=1@2"),
    "collections": (COLLECTIONS, "k1/1: @1 a=1@1 m[]=del@1 m[x]=1@2!101 st[1]=''@2 ; k1/static: sm[1]=x@1"),
}
TABLES = {"collections": Schema({"a": "int"}, ("int",))}
"""The table's schema where it is not the file's: the engine steps over columns that it does not have."""

each_shape = pytest.mark.parametrize("shape", SHAPES)


def decoded(
    windows: Iterable[Window],
    schema: Schema,
    version: str = "nb",
    slab_rows: int = 64,
    start: Start = FILE_START,
    partitioner: str = "Murmur3",
) -> list[tuple[object, ...]]:
    """All that slabs say, a tuple for each partition, row and marker."""
    stored = replace(schema.header(version), partitioner=f"{partitioner}Partitioner")
    _, header = prepared(schema, stored, None, {})
    slab = allocate_slabs(1, header.clustering_size.size, header.column_size.size, slab_rows).of(0)
    found: list[tuple[object, ...]] = []
    is_open = False
    for part in Run("nb-1-big-Data.db", header, slab, Clock("decode")).decode(iter(windows), start):
        found += _said(slab, part, is_open, len(schema.static))
        is_open = part.continues
    return found


def _said(slab: Slabs, part: SlabPart, is_open: bool, statics: int) -> Iterator[tuple[object, ...]]:
    """What one slab says; a partition that is open already is not said again."""
    firsts = slab.partitions[: part.partition_count, FIRST_ROW].tolist()
    partition = 0
    for row in range(part.row_count + 1):
        while partition < part.partition_count and firsts[partition] == row:
            at, size, *times = slab.partitions[partition, :FIRST_ROW].tolist()
            if partition > 0 or not is_open:
                yield ("partition", ctypes.string_at(at, size), *times)
            partition += 1
        if row < part.row_count:
            yield ("row", *_times(slab, row), *_values(slab, row, statics))
    assert partition == part.partition_count


def _times(slab: Slabs, row: int) -> list[int]:
    """What stands in a row beside its values; in a marker not all fields mean something."""
    kind = int(slab.rows[row, KIND])
    if kind in (STATIC_CLUSTERING, CLUSTERING):
        return slab.rows[row].tolist()
    is_boundary = kind in (EXCL_END_INCL_START_BOUNDARY, INCL_END_EXCL_START_BOUNDARY)
    fields = (KIND, DELETION_US, DELETION_S) + ((LIVENESS_US, LIVENESS_EXPIRES_S) if is_boundary else ())
    return [int(slab.rows[row, field]) for field in fields]


def _values(slab: Slabs, row: int, statics: int) -> Iterator[object]:
    """The values that a row has of its kind, cells with their times."""
    kind = int(slab.rows[row, KIND])
    cells = range(slab.cell_us.shape[0])
    first_cell = slab.size.shape[0] - len(cells)
    if kind != STATIC_CLUSTERING:
        for value in range(first_cell):
            yield _value(slab, value, row)
    if kind in (STATIC_CLUSTERING, CLUSTERING):
        for cell in cells[:statics] if kind == STATIC_CLUSTERING else cells[statics:]:
            yield _value(slab, first_cell + cell, row)
            if slab.size[first_cell + cell, row] >= 0:
                yield [int(each[cell, row]) for each in (slab.cell_us, slab.cell_expires_s, slab.cell_ttl_s)]


def _value(slab: Slabs, value: int, row: int) -> bytes | int:
    """Its bytes, or which kind of none it is."""
    size = int(slab.size[value, row])
    return ctypes.string_at(int(slab.at[value, row]), size) if size >= 0 else size


@each_shape
@pytest.mark.parametrize("version", ["nb", "oa"])
def test_a_window_may_end_anywhere(shape: str, version: str) -> None:
    schema, run = SHAPES[shape]
    data = encoded(run, schema, version)
    whole = decoded(windows_of(data, LARGE), schema, version)
    assert len(whole) > 2
    for cut in range(1, len(data)):
        for head_room in (0, 5, 400):
            assert decoded(windows_cut_at(data, [cut], head_room), schema, version) == whole


def test_two_windows_may_end_anywhere() -> None:
    data = encoded(SMALL_PARTITION, CLUSTERED)
    whole = decoded(windows_of(data, LARGE), CLUSTERED)
    for cuts in combinations(range(1, len(data)), 2):
        assert decoded(windows_cut_at(data, cuts), CLUSTERED) == whole


@each_shape
@pytest.mark.parametrize("slab_rows", [2, 3, 4, 5, 7])
def test_the_smallest_slab_gives_the_same_as_a_large_one(shape: str, slab_rows: int) -> None:
    schema, run = SHAPES[shape]
    data = encoded(run, schema)
    whole = decoded(windows_of(data, LARGE), schema)
    for window_bytes in (1, 10, 1000):
        windows = windows_of(data, Sizes(window_bytes=window_bytes))
        assert decoded(windows, schema, slab_rows=slab_rows) == whole


@pytest.mark.parametrize("window_bytes", [5_000, HEAD_ROOM, 3 * HEAD_ROOM + 1])
@pytest.mark.parametrize("head_room", [0, HEAD_ROOM])
def test_a_row_may_be_larger_than_windows_and_their_head_room(window_bytes: int, head_room: int) -> None:
    large = "x" * (3 * HEAD_ROOM + 77)
    run = f"k1: a={large}@1 b=1@1 ; k2: a=y@1 ; k3: a={large}@1"
    rows = [f"k1: a={large} b=1", f"k3: a={large}", "k2: a=y"]
    sizes = Sizes(window_bytes=window_bytes, head_room=head_room)
    assert scanned([encoded(run, NO_CLUSTERING)], NO_CLUSTERING, sizes=sizes) == rows


def test_a_row_of_too_many_windows_is_a_limit_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MAX_UNFILTERED_BYTES", 100)
    data = encoded(f"k1: a={'x' * 200}@1", NO_CLUSTERING)
    with pytest.raises(LimitError, match="a row at position 16 is larger than 100 bytes"):
        scanned([data], NO_CLUSTERING, sizes=Sizes(window_bytes=60))


def outcome(shape: str, *runs: bytes, version: str = "nb", sizes: Sizes = LARGE) -> list[list[bytes | None]] | None:
    """Rows, or None for an error that says a file is damaged. Anything else goes up."""
    schema, _ = SHAPES[shape]
    table = TABLES.get(shape)
    try:
        found = selections(runs, schema, sizes=sizes, version=version, table=table)
        return [row for selection in found for row in rows_of(selection)]
    except (CorruptSSTableError, LimitError):
        return None


@each_shape
def test_a_file_that_ends_early_is_an_error_unless_a_partition_ends_there(shape: str) -> None:
    schema, run = SHAPES[shape]
    data = encoded(run, schema)
    ends = partition_ends(data, schema)
    for size in range(len(data)):
        for sizes in (LARGE, Sizes(slab_rows=2, window_bytes=9)):
            assert (outcome(shape, data[:size], sizes=sizes) is not None) == (size in ends)


def partition_ends(data: bytes, schema: Schema) -> set[int]:
    """Positions behind a partition, and 0."""
    header = schema.header()
    partitions = decode(data, header)
    return {len(encode(partitions[:count], header)) for count in range(len(partitions) + 1)}


@each_shape
@pytest.mark.parametrize("version", ["nb", "oa"])
def test_a_flipped_bit_gives_rows_or_an_error(shape: str, version: str) -> None:
    data = encoded(SHAPES[shape][1], SHAPES[shape][0], version)
    refused = sum(outcome(shape, flipped, version=version) is None for flipped in each_bit_flipped(data))
    assert refused > len(data)  # of eight a byte


def each_bit_flipped(data: bytes) -> Iterator[bytes]:
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit >> 3] ^= 1 << (bit & 7)
        yield bytes(damaged)


@each_shape
@given(noise=st.binary(max_size=60), at=st.integers(0, 200))
def test_any_bytes_in_a_file_give_rows_or_an_error(shape: str, noise: bytes, at: int) -> None:
    data = encoded(SHAPES[shape][1], SHAPES[shape][0])
    outcome(shape, data[:at] + noise + data[at + len(noise) :], sizes=Sizes(slab_rows=3, window_bytes=40))


@given(noise=st.binary(max_size=60), at=st.integers(0, 400))
def test_any_bytes_in_one_of_several_runs_give_rows_or_an_error(noise: bytes, at: int) -> None:
    schema, run = SHAPES["everything"]
    good = encoded(run, schema)
    damaged = good[:at] + noise + good[at + len(noise) :]
    for runs in ([good, damaged, good], [damaged, good]):
        outcome("everything", *runs, sizes=Sizes(slab_rows=3, window_bytes=40))


BYTES = (0x00, 0x01, 0x02, 0x0A, 0x12, 0x1F, 0xFF)
"""Sizes, deltas, flags of cells, and a vint of nine bytes."""


@pytest.mark.parametrize("flags", range(0, 128, 4))
def test_vints_that_run_over_the_end_of_a_row_stay_within_its_window(flags: int) -> None:
    """Behind the window there are SLACK bytes of ones: the longest vints. Checked kernels see any load behind those."""
    head = b"\0\1k" + b"\x7f\xff\xff\xff\x80" + bytes(7)
    bodies = [bytes(body) for size in range(3) for body in product(BYTES, repeat=size)]
    for body in bodies + [b"\0" + body for body in bodies]:
        outcome("plain", head + bytes([flags, len(body)]) + body)


@pytest.mark.parametrize(
    ("damaged", "where"),
    [
        (b"\0\1k" + b"\x7f\xff\xff\xff\x80" + bytes(7) + b"\x03", "position 15, row flags"),
        (b"\0\1k" + b"\x7f\xff\xff\xff\x80" + bytes(7) + b"\x06", "position 15, row flags"),
        (b"\0\1k" + b"\x7f\xff\xff\xff\x80" + bytes(7) + b"\x80\x04", "position 15, extended flags"),
    ],
)
def test_an_error_says_where(damaged: bytes, where: str) -> None:
    with pytest.raises(CorruptSSTableError, match=f"^nb-1-big-Data.db: {where}: is damaged$"):
        decoded(windows_of(damaged + bytes(20), LARGE), NO_CLUSTERING)


def test_partitions_out_of_order_are_an_error() -> None:
    runs = [encoded(f"k{i}: @1", NO_CLUSTERING) for i in (1, 3, 2)]  # by token
    assert len(decoded(windows_of(b"".join(runs), LARGE), NO_CLUSTERING)) == 6
    with pytest.raises(CorruptSSTableError, match="partition order"):
        decoded(windows_of(runs[1] + runs[0], LARGE), NO_CLUSTERING)


IN_ORDER = {
    "Murmur3": (TEXT_KEYED, ["k1", "k3", "k2"]),
    "Random": (TEXT_KEYED, ["k3", "k1", "k2"]),
    "ByteOrdered": (INT_KEYED, ["1", "-2", "-1"]),
    "OrderPreserving": (TEXT_KEYED, ["a", "\U00010000", "\uffff"]),
    "Local": (INT_KEYED, ["-2", "-1", "1"]),
}
"""Three keys in the order of each partitioner."""


@pytest.mark.parametrize("partitioner", IN_ORDER)
def test_partitions_are_in_the_order_of_their_partitioner_each_of_them_once(partitioner: str) -> None:
    schema, keys = IN_ORDER[partitioner]
    runs = [encoded(f"{key}: @1", schema) for key in keys]
    for order in product(range(3), repeat=3):
        data, ends = b"".join(runs[i] for i in order), accumulate(len(runs[i]) for i in order)
        wrong = next((at for at, (a, b) in zip(ends, pairwise(order), strict=False) if a >= b), None)
        for window_bytes in (1, 7, len(runs[0]), 1000):
            windows = windows_of(data, Sizes(window_bytes=window_bytes))
            if wrong is None:
                assert len(decoded(windows, schema, partitioner=partitioner)) == 6
                continue
            where = rf"^nb-1-big-Data\.db: position {wrong}, partition order: is damaged$"
            with pytest.raises(CorruptSSTableError, match=where):
                decoded(windows, schema, partitioner=partitioner)


@pytest.mark.parametrize("partitioner", ["Murmur3", "Random"])
@pytest.mark.parametrize("wanted", [range(first, last) for first in range(4) for last in range(first + 1, 4)])
def test_a_run_has_the_partitions_of_its_token_range(partitioner: str, wanted: range) -> None:
    schema, keys = IN_ORDER[partitioner]
    data = b"".join(encoded(f"{key}: @1", schema) for key in keys)
    known = partitioner_of(f"{DHT}{partitioner}Partitioner")
    tokens = [known.least_token, *(known.token(key.encode()) for key in keys)]
    sstable = an_sstable(schema, replace(schema.header(), partitioner=f"{partitioner}Partitioner"))
    token_range = TokenRange(tokens[wanted.start], tokens[wanted.stop], known)
    header = run_header(sstable, engine_table(schema), token_range)
    slab = allocate_slabs(1, 0, 1, 64).of(0)
    found = []
    for part in Run("nb-1-big-Data.db", header, slab, Clock("decode")).decode(windows_of(data, LARGE)):
        for at, size, *token in slab.partitions[: part.partition_count, [KEY_AT, KEY_SIZE, TOKEN, TOKEN_LOW]].tolist():
            found.append((ctypes.string_at(at, size), tuple(token)))
    assert found == [(keys[i].encode(), known.halves(tokens[1 + i])) for i in wanted]


@pytest.mark.parametrize("window_bytes", [1, 2, 3, 7, 100])
def test_a_run_starts_where_the_index_says(window_bytes: int) -> None:
    runs = [encoded(f"k{i}: @1 a={i}@1", NO_CLUSTERING) for i in (1, 3, 2)]
    data = b"".join(runs)
    start = Start(len(runs[0]), b"k3")
    chunk = len(runs[0]) // window_bytes * window_bytes  # windows start at chunks
    windows = [window_of(data[at : at + window_bytes], at) for at in range(chunk, len(data), window_bytes)]
    assert decoded(windows, NO_CLUSTERING, start=start) == decoded(windows_of(data, LARGE), NO_CLUSTERING)[2:]


def test_an_index_that_names_another_partition_is_an_error() -> None:
    data = encoded("k1: @1", NO_CLUSTERING)
    for start in (Start(0, b"k3"), Start(0, b"k"), Start(0, b"k1" + bytes(100))):
        with pytest.raises(CorruptSSTableError, match=r"position \d+: "):
            decoded(windows_of(data, Sizes(window_bytes=3)), NO_CLUSTERING, start=start)
