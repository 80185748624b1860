"""Stage 5, encode: selections to record batches, and those to frames.

Values are copied from their windows to Arrow buffers that are used again for each batch, and once more, as whole
buffers, into the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from flightsrv.arrow.builders import Builder, builder_of, row_width
from flightsrv.arrow.parts import Parts, array_of
from flightsrv.cql.schema import Column
from flightsrv.errors import ValueFormError
from flightsrv.kernels.explode import MALFORMED, split_composite
from flightsrv.kernels.gather import rows_that_fit
from flightsrv.slab import Array, Selection
from flightsrv.telemetry.clocks import Clock

T = TypeVar("T")


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
        self, columns: Sequence[OutputColumn], value_count: int, key_columns: int, limits: BatchLimits, clock: Clock
    ) -> None:
        """value_count: of a selection; key_columns: of the partition key."""
        self._columns = columns
        self._builders: list[Builder] = [builder_of(each.column.type) for each in columns]
        self._limits = limits
        self._clock = clock
        self._components = key_columns if any(each.component >= 0 for each in columns) else 0
        self._width = np.zeros(value_count, np.int64)
        self._own = np.zeros(value_count, np.int64)
        for each in columns:
            width, has_own_size = row_width(each.column.type)
            self._width[each.value] += width
            self._own[each.value] |= has_own_size
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
        budget, room = self._limits.bytes - self._bytes, self._limits.rows - self._rows
        if self._limits.total_rows is not None:
            room = min(room, self._limits.total_rows - self._total_rows)
        stop = min(selection.stop, start + room)
        if stop <= start:
            return start
        count, size = rows_that_fit(selection.size, self._width, self._own, start, stop, budget)
        if size > budget and self._rows:
            return start  # not even one: it goes into the next batch
        stop = start + int(count)
        self._append(selection, start, stop)
        self._rows += stop - start
        self._total_rows += stop - start
        self._bytes += int(size)
        return stop

    def _append(self, selection: Selection, start: int, stop: int) -> None:
        key_at, key_size = self._key_components(selection, start, stop)
        for each, builder in zip(self._columns, self._builders, strict=True):
            with _errors_name(each.column):
                if each.component >= 0:
                    builder.append(key_at[each.component], key_size[each.component], 0, stop - start)
                else:
                    builder.append(selection.at[each.value], selection.size[each.value], start, stop)

    def _key_components(self, selection: Selection, start: int, stop: int) -> tuple[Array, Array]:
        at = np.zeros((self._components, stop - start if self._components else 0), np.int64)
        size = np.zeros(at.shape, np.int32)
        if self._components and split_composite(selection.at[0], selection.size[0], start, stop, at, size) == MALFORMED:
            raise ValueFormError("a partition key that is not made of its columns")
        return at, size

    def _flush(self, form: Callable[[list[Parts]], T]) -> Iterator[T]:
        with self._clock.busy():
            batch = form(self._parts())
        with self._clock.blocked():
            yield batch
        for builder in self._builders:
            builder.reset()
        self._rows = 0
        self._bytes = 0

    def _parts(self) -> list[Parts]:
        parts = []
        for each, builder in zip(self._columns, self._builders, strict=True):
            with _errors_name(each.column):
                parts.append(builder.parts())
        return parts


@contextmanager
def _errors_name(column: Column) -> Iterator[None]:
    try:
        yield
    except ValueFormError as error:
        raise ValueFormError(f"column {column.name}: {error}") from None


def record_batch_of(schema: pa.Schema) -> Callable[[list[Parts]], pa.RecordBatch]:
    """The form of a pyarrow batch over the very columns."""

    def form(columns: list[Parts]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([array_of(each) for each in columns], schema=schema)

    return form
