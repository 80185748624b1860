"""Lookups in the index of an SSTable of the `bti` format: where a partition is, or where a token begins.

Only the pages that a lookup needs are read. What the index says of a key is compared with the key itself, where the
partition is; that a partition with that key is there is for whoever reads it to see.

Source: org.apache.cassandra.io.sstable.format.bti.BtiTableReader, PartitionIndex.Reader, RowIndexReader.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice

from flightsrv.cql.byte_comparable import clustering_form, token_bound
from flightsrv.cql.decorated_key import decorated_form, filter_hash, token_form
from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.partitioners import partitioner_of
from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.io.pages import PagedFile
from flightsrv.kernels.trie_payloads import NO_HASH
from flightsrv.scan.sstables import SSTable, key_at, open_data
from flightsrv.slab import BufferPool
from flightsrv.sstable import partitions, rows
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.partitions import FOOTER_BYTES, Footer, Target
from flightsrv.sstable.rows import MAX_ENTRY_BYTES, Block, RowIndexEntry
from flightsrv.sstable.trie import Trie


@dataclass(frozen=True, slots=True)
class IndexedPartition:
    """A partition that the index knows."""

    key: bytes
    position: int
    """Where it starts in the uncompressed Data.db."""
    row_index: RowIndexEntry | None
    """None: it is so small that it has none."""


class TrieIndex:
    """Partitions.db and Rows.db of one SSTable, and the keys in its Data.db. For one thread at a time.

    Its methods raise CorruptSSTableError where the index is damaged, SSTableError when a file cannot be read.
    """

    def __init__(self, sstable: SSTable) -> None:
        self._sstable = sstable
        self._buffers = BufferPool(keep=2)
        self._partitions_path, self._rows_path = (
            sstable.descriptor.path(component) for component in ("Partitions.db", "Rows.db")
        )
        statistics = sstable.statistics
        self._partitioner = partitioner_of(statistics.partitioner)
        self._key_type = parse_marshal(statistics.header.key_type).type
        with ExitStack() as opened:
            self._data = opened.enter_context(closing(open_data(sstable)))
            self._rows = opened.enter_context(closing(PagedFile(self._rows_path)))
            self._partitions = opened.enter_context(closing(PagedFile(self._partitions_path)))
            self._trie = partitions.trie(self._partitions_at, self._footer().root)
            self._stack = opened.pop_all()

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def find(self, key: bytes) -> IndexedPartition | None:
        """The partition with this key; None when there is none."""
        try:
            form = self._form(key)
        except ValueError:  # it is no value of its type, which keys of LocalPartitioner sort by
            return None
        target = self._trie.find(form)
        if target is None or target.hash not in (NO_HASH, filter_hash(key)):
            return None
        found = self._partition(target)
        return found if found.key == key else None

    def floor(self, token: int) -> IndexedPartition | None:
        """The last partition whose token is not above this one; None when all are above.

        Raises SchemaError where tokens are no numbers.
        """
        bound = token_bound(token_form(self._partitioner, token))
        # The first may be above after all: its key is only stored up to what tells it from others.
        for path, target in islice(self._trie.descending(bound), 2):
            found = self._partition(target)
            self._check(found, path, target)
            if self._partitioner.token(found.key) <= token:
                return found
        return None

    def end_of(self, partition: IndexedPartition) -> int:
        """The position behind a partition that has a row index."""
        assert partition.row_index
        return partition.position + self._blocks(partition.row_index).last().start + 1

    def key_at(self, position: int) -> bytes:
        """The key of the partition that starts at a position of Data.db."""
        return key_at(self._sstable, self._data, self._buffers, position)

    def block(self, row_index: RowIndexEntry, kind: int, values: Sequence[bytes | None]) -> Block:
        """The last block of a partition that starts at or before a row or bound, or its end; see clustering_form.

        What comes at or behind it is in that block or in later ones. Raises SchemaError when a column's type
        has no byte-comparable form, ValueError when a value is none of its type.
        """
        types = [parse_marshal(text) for text in self._sstable.statistics.header.clustering_types]
        form = clustering_form(types, kind, values)
        for _, block in self._blocks(row_index).descending(form):
            return block
        where = Where(self._rows_path, offset=row_index.root, field="root")
        raise CorruptSSTableError("no block starts before all rows", where)

    def _form(self, key: bytes) -> bytes:
        return decorated_form(self._partitioner, self._key_type, key)

    def _check(self, found: IndexedPartition, path: bytes, target: Target) -> None:
        """Raise CorruptSSTableError unless a partition is one that may be indexed under this path."""
        is_there = found.row_index is None or self.key_at(found.position) == found.key
        has_hash = target.hash in (NO_HASH, filter_hash(found.key))
        if not (is_there and has_hash and self._form(found.key).startswith(path)):
            what = f"the partition at position {found.position} is not the one that is indexed as 0x{path[:32].hex()}"
            raise CorruptSSTableError(what, Where(self._partitions_path, field="target"))

    def _partition(self, target: Target) -> IndexedPartition:
        if target.position is not None:
            return IndexedPartition(self.key_at(target.position), target.position, None)
        offset = target.value
        cursor = Cursor(self._rows.read(offset, MAX_ENTRY_BYTES), self._rows_path, origin=offset)
        entry = rows.entry(cursor, self._sstable.descriptor.version)
        return IndexedPartition(entry.key, entry.position, entry)

    def _blocks(self, row_index: RowIndexEntry) -> Trie[Block]:
        return rows.trie(self._rows_at, row_index.root, self._sstable.descriptor.version)

    def _footer(self) -> Footer:
        size = self._partitions.size
        offset = max(0, size - FOOTER_BYTES)
        tail = self._partitions.read(offset, FOOTER_BYTES)
        return partitions.footer(Cursor(tail, self._partitions_path, origin=offset), size)

    def _partitions_at(self, offset: int) -> Cursor:
        start, page = self._partitions.page(offset)
        return Cursor(page, self._partitions_path, offset - start, origin=start)

    def _rows_at(self, offset: int) -> Cursor:
        start, page = self._rows.page(offset)
        return Cursor(page, self._rows_path, offset - start, origin=start)
