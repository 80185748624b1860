"""SSTables, written batch by batch: all eight components of each.

Source: org.apache.cassandra.io.sstable.format.big.BigTableWriter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from corpus.chunks import Chunks
from corpus.index import Filter, Index
from corpus.kernels import INDEX_BLOCK_BYTES, serialise
from corpus.rows import Batch
from corpus.statistics import Collector
from corpus.table import VERSIONS, Table
from corpus.unfiltereds import NOT_DELETED, Bases, Blocks


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, in one SSTable or several."""

    folder: Path
    rows: int
    """Rows in the SSTables, row deletions included; a row in two of them counts twice."""
    data_bytes: int
    """Of Data.db as they lie on disk."""

    def __add__(self, other: Written) -> Written:
        return Written(self.folder, self.rows + other.rows, self.data_bytes + other.data_bytes)


@dataclass(frozen=True, slots=True)
class SSTable:
    """Where an SSTable is to stand."""

    folder: Path
    table: Table
    version: str
    generation: int

    def path(self, component: str) -> Path:
        """`nb-1-big-Data.db` and its like."""
        return self.folder / f"{self.version}-{self.generation}-big-{component}"

    def write(self, batches: Iterable[Batch], keys: int, bases: Bases) -> Written:
        """Write all of it, or nothing at all when there are no batches.

        keys: how many partitions will come, at most; the Bloom filter is made for so many.
        """
        batches = iter(batches)
        first = next(batches, None)
        if first is None:
            return Written(self.folder, 0, 0)
        with self.path("Data.db").open("wb") as data_file, self.path("Index.db").open("wb") as index_file:
            parts = _Parts(self, data_file, index_file, keys, bases)
            for batch in chain([first], batches):
                parts.add(batch)
            return parts.finish()


class Content(Protocol):
    """What decides every row of a table; the files and the expected rows are both made from it."""

    @property
    def runs(self) -> int:
        """How many SSTables there are."""

    def batch(self, run: int, numbers: np.ndarray) -> Batch | None:
        """What a run has of these partitions, which are in token order; None when that is nothing."""

    def keys(self, run: int, order: np.ndarray) -> int:
        """How many of these partitions a run has, at most."""

    def bases(self, run: int, version: str) -> Bases:
        """What the run's times are written against."""


def write_runs(
    folder: Path,
    table: Table,
    version: str,
    content: Content,
    order: np.ndarray,
    step: int,
    progress: Callable[[int], None] | None,
) -> Written:
    """Write a table below a prepared folder, one SSTable a run, `step` partitions at a time; `progress` hears of each
    partition once a run. order: int64, the numbers of the partitions in token order.
    """

    def batches(run: int) -> Iterator[Batch]:
        for start in range(0, len(order), step):
            numbers = order[start : start + step]
            batch = content.batch(run, numbers)
            if batch is not None:
                yield batch
            if progress:
                progress(len(numbers))

    total = Written(folder, 0, 0)
    for run in range(content.runs):
        sstable = SSTable(folder, table, version, run + 1)
        total += sstable.write(batches(run), content.keys(run, order), content.bases(run, version))
    return total


def prepare_folder(data: Path, table: Table, version: str) -> Path:
    """Make a table's folder with its schema.cql below a data folder, ready for SSTables.

    Raises FileExistsError when SSTables are there already, ValueError for a version that is not written here.
    """
    if version not in VERSIONS:
        raise ValueError(f"version {version!r} is not one of {', '.join(VERSIONS)}")
    folder = table.folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("*-Data.db")):
        raise FileExistsError(f"{folder} already holds SSTables")
    (folder / "schema.cql").write_text(table.cql())
    return folder


class _Parts:
    """The components of an SSTable while they are made."""

    def __init__(self, sstable: SSTable, data_file: BinaryIO, index_file: BinaryIO, keys: int, bases: Bases) -> None:
        self._sstable = sstable
        self._bases = bases
        self._collector = Collector(sstable.table, sstable.version, bases)
        self._index = Index(sstable.version)
        self._filter = Filter(keys)
        self._chunks = Chunks(data_file)
        self._index_file = index_file

    def add(self, batch: Batch) -> None:
        """Append partitions."""
        count = batch.partition_count
        room = batch.room_bytes()
        out, start = self._chunks.room(room)
        places, headers = np.empty(count + 1, np.int64), np.empty(count, np.int64)
        blocks = _room_for_blocks(2 * (room // INDEX_BLOCK_BYTES) + 2)
        scratch = np.empty(batch.scratch_bytes(), np.uint8)
        columns = batch.columns()
        base = self._chunks.position - start
        block_count = serialise(
            batch.partitions, batch.rows, columns, self._bases, scratch, out, start, places, headers, blocks
        )
        blocks = Blocks(*(each[:block_count] for each in blocks))
        self._index_file.write(self._index.add(batch, base + places[:-1], headers, blocks))
        self._filter.add(batch)
        self._collector.add(batch, np.diff(places))
        self._chunks.took(int(places[-1]))

    def finish(self) -> Written:
        """Write the components that are known only now."""
        info, digest = self._chunks.finish()
        ratio = self._chunks.offset / self._chunks.position
        small = {
            "CompressionInfo.db": info,
            "Digest.crc32": digest,
            "Filter.db": self._filter.serialise(),
            "Statistics.db": self._collector.serialise(ratio),
            "Summary.db": self._index.summary(),
        }
        names = sorted([*small, "Data.db", "Index.db", "TOC.txt"])
        small["TOC.txt"] = "".join(f"{name}\n" for name in names).encode()
        for name, data in small.items():
            self._sstable.path(name).write_bytes(data)
        return Written(self._sstable.folder, self._collector.row_count, self._chunks.offset)


def _room_for_blocks(count: int) -> Blocks:
    return Blocks(*(np.full(count, NOT_DELETED, np.int64) for _ in Blocks._fields))
