"""bench.keyvalue: one row a partition, a text of about 200 bytes that LZ4 makes 1.4 times smaller.

Key number i stands in run i % runs and, one time in five, in each other run as well; a later run has a later timestamp.
On request rows have a TTL of 1 to 3650 days, and keys are deleted: half of those are written again, 1 µs later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from corpus.draw import below, chance, draw, stream
from corpus.expect import strings
from corpus.order import in_token_order
from corpus.rows import Batch, plain_rows
from corpus.statistics import DELETION_EPOCH_S
from corpus.table import COMPRESSION_CQL, MARSHAL, Table
from corpus.texts import draw_texts, put_keys
from corpus.unfiltereds import EXPIRING, NOT_DELETED, Bases, Partitions
from corpus.values import Values
from corpus.writer import Written, prepare_folder, write_runs

TABLE = Table(
    name="keyvalue",
    columns_cql="key text PRIMARY KEY, value text",
    options_cql=COMPRESSION_CQL,
    clustering_classes=(),
    columns=(("value", MARSHAL + "UTF8Type"),),
)
ARROW_SCHEMA = pa.schema([("key", pa.string()), ("value", pa.string())])
FIRST_TIMESTAMP_US = 1_700_000_000_000_000
RUN_STEP_US = 1_000_000
LONGEST_TTL_DAYS = 3650
_DAY_S = 86_400
_BATCH_PARTITIONS = 8192

_VALUE, _IN_RUN, _TTL, _TTL_DAYS, _DELETED, _WRITTEN_AGAIN = range(6)
"""Fields of draws."""
_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
_WORDS = (
    b'{"state":"open",',
    b'{"state":"paid",',
    b'{"state":"late",',
    b'"city":"Utrecht",',
    b'"city":"Lisbon",',
    b'"city":"Osaka",',
    b'"currency":"EUR",',
    b'"currency":"JPY",',
    b'"channel":"web",',
    b'"channel":"store",',
    b'"created":"2023-",',
    b'"due_days":30,',
    b'"notes":["gift"],',
    b'"notes":[],"vat":',
    b'"customer":{"id":',
    b'"tier":"gold","ref":',
)
_WORD_BYTES = np.frombuffer(b"".join(_WORDS), np.uint8)
_WORD_STARTS = np.cumsum([0, *map(len, _WORDS)])
_MOST_VALUE_BYTES = 4 * max(map(len, _WORDS)) + 160


@dataclass(frozen=True, slots=True)
class _Content:
    """A Content of corpus.writer."""

    partitions: int
    runs: int
    seed: int
    ttl_share: float
    deletion_share: float

    def written_us(self, run: int) -> int:
        return FIRST_TIMESTAMP_US + run * RUN_STEP_US

    def in_run(self, numbers: np.ndarray, run: int) -> np.ndarray:
        if self.runs == 1:
            return np.ones(len(numbers), bool)
        also = chance(stream(self.seed, run, _IN_RUN), numbers, 0.2)
        there: np.ndarray = (numbers % self.runs == run) | also
        return there

    def ttl_s(self, numbers: np.ndarray, run: int) -> np.ndarray:
        """int64: time to live of the rows of a run, 0 for ever."""
        if self.ttl_share == 0:
            return np.zeros(len(numbers), np.int64)
        expires = chance(stream(self.seed, run, _TTL), numbers, self.ttl_share)
        days = 1 + below(draw(stream(self.seed, run, _TTL_DAYS), numbers), LONGEST_TTL_DAYS)
        return np.where(expires, days * _DAY_S, 0)

    def deleted(self, numbers: np.ndarray, run: int) -> np.ndarray:
        return chance(stream(self.seed, run, _DELETED), numbers, self.deletion_share)

    def has_row(self, numbers: np.ndarray, run: int) -> np.ndarray:
        """bool: not deleted, or written again after it."""
        again = chance(stream(self.seed, run, _WRITTEN_AGAIN), numbers, 0.5)
        there: np.ndarray = ~self.deleted(numbers, run) | again
        return there

    def keys(self, run: int, order: np.ndarray) -> int:
        return int(self.in_run(order, run).sum())

    def batch(self, run: int, numbers: np.ndarray) -> Batch | None:
        numbers = numbers[self.in_run(numbers, run)]
        return _batch(self, run, numbers) if len(numbers) else None

    def bases(self, run: int, version: str) -> Bases:
        written_us = self.written_us(run)
        base_us, base_s = written_us, DELETION_EPOCH_S
        if self.ttl_share:
            base_s = written_us // 1_000_000 + _DAY_S
        if self.deletion_share:
            base_us = written_us - 1
            base_s = base_us // 1_000_000
        return Bases(base_us, base_s, 0, False, version == "oa")


def keys_of(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`user:0000000042` and so on: uint8 back to back, int64 starts."""
    starts = np.empty(len(numbers) + 1, np.int64)
    keys = np.empty(len(numbers) * 15, np.uint8)
    put_keys(np.frombuffer(b"user:", np.uint8), numbers, 10, starts, keys)
    return keys, starts


def _values_of(streams: np.ndarray, numbers: np.ndarray) -> Values:
    starts = np.empty(len(numbers) + 1, np.int64)
    out = np.empty(len(numbers) * _MOST_VALUE_BYTES, np.uint8)
    draw_texts(streams, numbers, _WORD_BYTES, _WORD_STARTS, _ALPHABET, starts, out)
    return Values(out, 0, starts)


def _batch(content: _Content, run: int, numbers: np.ndarray) -> Batch:
    written_us = content.written_us(run)
    has_row = content.has_row(numbers, run)
    with_row = numbers[has_row]
    first = np.concatenate([[0], np.cumsum(has_row)])
    deleted_us = np.where(content.deleted(numbers, run), written_us - 1, NOT_DELETED)
    rows = plain_rows(len(with_row), 1, written_us)
    ttl_s = content.ttl_s(with_row, run)
    rows.ttl_s[:] = ttl_s
    rows.liveness[ttl_s > 0] = EXPIRING
    rows.cells[ttl_s > 0, 0] = EXPIRING
    values = _values_of(np.full(len(with_row), stream(content.seed, run, _VALUE)), with_row)
    return Batch(Partitions(*keys_of(numbers), first, deleted_us), rows, (values,))


def write(
    folder: Path,
    partitions: int,
    runs: int = 1,
    version: str = "nb",
    seed: int = 1,
    *,
    ttl_share: float = 0.0,
    deletion_share: float = 0.0,
    progress: Callable[[int], None] | None = None,
) -> Written:
    """Write the table below a data folder, one SSTable a run; `progress` hears of each partition once a run.

    Raises FileExistsError when the table's folder already holds SSTables, ValueError for a version it cannot write.
    """
    content = _Content(partitions, runs, seed, ttl_share, deletion_share)
    table_folder = prepare_folder(folder, TABLE, version)
    order = in_token_order(partitions, keys_of)
    return write_runs(table_folder, TABLE, version, content, order, _BATCH_PARTITIONS, progress)


def expected_batches(
    partitions: int,
    runs: int = 1,
    seed: int = 1,
    *,
    ttl_share: float = 0.0,
    deletion_share: float = 0.0,
    now_s: int = 0,
    batch_rows: int = 65_536,
) -> Iterator[pa.RecordBatch]:
    """The rows a reader must give at `now_s`, in token order.

    The newest run that knows a key decides alone: its row, unless it deleted the key for good or the row has expired.
    """
    content = _Content(partitions, runs, seed, ttl_share, deletion_share)
    order = in_token_order(partitions, keys_of)
    value_streams = np.array([stream(seed, run, _VALUE) for run in range(runs)])
    for start in range(0, partitions, batch_rows):
        numbers = order[start : start + batch_rows]
        newest = np.zeros(len(numbers), np.int64)
        shown = np.zeros(len(numbers), bool)
        for run in range(runs):
            ttl_s = content.ttl_s(numbers, run)
            lives = (ttl_s == 0) | (content.written_us(run) // 1_000_000 + ttl_s > now_s)
            there = content.in_run(numbers, run)
            newest[there] = run
            shown[there] = (content.has_row(numbers, run) & lives)[there]
        numbers, newest = numbers[shown], newest[shown]
        values = _values_of(value_streams[newest], numbers)
        yield pa.record_batch([strings(*keys_of(numbers)), strings(values.data, values.starts)], ARROW_SCHEMA)


def expected_rows(partitions: int, runs: int = 1, seed: int = 1, **options: float) -> pa.Table:
    """All of `expected_batches` at once."""
    return pa.Table.from_batches(expected_batches(partitions, runs, seed, **options), ARROW_SCHEMA)  # type: ignore[arg-type]
