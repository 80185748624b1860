"""A series: a table of sensors and minutes, newest first, with whatever regular columns.

columns.py and elements.py say what a column can be, series_events.py what is written and deleted when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.columns import Column
from corpus.expect import nullable, strings
from corpus.order import in_token_order
from corpus.rows import Batch, plain_rows
from corpus.series_cells import FIRST_MS, STEP_MS, Cells
from corpus.series_events import PARTITION_DELETION_US, ROW_DELETION_US, Events, markers
from corpus.table import COMPRESSION_CQL, MARSHAL, Table
from corpus.texts import put_keys
from corpus.unfiltereds import ABSENT, DELETED, EXPIRING, NOT_DELETED, ROW, Bases, Partitions, Unfiltereds
from corpus.writer import Written, prepare_folder, write_runs

_BATCH_ROWS = 32_768


@dataclass(frozen=True)
class Series:
    """A table, and how it is written and expected."""

    name: str
    columns: Mapping[str, Column]
    """In any order."""
    updated: Collection[str]
    """Names of the columns that an UPDATE sets; one of them always has a value."""
    types_cql: Sequence[str] = ()
    """CREATE TYPE statements."""

    @cached_property
    def stored_columns(self) -> Mapping[str, Column]:
        """In the order in which they are stored: simple before complex, by name."""
        return dict(sorted(self.columns.items(), key=lambda item: (item[1].is_complex, item[0])))

    @cached_property
    def table(self) -> Table:
        columns_cql = ", ".join(f"{name} {column.cql}" for name, column in sorted(self.columns.items()))
        return Table(
            name=self.name,
            columns_cql=f"sensor text, at timestamp, {columns_cql}, PRIMARY KEY (sensor, at)",
            options_cql=f"CLUSTERING ORDER BY (at DESC) AND {COMPRESSION_CQL}",
            clustering_classes=(f"{MARSHAL}ReversedType({MARSHAL}TimestampType)",),
            columns=tuple((name, column.cls) for name, column in self.stored_columns.items()),
            types_cql=self.types_cql,
        )

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        columns = [(name, column.arrow) for name, column in sorted(self.columns.items())]
        return pa.schema([("sensor", pa.string()), ("at", pa.timestamp("ms", "UTC")), *columns])

    def write(
        self,
        folder: Path,
        sensors: int,
        rows_per_sensor: int,
        runs: int = 1,
        version: str = "nb",
        seed: int = 1,
        *,
        ttl_share: float = 0.0,
        deletion_share: float = 0.0,
        progress: Callable[[int], None] | None = None,
    ) -> Written:
        """Write the table below a data folder, one SSTable a run; `progress` hears of each sensor once a run.

        Raises FileExistsError when the table's folder already holds SSTables, ValueError for a version it cannot write.
        """
        events = self._events(rows_per_sensor, runs, seed, ttl_share, deletion_share)
        table_folder = prepare_folder(folder, self.table, version)
        order = in_token_order(sensors, keys_of)
        step = _sensors_at_once(rows_per_sensor)
        return write_runs(table_folder, self.table, version, _Content(events), order, step, progress)

    def expected_batches(
        self,
        sensors: int,
        rows_per_sensor: int,
        runs: int = 1,
        seed: int = 1,
        *,
        ttl_share: float = 0.0,
        deletion_share: float = 0.0,
        now_s: int = 0,
    ) -> Iterator[pa.RecordBatch]:
        """The rows a reader must give at `now_s`, in order.

        Run by run: its deletions take away what older runs wrote, then its cells stand in for theirs, each for itself.
        """
        events = self._events(rows_per_sensor, runs, seed, ttl_share, deletion_share)
        order = in_token_order(sensors, keys_of)
        step = _sensors_at_once(rows_per_sensor)
        for start in range(0, sensors, step):
            grid = _grid(events, order[start : start + step], 0)
            alive = np.zeros(len(grid.minutes), bool)
            value_runs = np.full((len(grid.minutes), len(self.columns)), -1)
            for run in range(runs):
                _apply(events, grid, run, now_s, alive, value_runs)
            shown = alive | (value_runs >= 0).any(axis=1)
            yield self._shown_batch(grid, shown, value_runs)

    def expected_rows(
        self, sensors: int, rows_per_sensor: int, runs: int = 1, seed: int = 1, **options: float
    ) -> pa.Table:
        """All of `expected_batches` at once."""
        batches = self.expected_batches(sensors, rows_per_sensor, runs, seed, **options)  # type: ignore[arg-type]
        return pa.Table.from_batches(batches, self.arrow_schema)

    def _events(self, rows_per_sensor: int, runs: int, seed: int, ttl_share: float, deletion_share: float) -> Events:
        return Events(self.stored_columns, self.updated, rows_per_sensor, runs, seed, ttl_share, deletion_share)

    def _shown_batch(self, grid: Cells, shown: np.ndarray, value_runs: np.ndarray) -> pa.RecordBatch:
        sensors, minutes, value_runs = grid.sensors[shown], grid.minutes[shown], value_runs[shown]
        cells = Cells(grid.seed, grid.rows_per_sensor, sensors, minutes, np.array([0]))
        arrays = {"sensor": strings(*keys_of(sensors)), "at": pa.array(cells.at_ms)}
        for c, (name, column) in enumerate(self.stored_columns.items()):
            cells = Cells(grid.seed, grid.rows_per_sensor, sensors, minutes, np.maximum(value_runs[:, c], 0))
            arrays[name] = nullable(column.shown(cells), value_runs[:, c] < 0)
        return pa.record_batch([arrays[field.name].cast(field.type) for field in self.arrow_schema], self.arrow_schema)


def keys_of(sensors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`sensor-42` and so on: uint8 back to back, int64 starts."""
    starts = np.empty(len(sensors) + 1, np.int64)
    keys = np.empty(len(sensors) * 26, np.uint8)
    put_keys(np.frombuffer(b"sensor-", np.uint8), sensors, 1, starts, keys)
    return keys[: starts[-1]], starts


def _sensors_at_once(rows_per_sensor: int) -> int:
    return max(1, _BATCH_ROWS // rows_per_sensor)


def _grid(events: Events, sensors: np.ndarray, run: int) -> Cells:
    """All rows of some sensors, in the order of the table."""
    count = events.rows_per_sensor
    minutes = np.tile(np.arange(count - 1, -1, -1), len(sensors))
    return Cells(events.seed, count, np.repeat(sensors, count), minutes, np.array([run]))


@dataclass(frozen=True, slots=True)
class _Content:
    """A Content of corpus.writer; its partitions are sensors."""

    events: Events

    @property
    def runs(self) -> int:
        return self.events.runs

    def keys(self, _run: int, order: np.ndarray) -> int:
        return len(order)

    def bases(self, run: int, version: str) -> Bases:
        return self.events.bases(run, version)

    def batch(self, run: int, numbers: np.ndarray) -> Batch | None:
        events = self.events
        partition, rows = _rows(events, run, numbers)
        if events.deletion_share:
            partition, rows = _with_markers(events, run, numbers, partition, rows)
        deleted = events.partition_deleted(numbers, run)
        counts = np.bincount(partition, minlength=len(numbers))
        kept = deleted | (counts > 0)
        if not kept.any():
            return None
        first = np.concatenate([[0], np.cumsum(counts[kept])])
        deleted_us = np.where(deleted, events.begin_us(run) - PARTITION_DELETION_US, NOT_DELETED)[kept]
        minutes = (rows.clustering - FIRST_MS) // STEP_MS
        cells = Cells(events.seed, events.rows_per_sensor, numbers[partition], minutes, np.array([run]))
        values = [column.stored(cells) for column in events.columns.values()]
        return Batch(Partitions(*keys_of(numbers[kept]), first, deleted_us), rows, values)


def _rows(events: Events, run: int, sensors: np.ndarray) -> tuple[np.ndarray, Unfiltereds]:
    """The rows that a run has, and which of the sensors each is of."""
    grid = _grid(events, sensors, run)
    writes = events.writes(grid, run)
    there = writes.there
    count = int(there.sum())
    deletion_us = events.begin_us(run) - ROW_DELETION_US
    rows = Unfiltereds(
        kind=np.full(count, ROW, np.uint8),
        clustering=grid.at_ms[there],
        written_us=events.written_us(grid, run)[there],
        liveness=writes.liveness[there],
        ttl_s=writes.ttl_s[there],
        deleted_us=np.where(writes.deleted[there], deletion_us, NOT_DELETED),
        opened_us=np.full(count, NOT_DELETED),
        cells=writes.cells[there],
    )
    return np.repeat(np.arange(len(sensors)), events.rows_per_sensor)[there], rows


def _with_markers(
    events: Events, run: int, sensors: np.ndarray, partition: np.ndarray, rows: Unfiltereds
) -> tuple[np.ndarray, Unfiltereds]:
    """Put the markers of range deletions between the rows."""
    there = markers(events.ranges(sensors, run), events.begin_us(run))
    count = len(there.kind)
    none = plain_rows(count, rows.cells.shape[1], 0)
    none.cells[:] = none.liveness[:] = ABSENT
    marks = none._replace(
        kind=there.kind.astype(np.uint8),
        clustering=there.clustering,
        deleted_us=there.deleted_us,
        opened_us=there.opened_us,
    )
    joined = Unfiltereds(*(np.concatenate(pair) for pair in zip(rows, marks, strict=True)))
    partition = np.concatenate([partition, there.partition])
    order = np.lexsort((joined.kind, -joined.clustering, partition))
    return partition[order], Unfiltereds(*(each[order] for each in joined))


def _apply(events: Events, grid: Cells, run: int, now_s: int, alive: np.ndarray, value_runs: np.ndarray) -> None:
    """Let a run happen. alive: bool (n,); value_runs: int64 (n, columns), the run of each value, or -1 for null."""
    cells = Cells(grid.seed, grid.rows_per_sensor, grid.sensors, grid.minutes, np.array([run]))
    covered = events.covered(cells, run)
    alive[covered] = False
    value_runs[covered] = -1
    writes = events.writes(cells, run)
    expired = events.written_us(cells, run) // 1_000_000 + writes.ttl_s <= now_s
    inserted = writes.written & (writes.liveness != ABSENT)
    alive[inserted] = ~(expired & (writes.liveness == EXPIRING))[inserted]
    gone = (writes.cells == DELETED) | ((writes.cells == EXPIRING) & expired[:, None])
    for c, column in enumerate(events.columns.values()):
        if column.is_empty:
            gone[:, c] |= (writes.cells[:, c] != ABSENT) & column.is_empty(cells)
    value_runs[writes.cells != ABSENT] = run
    value_runs[gone] = -1
