"""The rows of a Data.db: decoded as a scan decodes them, counted, and their order compared with that of clusterings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flightsrv.cql.ordering import comparator_of
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.kernels.decimals import COMPARED_LIMBS
from flightsrv.kernels.native import copy
from flightsrv.kernels.order import COMPOUND
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.tally import ClusteringOrder, first_unordered
from flightsrv.scan.run import SLAB_CELLS, SLAB_ROWS
from flightsrv.scan.verify_findings import Report
from flightsrv.scan.verify_numbers import Numbers
from flightsrv.scan.verify_partitions import Survey
from flightsrv.slab import FIRST_ROW, KIND, STATIC_CLUSTERING, SlabPart, Slabs, Window, allocate_slabs
from flightsrv.stages.decode import Run
from flightsrv.telemetry.clocks import Clock


class RowCheck:
    """Decodes the rows of one SSTable."""

    def __init__(self, report: Report, schema: TableSchema, survey: Survey, numbers: Numbers) -> None:
        self._report = report
        self._survey = survey
        self._numbers = numbers
        self._order = _clustering_order(schema.clustering)
        if schema.clustering and self._order is None:
            self._report.note("Data.db", "the order of rows is not checked: their clustering's type has no known order")
        self._slabs = slabs_for(schema)
        self._has_last = False
        self._last = np.empty(0, np.uint8)
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
        if part.row_count:
            self._keep_last(part)

    def _keep_last(self, part: SlabPart) -> None:
        """Let the last row outlive the slab, if its partition goes on in the next one."""
        row = part.row_count - 1
        slab, kept = self._slabs.of(0), self._slabs.of(1)
        is_open = part.continues and slab.partitions[part.partition_count - 1, FIRST_ROW] <= row
        self._has_last = bool(is_open and slab.rows[row, KIND] != STATIC_CLUSTERING)
        if not self._has_last:
            return
        kept.rows[0, KIND] = slab.rows[row, KIND]
        values = slice(1, slab.size.shape[0] - slab.cell_us.shape[0])
        sizes = slab.size[values, row]
        kept.size[values, 0] = sizes
        starts = np.cumsum(sizes.clip(0)) - sizes.clip(0)
        self._last = np.empty(int(sizes.clip(0).sum()), np.uint8)
        for value, (start, size) in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True), 1):
            if size > 0:
                copy(self._last.ctypes.data + start, slab.at[value, row], size)
            kept.at[value, 0] = self._last.ctypes.data + start


def slabs_for(schema: TableSchema) -> Slabs:
    """Slabs of two runs: the one to decode into, and one whose first row is the last one of the slab before."""
    cells = len(schema.static) + len(schema.regular)
    values = 1 + len(schema.clustering) + cells
    return allocate_slabs(2, len(schema.clustering), cells, max(64, min(SLAB_ROWS, SLAB_CELLS // values)))


def _clustering_order(columns: tuple[Column, ...]) -> ClusteringOrder | None:
    """How the rows of a partition sort, None when kernels cannot tell."""
    comparators = [comparator_of(column.type) for column in columns]
    if COMPOUND in comparators or any(column.type.kind == "custom" for column in columns):
        return None
    return ClusteringOrder(
        comparators=np.array(comparators, np.int64),
        reverse=np.array([column.reversed for column in columns], np.int8),
        scratch=np.zeros((3, COMPARED_LIMBS), np.int64),
    )
