"""The rows of a Data.db: decoded as a scan decodes them, counted, and their order compared with that of clusterings."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from flightsrv.cql.comparators import comparators_of, unordered_type
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.tally import ClusteringOrder, first_uncovered, first_unordered
from flightsrv.scan.run import SLAB_CELLS, SLAB_ROWS
from flightsrv.slab import (
    ABSENT,
    FIRST_ROW,
    KIND,
    NOT_IN_BOUND,
    STATIC_CLUSTERING,
    Array,
    SlabPart,
    Slabs,
    Window,
    allocate_slabs,
)
from flightsrv.sstable.clustering import Prefix
from flightsrv.stages.decode import Run
from flightsrv.stages.merge import refuse_undecided
from flightsrv.telemetry.clocks import Clock
from flightsrv.verify.findings import Report
from flightsrv.verify.numbers import Numbers
from flightsrv.verify.partitions import Survey

_LAST, _FIRST_BOUND = 0, 1
"""Rows of the second run."""


class Bound(NamedTuple):
    """Where the rows of an SSTable start or end, and what says so."""

    field: str
    prefix: Prefix


class RowCheck:
    """Decodes the rows of one SSTable."""

    def __init__(
        self, report: Report, schema: TableSchema, bounds: tuple[Bound, ...], survey: Survey, numbers: Numbers
    ) -> None:
        """bounds: of all rows, the first and the last; or none."""
        self._report = report
        self._survey = survey
        self._numbers = numbers
        self._order = _clustering_order(schema.clustering)
        if schema.clustering and self._order is None:
            self._report.note("Data.db", "the order of rows is not checked: their clustering's type has no known order")
        self._slabs = slabs_for(schema)
        self._has_last = False
        self._last = np.empty(0, np.uint8)
        self._bounds = bounds if self._order is not None else ()
        self._bound_values = [
            _put_row(self._slabs.of(1), row, bound.prefix.kind, bound.prefix.values)
            for row, bound in enumerate(self._bounds, _FIRST_BOUND)
        ]
        self._partition_count = 0
        self._continues = False

    def decode(self, path: str, header: RunHeader, windows: Iterator[Window]) -> Iterator[None]:
        """Decode the rows of all windows, part by part.

        Raises CorruptSSTableError where a row is damaged, LimitError when one is too large.
        """
        for part in Run(path, header, self._slabs.of(0), Clock("decode")).decode(windows):
            self._numbers.add_rows(self._slabs.of(0), part.row_count)
            if self._order is not None:
                self._check_order(part, self._order)
            self._partition_count += part.partition_count - self._continues
            self._continues = part.continues
            yield

    def _check_order(self, part: SlabPart, order: ClusteringOrder) -> None:
        row, partition = first_unordered(
            self._slabs, part.row_count, part.partition_count, order, self._has_last and self._continues
        )
        if row < part.row_count:
            first = self._partition_count - self._continues
            what = "a row or marker of the partition does not come after the one before it"
            position = self._survey.position_of(first + int(partition))
            self._report.error("Data.db", what, position=position, field="clustering order")
        if self._bounds:
            row, bound = first_uncovered(self._slabs, part.row_count, order, _FIRST_BOUND)
            if row < part.row_count:
                field = self._bounds[bound - _FIRST_BOUND].field
                self._report.error("Statistics.db", "a row or marker of Data.db lies beyond it", field=field)
                self._bounds = ()
        refuse_undecided(order.orders)
        if part.row_count:
            self._keep_last(part)

    def _keep_last(self, part: SlabPart) -> None:
        """Let the last row outlive the slab, if its partition goes on in the next one."""
        row = part.row_count - 1
        slab = self._slabs.of(0)
        is_open = part.continues and slab.partitions[part.partition_count - 1, FIRST_ROW] <= row
        self._has_last = bool(is_open and slab.rows[row, KIND] != STATIC_CLUSTERING)
        if self._has_last:
            self._last = _put_row(self._slabs.of(1), _LAST, int(slab.rows[row, KIND]), _values(slab, row))


def _values(slab: Slabs, row: int) -> list[bytes | None]:
    """The clustering values of a row, or of a bound as far as it has some; None is null."""
    columns = range(1, slab.size.shape[0] - slab.cell_us.shape[0])
    places = [(int(slab.at[i, row]), int(slab.size[i, row])) for i in columns]
    return [None if size == ABSENT else ctypes.string_at(at, size) for at, size in places if size != NOT_IN_BOUND]


def _put_row(slab: Slabs, row: int, kind: int, values: Sequence[bytes | None]) -> Array:
    """Make a row or bound of a slab. Returns what its addresses point into."""
    data = np.frombuffer(b"".join(value or b"" for value in values) + b"\0", np.uint8)
    at = data.ctypes.data
    slab.rows[row, KIND] = kind
    slab.size[1 : slab.size.shape[0] - slab.cell_us.shape[0], row] = NOT_IN_BOUND
    for i, value in enumerate(values, 1):
        slab.at[i, row] = at
        slab.size[i, row] = ABSENT if value is None else len(value)
        at += len(value or b"")
    return data


def slabs_for(schema: TableSchema) -> Slabs:
    """Slabs of two runs: one to decode into, one for rows to compare with those."""
    cells = len(schema.static) + len(schema.regular)
    values = 1 + len(schema.clustering) + cells
    return allocate_slabs(2, len(schema.clustering), cells, max(64, min(SLAB_ROWS, SLAB_CELLS // values)))


def _clustering_order(columns: tuple[Column, ...]) -> ClusteringOrder | None:
    """How the rows of a partition sort, None when kernels cannot tell."""
    if any(unordered_type(column.type) is not None for column in columns):
        return None
    comparators, orders = comparators_of([column.type for column in columns])
    return ClusteringOrder(comparators, np.array([column.reversed for column in columns], np.int8), orders)
