"""Stage 5: rows become batches in their order, each as large as it may be."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow import variable
from flightsrv.arrow.frames import FrameWriter
from flightsrv.arrow.parts import Parts, array_of
from flightsrv.arrow.types import COMPATIBLE, TypeMapping, arrow_field
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode as stored_value
from flightsrv.errors import UnrepresentableError, ValueFormError
from flightsrv.slab import Array, Selection
from flightsrv.stages.encode import BatchLimits, Encoder, OutputColumn, record_batch_of
from flightsrv.telemetry.clocks import Clock
from tests.arrow.columns import MAPPINGS
from tests.kernels.places import places_of

INT, TEXT, BLOB = CqlType("int"), CqlType("text"), CqlType("blob")
UNBOUNDED = BatchLimits(1 << 20, 1 << 40, None)
KEPT: list[Array] = []
"""Memory of the selections of the test at hand."""

Row = Sequence[bytes | None]


@pytest.fixture(autouse=True)
def _no_memory_of_other_tests() -> None:
    KEPT.clear()


def selection_of(rows: Sequence[Row], skipped: int = 0) -> Selection:
    """A selection of rows; `skipped` others stand before them."""
    padded = [[b"skipped"] * len(rows[0])] * skipped + list(rows)
    columns = [places_of(list(column)) for column in zip(*padded, strict=True)]
    KEPT.extend(column.memory for column in columns)
    at, size = np.stack([column.at for column in columns]), np.stack([column.size for column in columns])
    return Selection(at, size, skipped, len(padded))


def table_of(
    partition_key: Sequence[CqlType], clustering: Sequence[CqlType] = (), regular: Sequence[CqlType] = ()
) -> TableSchema:
    """A table of columns c0, c1, c2 ..."""
    types = (*partition_key, *clustering, *regular)
    columns = [Column(f"c{i}", type_, "regular") for i, type_ in enumerate(types)]
    first, second = len(partition_key), len(partition_key) + len(clustering)
    return TableSchema(
        "ks",
        "t",
        None,
        *(tuple(part) for part in (columns[:first], columns[first:second])),
        regular=tuple(columns[second:]),
    )


def encoder_of(types: Sequence[CqlType], limits: BatchLimits = UNBOUNDED, mapping: TypeMapping = COMPATIBLE) -> Encoder:
    """All columns of a table whose first is its partition key."""
    table = table_of(types[:1], regular=types[1:])
    outputs = [OutputColumn(column, value) for value, column in enumerate(table.partition_key + table.regular)]
    return Encoder(outputs, table, limits, Clock("encode"), mapping)


def as_lists(columns: list[Parts]) -> list[list[Any]]:
    """A batch as the values of each of its columns."""
    return [array_of(column).to_pylist() for column in columns]


def batches_of(rows: Sequence[Row], limits: BatchLimits, cut: int = 0) -> list[list[bytes | None]]:
    """The first column of each batch; rows come in two selections."""
    encoder = encoder_of([BLOB] * len(rows[0]), limits)
    selections = [selection_of(part, skipped=1) for part in (rows[:cut], rows[cut:]) if part]
    return [batch[0] for batch in encoder.encode(selections, as_lists)]


ROWS = st.lists(st.tuples(st.none() | st.binary(max_size=30)), min_size=1, max_size=30)


@given(ROWS, st.integers(1, 12), st.integers(1, 100), st.none() | st.integers(0, 40), st.integers(0, 30))
def test_batches_are_the_rows_in_their_order_none_of_them_empty_or_larger_than_it_may_be(
    rows: list[Row], most_rows: int, most_bytes: int, total_rows: int | None, cut: int
) -> None:
    batches = batches_of(rows, BatchLimits(most_rows, most_bytes, total_rows), cut)
    assert [value for batch in batches for value in batch] == [row[0] for row in rows][:total_rows]
    for batch in batches:
        assert 1 <= len(batch) <= most_rows
        assert len(batch) == 1 or sum(4 + len(value or b"") for value in batch) <= most_bytes


@given(ROWS, st.integers(1, 12), st.integers(1, 100), st.integers(0, 30))
def test_a_batch_ends_only_where_the_next_row_does_not_fit(
    rows: list[Row], most_rows: int, most_bytes: int, cut: int
) -> None:
    batches = batches_of(rows, BatchLimits(most_rows, most_bytes, None), cut)
    for batch, following in pairwise(batches):
        with_next = [*batch, following[0]]
        assert len(with_next) > most_rows or sum(4 + len(value or b"") for value in with_next) > most_bytes


def test_a_row_larger_than_a_batch_goes_alone() -> None:
    rows = [(b"a",), (b"x" * 100,), (b"b",), (b"c",)]
    assert batches_of(rows, BatchLimits(10, 50, None)) == [[b"a"], [b"x" * 100], [b"b", b"c"]]


@pytest.mark.parametrize(("total_rows", "asked"), [(0, 0), (1, 1), (2, 1), (3, 2)])
def test_when_the_limit_is_reached_nothing_more_is_asked_for(total_rows: int, asked: int) -> None:
    taken = []

    def selections() -> Iterator[Selection]:
        for i in range(5):
            taken.append(i)
            yield selection_of([(b"a",), (b"b",)])

    encoder = encoder_of([BLOB], BatchLimits(10, 1000, total_rows))
    assert sum(len(batch[0]) for batch in encoder.encode(selections(), as_lists)) == total_rows
    assert len(taken) == asked


def test_only_the_columns_asked_for_are_looked_at() -> None:
    table = table_of([TEXT], regular=[INT, INT, BLOB])
    outputs = [OutputColumn(table.regular[1], 2), OutputColumn(table.partition_key[0], 0)]
    encoder = Encoder(outputs, table, UNBOUNDED, Clock("encode"))
    selection = selection_of([(b"k", b"not an int", struct.pack(">i", 5), b"x" * 500)])
    assert list(encoder.encode([selection], as_lists)) == [[[5], ["k"]]]


def composite(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">H", len(part)) + part + b"\0" for part in parts)


def test_a_composite_key_is_taken_apart() -> None:
    table = table_of([INT, TEXT])
    outputs = [OutputColumn(table.partition_key[i], 0, i) for i in (1, 0)]
    encoder = Encoder(outputs, table, UNBOUNDED, Clock("encode"))
    rows = [(composite(struct.pack(">i", i), b"t%d" % i),) for i in range(3)]
    assert list(encoder.encode([selection_of(rows, skipped=2)], as_lists)) == [[["t0", "t1", "t2"], [0, 1, 2]]]


def test_a_composite_key_of_other_columns_is_an_error() -> None:
    table = table_of([TEXT, TEXT])
    outputs = [OutputColumn(column, 0, i) for i, column in enumerate(table.partition_key)]
    encoder = Encoder(outputs, table, UNBOUNDED, Clock("encode"))
    with pytest.raises(ValueFormError, match="a partition key that is not made of its columns"):
        list(encoder.encode([selection_of([(composite(b"a"),)])], as_lists))


NO_INT = b"bcd"


@pytest.mark.parametrize("wrong", [0, 1, 6, 7])
def test_an_error_names_the_column_and_the_row(wrong: int) -> None:
    rows = [(b"%d" % i, NO_INT if i == wrong or i == 7 else b"\0\0\0\1", b"x") for i in range(8)]
    encoder = encoder_of([TEXT, INT, TEXT])
    selection = selection_of(rows, skipped=3)
    with pytest.raises(
        ValueFormError, match=f"^column c1 of the row with key '{wrong}': bytes that are not a value of int$"
    ):
        list(encoder.encode([selection], as_lists))


def test_an_error_knows_a_row_by_its_whole_key() -> None:
    table = table_of([INT, TEXT], [CqlType("list", (INT,), frozen=True)], [TEXT])
    outputs = [OutputColumn(table.partition_key[1], 0, 1), OutputColumn(table.regular[0], 2)]
    encoder = Encoder(outputs, table, UNBOUNDED, Clock("encode"))
    key, clustering = composite(b"\0\0\0\7", b"it's"), struct.pack(">iii", 1, 4, 5)
    selection = selection_of([(key, clustering, b"good"), (key, None, b"\xff")], skipped=1)
    with pytest.raises(
        UnrepresentableError, match=r"^column c3 of the row with key \(7, 'it''s'\): a text that is not"
    ):
        list(encoder.encode([selection], as_lists))
    selection = selection_of([(key, clustering, b"\xff"), (key, None, b"\xff")])
    with pytest.raises(ValueFormError, match=r"of the row with key \(7, 'it''s', \[5\]\): "):
        list(encoder.encode([selection], as_lists))


def test_an_error_in_a_key_shows_its_bytes() -> None:
    table = table_of([INT, TEXT])
    encoder = Encoder([OutputColumn(table.partition_key[1], 0, 1)], table, UNBOUNDED, Clock("encode"))
    selection = selection_of([(composite(b"\0\0\0\7", b"\xff" * 300),)])
    with pytest.raises(ValueFormError, match=f"^column c1 of the row with key \\(7, 0x{'f' * 194}…: a text that is"):
        list(encoder.encode([selection], as_lists))


def test_what_is_too_much_together_is_no_rows_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variable, "MAX_VARIABLE_BYTES", 10)
    with pytest.raises(ValueFormError, match=r"^column c0: a batch of 12 bytes"):
        list(encoder_of([BLOB]).encode([selection_of([(b"123456",), (b"123456",)])], as_lists))


def test_record_batches_have_the_schema_and_live_until_the_next() -> None:
    encoder = encoder_of([INT, CqlType("uuid")], BatchLimits(1, 1000, None))
    schema = pa.schema([arrow_field(Column("a", INT, "regular")), arrow_field(Column("b", CqlType("uuid"), "regular"))])
    rows = [(struct.pack(">i", i), bytes(15) + bytes([i])) for i in range(3)]
    for i, batch in enumerate(encoder.encode([selection_of(rows)], record_batch_of(schema))):
        assert batch.schema.equals(schema, check_metadata=True)
        assert batch.column("a").to_pylist() == [i]


MIB = 1 << 20
VARINT, INET, DURATION = CqlType("varint"), CqlType("inet"), CqlType("duration")
NULL_TUPLE = CqlType("tuple", tuple(CqlType("decimal") for _ in range(12)))
LONGEST_DURATION = (2**31 - 1, 2**31 - 1, 2**63 - 1)
IPV6 = ipaddress.ip_address(b"\xab" * 16)


def listed(*types: CqlType) -> CqlType:
    return CqlType("list" if len(types) == 1 else "map", types)


def drawn(type_: CqlType, value: Any) -> tuple[list[CqlType], list[bytes | None]]:
    return [type_], [stored_value(type_, value)]


ORDINARY: dict[str, tuple[list[CqlType], list[bytes | None]]] = {
    "ints": ([INT] * 6, [struct.pack(">i", 7)] * 6),
    "booleans": ([CqlType("boolean")] * 3, [b"\1"] * 3),
    "varints": ([VARINT] * 4, [b"\1"] * 4),
    "decimals": ([CqlType("decimal")] * 4, [b"\0\0\0\0\1"] * 4),
    "ipv6": ([INET] * 2, [b"\xab" * 16] * 2),
    "ipv4": ([INET] * 2, [b"\xff" * 4] * 2),
    "durations": ([DURATION] * 2, [stored_value(DURATION, LONGEST_DURATION)] * 2),
    "texts": ([TEXT] * 3, [b"0123456789"] * 3),
    "custom": ([CqlType("custom")] * 3, [b"0123456789"] * 3),
    "lists": ([listed(INT)], [struct.pack(">i", 5) + struct.pack(">ii", 4, 1) * 5]),
    "lists of varints": drawn(listed(VARINT), [1] * 50),
    "lists of inets": drawn(listed(INET), [IPV6] * 50),
    "lists of durations": drawn(listed(DURATION), [LONGEST_DURATION] * 50),
    "lists of short durations": drawn(listed(DURATION), [(0, 0, 1)] * 50),
    "maps of varints": drawn(listed(VARINT, VARINT), [(i, i) for i in range(50)]),
    "lists of lists of varints": drawn(listed(listed(VARINT)), [[1] * 10] * 5),
    "tuples of lists of varints": drawn(CqlType("tuple", (INT, listed(VARINT))), (None, [1] * 50)),
    "lists of maps of inets": drawn(listed(listed(INT, INET)), [[(i, IPV6) for i in range(10)]] * 5),
    "lists of short tuples": ([listed(NULL_TUPLE)], [struct.pack(">i", 20) + bytes(4 * 20)]),
    "lists of lists of short tuples": (
        [listed(listed(NULL_TUPLE))],
        [struct.pack(">ii", 1, 4 + 4 * 20) + struct.pack(">i", 20) + bytes(4 * 20)],
    ),
    "vectors": ([CqlType("vector", (VARINT,), dimension=50)], [b"\1\7" * 50]),
    "vectors of lists": drawn(CqlType("vector", (listed(VARINT),), dimension=2), [[1] * 30] * 2),
    "null vectors": ([CqlType("vector", (CqlType("float"),), dimension=1000)], [None]),
    "null tuples": ([NULL_TUPLE], [None]),
    "nulls": ([INT, TEXT, CqlType("uuid"), VARINT, INET, listed(TEXT)], [None] * 6),
    "large": ([BLOB], [b"x" * 900_000]),
}


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("name", ORDINARY)
def test_a_frame_of_ordinary_rows_is_smaller_than_what_clients_take(name: str, mapping: TypeMapping) -> None:
    """4 MiB is the most that a gRPC client in Go, Rust or Java takes when nobody tells it otherwise."""
    types, row = ORDINARY[name]
    rows = 12 if name == "large" else 66_000 if len(types) > 1 else 20_000
    places = [places_of([value]) for value in row]
    at = np.stack([np.repeat(each.at, rows) for each in places])
    size = np.stack([np.repeat(each.size, rows) for each in places])
    encoder = encoder_of(types, BatchLimits(65_536, 3_000_000, None), mapping)
    frames = list(encoder.encode([Selection(at, size, 0, rows)], FrameWriter().write))
    assert sum(frame.rows for frame in frames) == rows
    assert max(len(frame.data) for frame in frames) < 4 * MIB
    if len(frames) > 2:
        assert min(len(frame.data) for frame in frames[:-1]) > 2 * MIB


def test_so_is_a_frame_of_texts_whose_bytes_are_escaped() -> None:
    places = places_of([b"\xff" * 100])
    selection = Selection(np.repeat(places.at, 60_000)[None, :], np.repeat(places.size, 60_000)[None, :], 0, 60_000)
    encoder = encoder_of([TEXT], BatchLimits(65_536, 3_000_000, None), MAPPINGS["or-text"])
    frames = list(encoder.encode([selection], FrameWriter().write))
    assert sum(frame.rows for frame in frames) == 60_000
    assert max(len(frame.data) for frame in frames) < 4 * MIB


@pytest.mark.parametrize("name", ["lists of varints", "lists of lists of short tuples", "vectors"])
def test_a_row_whose_elements_are_more_than_a_batch_goes_alone(name: str) -> None:
    types, (value,) = ORDINARY[name]
    encoder = encoder_of(types, BatchLimits(65_536, 100, None))
    frames = list(encoder.encode([selection_of([(value,)] * 3)], FrameWriter().write))
    assert [frame.rows for frame in frames] == [1, 1, 1]
