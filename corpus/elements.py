"""Regular columns of a series that hold collections or user-defined types.

Non-frozen ones are elements, a cell each; an INSERT writes them behind a deletion of all that was there before.

Sources: org.apache.cassandra.cql3.Lists, Sets, Maps, UserTypes; db.marshal.ListType, SetType, MapType, UserType.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpus.columns import Column, Draw
from corpus.series_cells import MOST_ELEMENTS, Cells, version_1
from corpus.table import MARSHAL
from corpus.values import Elements, Values, fixed, no_values, texts

_INT, _LONG, _TEXT = (MARSHAL + name for name in ("Int32Type", "LongType", "UTF8Type"))


class Of(NamedTuple):
    """The elements of some rows, one behind the other."""

    first: np.ndarray
    """int64 (n + 1,): where each row's start."""
    owner: np.ndarray
    """int64: which row each is of."""
    number: np.ndarray
    """int64: which of its row it is."""


def elements_of(counts: np.ndarray) -> Of:
    """counts: int64 (n,), at most MOST_ELEMENTS each."""
    first = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(counts)), counts)
    return Of(first, owner, np.arange(len(owner)) - first[owner])


class Items(NamedTuple):
    """Random numbers for the elements of a collection."""

    counts: Draw
    """int64 (n,): how many elements each row has."""
    word: int
    """Which word of `Cells.element_words` they are drawn from."""

    def of(self, cells: Cells) -> tuple[Of, np.ndarray]:
        """The elements, and a uint64 for each."""
        of = elements_of(self.counts(cells))
        return of, cells.element_words(self.word, of.owner, of.number)

    def is_empty(self, cells: Cells) -> np.ndarray:
        empty: np.ndarray = self.counts(cells) == 0
        return empty


def _ints(words: np.ndarray) -> np.ndarray:
    return (words >> np.uint64(32)).astype(np.uint32).view(np.int32)


def _longs(words: np.ndarray) -> np.ndarray:
    return (words >> np.uint64(20)).astype(np.int64)


def _ascending(of: Of, words: np.ndarray, pool: pa.Array) -> np.ndarray:
    """int64: an index into a sorted pool for each element, larger than that of the one before in its row."""
    most_step = len(pool) // MOST_ELEMENTS
    steps = 1 + (words & np.uint64(0xFFFF)).astype(np.int64) % most_step
    sums = np.concatenate([[0], np.cumsum(steps)])
    indices: np.ndarray = sums[1:] - sums[of.first[of.owner]] - 1
    return indices


def _list_array(of: Of, elements: pa.Array) -> pa.Array:
    offsets = pa.array(of.first.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, elements, type=pa.list_(pa.field("item", elements.type)))


def frozen_int_lists(items: Items) -> Column:
    """frozen<list<int>>: one value a row, which may be empty."""

    def stored(cells: Cells) -> Values:
        of, words = items.of(cells)
        data = np.empty(len(of.first) - 1 + 2 * len(words), ">i4")
        starts = np.arange(len(of.first)) + 2 * of.first
        data[starts[:-1]] = np.diff(of.first)
        places = starts[of.owner] + 1 + 2 * of.number
        data[places] = 4
        data[places + 1] = _ints(words)
        return Values(data.view(np.uint8), 0, 4 * starts)

    def shown(cells: Cells) -> pa.Array:
        of, words = items.of(cells)
        return _list_array(of, pa.array(_ints(words)))

    cls = f"{MARSHAL}FrozenType({MARSHAL}ListType({_INT}))"
    return Column("frozen<list<int>>", cls, pa.list_(pa.field("item", pa.int32())), stored, shown)


def int_lists(items: Items) -> Column:
    """list<int>: the paths are the times at which its elements were appended."""

    def stored(cells: Cells) -> Elements:
        of, words = items.of(cells)
        ticks = cells.at_ms[of.owner] * 10_000 + of.number
        node = np.broadcast_to(cells.runs, cells.sensors.shape)[of.owner]
        return Elements(of.first, fixed(version_1(ticks, node)), fixed(_ints(words)))

    def shown(cells: Cells) -> pa.Array:
        of, words = items.of(cells)
        return _list_array(of, pa.array(_ints(words)))

    cls = f"{MARSHAL}ListType({_INT})"
    arrow = pa.list_(pa.field("item", pa.int32()))
    return Column("list<int>", cls, arrow, stored, shown, is_complex=True, is_empty=items.is_empty)


def text_sets(items: Items, pool: pa.Array) -> Column:
    """set<text>: elements of a sorted pool."""

    def drawn(cells: Cells) -> tuple[Of, pa.Array]:
        of, words = items.of(cells)
        return of, pool.take(pa.array(_ascending(of, words, pool)))

    def stored(cells: Cells) -> Elements:
        of, elements = drawn(cells)
        return Elements(of.first, texts(elements), no_values(len(elements)))

    def shown(cells: Cells) -> pa.Array:
        return _list_array(*drawn(cells))

    cls = f"{MARSHAL}SetType({_TEXT})"
    arrow = pa.list_(pa.field("item", pa.string()))
    return Column("set<text>", cls, arrow, stored, shown, is_complex=True, is_empty=items.is_empty)


def text_to_bigint_maps(items: Items, pool: pa.Array) -> Column:
    """map<text, bigint>: keys of a sorted pool."""

    def drawn(cells: Cells) -> tuple[Of, pa.Array, np.ndarray]:
        of, words = items.of(cells)
        return of, pool.take(pa.array(_ascending(of, words, pool))), _longs(words)

    def stored(cells: Cells) -> Elements:
        of, keys, values = drawn(cells)
        return Elements(of.first, texts(keys), fixed(values))

    def shown(cells: Cells) -> pa.Array:
        of, keys, values = drawn(cells)
        return pa.MapArray.from_arrays(pa.array(of.first.astype(np.int32)), keys, pa.array(values))

    cls = f"{MARSHAL}MapType({_TEXT},{_LONG})"
    arrow = pa.map_(pa.string(), pa.int64())
    return Column("map<text, bigint>", cls, arrow, stored, shown, is_complex=True, is_empty=items.is_empty)


class Field(NamedTuple):
    """A field of a user-defined type: its values are of a pool."""

    name: str
    cql: str
    cls: str
    stored: pa.Array
    """binary"""
    shown: pa.Array


def int_field(name: str, values: range) -> Field:
    """A field of ints."""
    stored = pa.array([value.to_bytes(4, "big", signed=True) for value in values])
    return Field(name, "int", _INT, stored, pa.array(values, pa.int32()))


def text_field(name: str, *values: str) -> Field:
    """A field of texts."""
    return Field(name, "text", _TEXT, pa.array([value.encode() for value in values]), pa.array(values))


def create_type_cql(name: str, fields: Sequence[Field]) -> str:
    """CREATE TYPE, without semicolon."""
    return f"CREATE TYPE bench.{name} ({', '.join(f'{field.name} {field.cql}' for field in fields)})"


def user_types(name: str, fields: Sequence[Field], word: int, share: float) -> Column:
    """A non-frozen user-defined type of keyspace bench: a cell for each field that is not null, which is a share."""
    pool = pa.concat_arrays([field.stored for field in fields])
    starts = np.cumsum([0, *(len(field.stored) for field in fields)])

    def drawn(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Which fields are set, bool (n, fields), and the indices of their values, int64 likewise."""
        rows, numbers = np.divmod(np.arange(len(cells.sensors) * len(fields)), len(fields))
        words = cells.element_words(word, rows, numbers)
        is_set = (words >> np.uint64(40)).astype(np.int64) < int(share * 2**24)
        indices = (words & np.uint64(0xFFFF_FFFF)).astype(np.int64) % np.diff(starts)[numbers]
        return is_set.reshape(-1, len(fields)), indices.reshape(-1, len(fields))

    def stored(cells: Cells) -> Elements:
        is_set, indices = drawn(cells)
        _, numbers = np.nonzero(is_set)
        values = pool.take(pa.array((indices + starts[:-1])[is_set]))
        first = np.concatenate([[0], np.cumsum(is_set.sum(axis=1))])
        return Elements(first, fixed(numbers.astype(np.int16)), texts(values))

    def shown(cells: Cells) -> pa.Array:
        is_set, indices = drawn(cells)
        parts = [field.shown.take(pa.array(indices[:, f], mask=~is_set[:, f])) for f, field in enumerate(fields)]
        return pa.StructArray.from_arrays(parts, fields=list(arrow))

    def is_empty(cells: Cells) -> np.ndarray:
        is_set, _ = drawn(cells)
        empty: np.ndarray = is_set.sum(axis=1) == 0
        return empty

    named = "".join(f",{field.name.encode().hex()}:{field.cls}" for field in fields)
    cls = f"{MARSHAL}UserType(bench,{name.encode().hex()}{named})"
    arrow = pa.struct([(field.name, field.shown.type) for field in fields])
    return Column(name, cls, arrow, stored, shown, is_complex=True, is_empty=is_empty)
