"""One SSTable, written batch by batch: all eight components.

Source: org.apache.cassandra.io.sstable.format.big.BigTableWriter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corpus.chunks import Chunks
from corpus.index import Filter, Index
from corpus.kernels import INDEX_BLOCK_BYTES, NOT_DELETED, Bases, Blocks, serialise
from corpus.rows import Batch
from corpus.statistics import Collector
from corpus.table import VERSIONS, Table

COMPONENTS = ("Data", "Index", "Summary", "Filter", "Statistics", "CompressionInfo")


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, in one SSTable or several."""

    folder: Path
    rows: int
    """Rows in the SSTables, row deletions included; a row in two of them counts twice."""
    data_bytes: int
    """Of Data.db as they lie on disk."""


def sstable_path(folder: Path, version: str, generation: int, component: str) -> Path:
    """`nb-1-big-Data.db` and its like."""
    return folder / f"{version}-{generation}-big-{component}"


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


class SSTableWriter:
    """Takes batches in token order; `finish` makes the SSTable complete.

    keys: how many partitions will come (Bloom filter).
    """

    def __init__(self, folder: Path, table: Table, version: str, generation: int, bases: Bases, keys: int) -> None:
        self._bases = bases
        self._paths = {each: sstable_path(folder, version, generation, f"{each}.db") for each in COMPONENTS}
        self._digest_path = sstable_path(folder, version, generation, "Digest.crc32")
        self._toc_path = sstable_path(folder, version, generation, "TOC.txt")
        self._collector = Collector(table, version, bases)
        self._index = Index(version)
        self._filter = Filter(keys)
        self._data_file = self._paths["Data"].open("wb")
        self._index_file = self._paths["Index"].open("wb")
        self._chunks = Chunks(self._data_file)
        self._folder = folder

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
        self._data_file.close()
        self._index_file.close()
        ratio = self._chunks.offset / self._chunks.position
        self._paths["CompressionInfo"].write_bytes(info)
        self._paths["Summary"].write_bytes(self._index.summary())
        self._paths["Filter"].write_bytes(self._filter.serialise())
        self._paths["Statistics"].write_bytes(self._collector.serialise(ratio))
        self._digest_path.write_bytes(digest)
        names = [f"{each}.db" for each in COMPONENTS] + ["Digest.crc32", "TOC.txt"]
        self._toc_path.write_text("".join(f"{name}\n" for name in names))
        return Written(self._folder, self._collector.row_count, self._chunks.offset)

    def write(self, batches: Iterable[Batch]) -> Written:
        """All of an SSTable. Files are closed whatever happens."""
        try:
            for batch in batches:
                self.add(batch)
            return self.finish()
        finally:
            self._data_file.close()
            self._index_file.close()


def _room_for_blocks(count: int) -> Blocks:
    return Blocks(*(np.full(count, NOT_DELETED, np.int64) for _ in Blocks._fields))
