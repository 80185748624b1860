"""Index.db, Summary.db and Filter.db: how a key is found.

Index.db, an entry a partition:      utf key, vint position, vint size, then with a promoted index: vint header bytes,
                                     partition deletion, vint block count, blocks, i32 offset of each
Summary.db, every 128th entry of it: i32 128, i32 entries, i64 size, i32 128, i32 entries, then little-endian i32 offset
                                     of each, then each: key, little-endian i64 offset in Index.db; first and last key
Filter.db:                           i32 hash count, i32 words, bits

Sources: org.apache.cassandra.io.sstable.format.big.RowIndexEntry, io.sstable.IndexInfo,
io.sstable.indexsummary.IndexSummary, utils.BloomFilterSerializer, utils.BloomCalculations.
"""

from __future__ import annotations

import struct

import numpy as np

from corpus.encoding import deletion_time, i32, i64, sbytes, signed_vint, vint
from corpus.kernels import index_entries
from corpus.key_hashes import bloom_add
from corpus.rows import Batch
from corpus.unfiltereds import NOT_DELETED, ROW, Blocks

MIN_INDEX_INTERVAL = 128
_BITS_PER_KEY, _HASH_COUNT = 10, 5
"""BloomCalculations for a false positive chance of 0.01."""
_ENTRY_BYTES = 12


class Index:
    """Makes Index.db's entries, and keeps what Summary.db needs."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._offset = 0
        self._entries = 0
        self._summary: list[tuple[bytes, int]] = []
        self._first_key: bytes | None = None
        self._last_key = b""

    def add(self, batch: Batch, positions: np.ndarray, headers: np.ndarray, blocks: Blocks) -> memoryview:
        """The entries of a batch. positions, headers: int64 (partitions,); blocks: cut to those there are."""
        partitions = batch.partitions
        starts = np.empty(batch.partition_count + 1, np.int64)
        if len(blocks.partition) == 0:
            out = np.empty(len(partitions.keys) + _ENTRY_BYTES * batch.partition_count, np.uint8)
            index_entries(partitions, positions, out, starts)
            entries = out[: starts[-1]].data
        else:
            parts = [
                self._entry(batch, p, int(positions[p]), int(headers[p]), blocks) for p in range(batch.partition_count)
            ]
            np.cumsum([0, *map(len, parts)], out=starts)
            entries = memoryview(b"".join(parts))
        self._sample(batch, starts)
        return entries

    def _entry(self, batch: Batch, p: int, position: int, header: int, blocks: Blocks) -> bytes:
        partitions = batch.partitions
        key = partitions.keys[partitions.key_starts[p] : partitions.key_starts[p + 1]].tobytes()
        mine = range(*np.searchsorted(blocks.partition, [p, p + 1]).tolist())
        promoted = b""
        if mine:
            infos = [self._info(batch, b, blocks) for b in mine]
            offsets = np.cumsum([0, *map(len, infos[:-1])]).tolist()
            deleted_us = int(partitions.deleted_us[p])
            deletion = deletion_time(None if deleted_us == NOT_DELETED else deleted_us, self._version)
            promoted = vint(header) + deletion + vint(len(infos)) + b"".join(infos) + i32(*offsets)
        return sbytes(key) + vint(position) + vint(len(promoted)) + promoted

    def _info(self, batch: Batch, b: int, blocks: Blocks) -> bytes:
        """IndexInfo: first and last prefix, offset, width, and the range deletion open at the end."""
        prefixes = b""
        for i in (blocks.first[b], blocks.last[b]):
            kind, value = int(batch.rows.kind[i]), i64(int(batch.rows.clustering[i]))
            prefixes += bytes([kind, 0]) + value if kind == ROW else bytes([kind, 0, 1, 0]) + value
        open_us = int(blocks.open_us[b])
        opened = b"\0" if open_us == NOT_DELETED else b"\1" + deletion_time(open_us, self._version)
        return prefixes + vint(int(blocks.offset[b])) + signed_vint(int(blocks.width[b]) - 65536) + opened

    def _sample(self, batch: Batch, starts: np.ndarray) -> None:
        partitions = batch.partitions

        def key(p: int) -> bytes:
            return partitions.keys[partitions.key_starts[p] : partitions.key_starts[p + 1]].tobytes()

        for p in range(-self._entries % MIN_INDEX_INTERVAL, batch.partition_count, MIN_INDEX_INTERVAL):
            self._summary.append((key(p), self._offset + int(starts[p])))
        if self._first_key is None:
            self._first_key = key(0)
        self._last_key = key(batch.partition_count - 1)
        self._entries += batch.partition_count
        self._offset += int(starts[-1])

    def summary(self) -> bytes:
        """The whole Summary.db, at full sampling."""
        entries = [key + struct.pack("<q", offset) for key, offset in self._summary]
        count = len(entries)
        offsets = 4 * count + np.cumsum([0, *map(len, entries)])
        head = i32(MIN_INDEX_INTERVAL, count) + i64(int(offsets[-1])) + i32(MIN_INDEX_INTERVAL, count)
        ends = b"".join(i32(len(key)) + key for key in (self._first_key or b"", self._last_key))
        return head + offsets[:-1].astype("<i4").tobytes() + b"".join(entries) + ends


class Filter:
    """The Bloom filter of a known number of keys."""

    def __init__(self, keys: int) -> None:
        words = -(-(keys * _BITS_PER_KEY + 20) // 64)
        self._bits = np.zeros(8 * words, np.uint8)

    def add(self, batch: Batch) -> None:
        bloom_add(batch.partitions, _HASH_COUNT, self._bits)

    def serialise(self) -> bytes:
        """The whole Filter.db, bytes in the order of 4.0."""
        return i32(_HASH_COUNT, len(self._bits) // 8) + self._bits.tobytes()
