"""Stage 5, encode: selections to record batches, and those to frames.

Values are copied from their windows to Arrow buffers that are used again for each batch, and once more, as whole
buffers, into the frame.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from flightsrv.arrow.bounds import Bound, bound_of, bound_within
from flightsrv.arrow.buffers import Builder
from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.parts import Parts, array_of
from flightsrv.arrow.types import COMPATIBLE, TypeMapping
from flightsrv.cql.literals import literal
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.errors import ValueFormError
from flightsrv.kernels.explode import MALFORMED, split_composite
from flightsrv.kernels.gather import BOUND_FIELDS, rows_that_fit
from flightsrv.slab import Array, Selection
from flightsrv.telemetry.clocks import Clock

T = TypeVar("T")

MAX_KEY_CHARS = 200
"""Of a row's key in an error."""
FULL_ENOUGH = 15 / 16
"""Of a batch's bytes. Rows may take less than they could have: then others are put in behind them, up to here."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of the result and where its values are in a selection."""

    column: Column
    value: int
    """Index among the selection's values; 0 is the partition key."""
    component: int = -1
    """Which part of a composite partition key it is, -1 for a whole value."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """When a batch is full."""

    rows: int
    bytes: int
    total_rows: int | None
    """Rows of the whole result at most."""


class Encoder:
    """Copies selections into the columns of a batch."""

    def __init__(
        self,
        columns: Sequence[OutputColumn],
        table: TableSchema,
        limits: BatchLimits,
        clock: Clock,
        mapping: TypeMapping = COMPATIBLE,
    ) -> None:
        """table: whose rows the selections are."""
        self._columns = columns
        self._table = table
        self._mapping = mapping
        self._builders: list[Builder] = [builder_of(each.column.type, mapping) for each in columns]
        self._limits = limits
        self._clock = clock
        self._bounds = _bounds(columns, mapping)
        self._rows = 0
        self._bytes = 0
        self._total_rows = 0

    def encode(self, selections: Iterable[Selection], form: Callable[[list[Parts]], T]) -> Iterator[T]:
        """One batch after the other, in the form that `form` gives its columns. Raises ValueFormError.

        The columns are used again for the next batch: what `form` returns must be a copy, or be used up before.
        """
        clock = self._clock
        selections = iter(selections)
        while not self._is_complete():
            with clock.starved():
                selection = next(selections, None)
            if selection is None:
                break
            start = selection.start
            while start < selection.stop and not self._is_complete():
                with clock.busy():
                    start = self._take(selection, start)
                if start < selection.stop and self._rows:
                    yield from self._flush(form)
        if self._rows:
            yield from self._flush(form)

    def _is_complete(self) -> bool:
        total = self._limits.total_rows
        return total is not None and self._total_rows >= total

    def _take(self, selection: Selection, start: int) -> int:
        """Append the rows from `start` on that still fit; returns the first that does not."""
        room = self._limits.rows - self._rows
        if self._limits.total_rows is not None:
            room = min(room, self._limits.total_rows - self._total_rows)
        stop = min(selection.stop, start + room)
        while start < stop:
            budget = self._limits.bytes - self._bytes
            count, size = rows_that_fit(selection.at, selection.size, self._bounds, start, stop, budget)
            if size > budget and self._rows:
                break  # not even one: it goes into the next batch
            self._append(selection, start, start + int(count))
            start += int(count)
            if self._bytes > FULL_ENOUGH * self._limits.bytes:
                break
        return start

    def _append(self, selection: Selection, start: int, stop: int) -> None:
        key = (
            self._key_components(selection, start, stop) if any(each.component >= 0 for each in self._columns) else None
        )
        for each, builder in zip(self._columns, self._builders, strict=True):
            if key is not None and each.component >= 0:
                places = key[0][each.component], key[1][each.component], 0, stop - start
            else:
                places = selection.at[each.value], selection.size[each.value], start, stop
            try:
                builder.append(*places)
            except ValueFormError as error:
                raise self._named(error, each.column, selection, start, places) from None
        self._rows += stop - start
        self._total_rows += stop - start
        self._bytes = sum(builder.arrow_bytes for builder in self._builders)

    def _key_components(self, selection: Selection, start: int, stop: int) -> tuple[Array, Array]:
        at = np.zeros((len(self._table.partition_key), stop - start), np.int64)
        size = np.zeros(at.shape, np.int32)
        if split_composite(selection.at[0], selection.size[0], start, stop, at, size) == MALFORMED:
            raise ValueFormError("a partition key that is not made of its columns")
        return at, size

    def _flush(self, form: Callable[[list[Parts]], T]) -> Iterator[T]:
        with self._clock.busy():
            batch = form([builder.parts() for builder in self._builders])
        with self._clock.blocked():
            yield batch
        for builder in self._builders:
            builder.reset()
        self._rows = 0
        self._bytes = 0

    def _named(
        self,
        error: ValueFormError,
        column: Column,
        selection: Selection,
        first: int,
        places: tuple[Array, Array, int, int],
    ) -> ValueFormError:
        """An error of some row's with the names of its column and its row, the one at places[2] being `first`."""
        at, size, start, stop = places

        def refusal(start: int, stop: int) -> ValueFormError | None:
            try:
                builder_of(column.type, self._mapping).append(at, size, start, stop)
            except ValueFormError as error:
                return error
            return None

        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (start, middle) if refusal(start, middle) else (middle, stop)
        found = refusal(start, stop)
        if found is None:  # all rows together are too much
            return type(error)(f"column {column.name}: {error}")
        key = self._key_text(selection, first + start - places[2])
        return type(found)(f"column {column.name} of the row with key {key}: {found}")

    def _key_text(self, selection: Selection, row: int) -> str:
        """A row's primary key in CQL; of a static row that stands alone, that of its partition."""
        table = self._table
        at, size = selection.at[: 1 + len(table.clustering), row], selection.size[: 1 + len(table.clustering), row]
        if len(table.partition_key) > 1:
            key_at, key_size = self._key_components(selection, row, row + 1)
            at, size = np.concatenate((key_at[:, 0], at[1:])), np.concatenate((key_size[:, 0], size[1:]))
        values = [
            literal(column.type, ctypes.string_at(int(a), int(n)))
            for column, a, n in zip(table.partition_key + table.clustering, at, size, strict=True)
            if n >= 0
        ]
        text = values[0] if len(values) == 1 else f"({', '.join(values)})"
        return text if len(text) <= MAX_KEY_CHARS else text[:MAX_KEY_CHARS] + "…"


def _bounds(columns: Sequence[OutputColumn], mapping: TypeMapping) -> Array:
    """What rows_that_fit needs to know. A value of several columns is their common key: each has a part of it."""
    bounds = np.zeros((1 + max(each.value for each in columns), BOUND_FIELDS), np.int64)
    for each in columns:
        before = Bound(*bounds[each.value])
        more = (bound_of if each.component < 0 else bound_within)(each.column.type, mapping)
        bounds[each.value, :] = more._replace(width=before.width + more.width, growth=max(before.growth, more.growth))
    return bounds


def record_batch_of(schema: pa.Schema) -> Callable[[list[Parts]], pa.RecordBatch]:
    """The form of a pyarrow batch over the very columns."""

    def form(columns: list[Parts]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([array_of(each) for each in columns], schema=schema)

    return form
