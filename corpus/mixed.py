"""bench.mixed: a time series of twelve columns of mixed types, newest minute first.

mixed_values.py says what the columns hold, mixed_events.py what is written and deleted when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from corpus.kernels import ABSENT, DELETED, EXPIRING, NOT_DELETED, ROW, Partitions, Unfiltereds
from corpus.mixed_events import PARTITION_DELETION_US, ROW_DELETION_US, Events, markers
from corpus.mixed_values import CLASSES, COLUMNS, FIRST_MS, STEP_MS, Cells
from corpus.order import in_token_order
from corpus.rows import Batch, Values, fixed, plain_rows, texts
from corpus.table import MARSHAL, Table
from corpus.texts import put_keys
from corpus.writer import SSTable, Written, prepare_folder

TABLE = Table(
    name="mixed",
    columns_cql=(
        "sensor text, at timestamp, a bigint, b int, c double, d float, e boolean, f text, g text, h uuid, i int, "
        "j bigint, k double, l text, PRIMARY KEY (sensor, at)"
    ),
    options_cql=(
        "CLUSTERING ORDER BY (at DESC) AND compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': '16'}"
    ),
    clustering_classes=(f"{MARSHAL}ReversedType({MARSHAL}TimestampType)",),
    columns=CLASSES,
)
ARROW_SCHEMA = pa.schema(
    [("sensor", pa.string()), ("at", pa.timestamp("ms", "UTC"))]
    + [(name, column.arrow) for name, column in COLUMNS.items()]
)
_BATCH_ROWS = 32_768


def keys_of(sensors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`sensor-42` and so on: uint8 back to back, int64 starts."""
    starts = np.empty(len(sensors) + 1, np.int64)
    keys = np.empty(len(sensors) * 26, np.uint8)
    put_keys(np.frombuffer(b"sensor-", np.uint8), sensors, 1, starts, keys)
    return keys[: starts[-1]], starts


def _grid(events: Events, sensors: np.ndarray, run: int) -> Cells:
    """All rows of some sensors, in the order of the table."""
    count = events.rows_per_sensor
    minutes = np.tile(np.arange(count - 1, -1, -1), len(sensors))
    return Cells(events.seed, count, np.repeat(sensors, count), minutes, np.array([run]))


def _stored(values: np.ndarray | pa.Array) -> Values:
    return texts(values) if isinstance(values, pa.Array) else fixed(values)


def _batch(events: Events, run: int, sensors: np.ndarray) -> Batch | None:
    """What a run has of some sensors; None when that is nothing."""
    partition, rows = _rows(events, run, sensors)
    if events.deletion_share:
        partition, rows = _with_markers(events, run, sensors, partition, rows)
    deleted = events.partition_deleted(sensors, run)
    counts = np.bincount(partition, minlength=len(sensors))
    kept = deleted | (counts > 0)
    if not kept.any():
        return None
    first = np.concatenate([[0], np.cumsum(counts[kept])])
    deleted_us = np.where(deleted, events.begin_us(run) - PARTITION_DELETION_US, NOT_DELETED)[kept]
    minutes = (rows.clustering - FIRST_MS) // STEP_MS
    cells = Cells(events.seed, events.rows_per_sensor, sensors[partition], minutes, np.array([run]))
    values = [_stored(column.values(cells)) for column in COLUMNS.values()]
    return Batch(Partitions(*keys_of(sensors[kept]), first, deleted_us), rows, values)


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


def write(
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
    events = Events(sensors, rows_per_sensor, runs, seed, ttl_share, deletion_share)
    table_folder = prepare_folder(folder, TABLE, version)
    order = in_token_order(sensors, keys_of)
    step = max(1, _BATCH_ROWS // rows_per_sensor)

    def batches(run: int) -> Iterator[Batch]:
        for start in range(0, sensors, step):
            batch = _batch(events, run, order[start : start + step])
            if batch:
                yield batch
            if progress:
                progress(len(order[start : start + step]))

    total = Written(table_folder, 0, 0)
    for run in range(runs):
        place = SSTable(table_folder, TABLE, version, run + 1)
        total += place.write(batches(run), sensors, events.bases(run, version))
    return total


def expected_batches(
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
    events = Events(sensors, rows_per_sensor, runs, seed, ttl_share, deletion_share)
    order = in_token_order(sensors, keys_of)
    step = max(1, _BATCH_ROWS // rows_per_sensor)
    for start in range(0, sensors, step):
        grid = _grid(events, order[start : start + step], 0)
        count = len(grid.minutes)
        alive = np.zeros(count, bool)
        value_runs = np.full((count, len(COLUMNS)), -1)
        for run in range(runs):
            _apply(events, grid, run, now_s, alive, value_runs)
        shown = alive | (value_runs >= 0).any(axis=1)
        yield _shown_batch(grid, shown, value_runs)


def _apply(events: Events, grid: Cells, run: int, now_s: int, alive: np.ndarray, value_runs: np.ndarray) -> None:
    """Let a run happen. alive: bool (n,); value_runs: int64 (n, 12), the run of each cell's value, or -1 for null."""
    cells = Cells(grid.seed, grid.rows_per_sensor, grid.sensors, grid.minutes, np.array([run]))
    covered = events.covered(cells, run)
    alive[covered] = False
    value_runs[covered] = -1
    writes = events.writes(cells, run)
    expired = events.written_us(cells, run) // 1_000_000 + writes.ttl_s <= now_s
    inserted = writes.written & (writes.liveness != ABSENT)
    alive[inserted] = ~(expired & (writes.liveness == EXPIRING))[inserted]
    gone = (writes.cells == DELETED) | ((writes.cells == EXPIRING) & expired[:, None])
    value_runs[writes.cells != ABSENT] = run
    value_runs[gone] = -1


def _shown_batch(grid: Cells, shown: np.ndarray, value_runs: np.ndarray) -> pa.RecordBatch:
    sensors, minutes, value_runs = grid.sensors[shown], grid.minutes[shown], value_runs[shown]
    keys, starts = keys_of(sensors)
    key_column = pa.StringArray.from_buffers(len(sensors), pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(keys))
    cells = Cells(grid.seed, grid.rows_per_sensor, sensors, minutes, np.array([0]))
    arrays = [key_column, pa.array(cells.at_ms).cast(ARROW_SCHEMA.field("at").type)]
    for c, column in enumerate(COLUMNS.values()):
        runs = value_runs[:, c]
        cells = Cells(grid.seed, grid.rows_per_sensor, sensors, minutes, np.maximum(runs, 0))
        arrays.append(_nullable(column.values(cells), runs < 0, column.arrow))
    return pa.record_batch(arrays, ARROW_SCHEMA)


def _nullable(values: np.ndarray | pa.Array, is_null: np.ndarray, type_: pa.DataType) -> pa.Array:
    if isinstance(values, np.ndarray) and values.ndim == 2:
        data = pa.py_buffer(np.ascontiguousarray(values))
        values = pa.FixedSizeBinaryArray.from_buffers(type_, len(values), [None, data])
    array = values if isinstance(values, pa.Array) else pa.array(values, type_)
    return pc.if_else(pa.array(is_null), pa.scalar(None, type_), array)


def expected_rows(sensors: int, rows_per_sensor: int, runs: int = 1, seed: int = 1, **options: float) -> pa.Table:
    """All of `expected_batches` at once."""
    batches = expected_batches(sensors, rows_per_sensor, runs, seed, **options)  # type: ignore[arg-type]
    return pa.Table.from_batches(batches, ARROW_SCHEMA)
