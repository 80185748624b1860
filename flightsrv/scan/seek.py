"""Where in Data.db a token range begins, from Summary.db and Index.db, or from Partitions.db and Rows.db.

What they say is checked against each other here, and against Data.db by the run that starts there: a damaged index
costs time or gives an error, never rows.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import closing, suppress

import numpy as np

from flightsrv.errors import SSTableError
from flightsrv.io.buffered import BufferedFile, read_component
from flightsrv.scan.sstables import SSTable
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.scan.trie_index import IndexedPartition, TrieIndex
from flightsrv.sstable import summary
from flightsrv.sstable.cursor import Cursor
from flightsrv.stages.decode import FILE_START, Start

_ENTRY_BYTES = 2 + 65535 + 9
"""The longest key and position of an Index.db entry."""


def start_of(sstable: SSTable, wanted: TokenRange) -> Start:
    """A partition at or before the first that is wanted; the file's start if the index cannot tell."""
    if wanted.after == wanted.partitioner.least_token:
        return FILE_START
    find = _trie_start if sstable.descriptor.version.format == "bti" else _indexed_start
    try:
        return find(sstable, wanted)
    except SSTableError:
        return FILE_START


def _trie_start(sstable: SSTable, wanted: TokenRange) -> Start:
    if not {"Partitions.db", "Rows.db"} <= sstable.components:
        return FILE_START
    with closing(TrieIndex(sstable)) as index:
        found = index.floor(wanted.after)
        if found is None:
            return FILE_START
        if found.row_index is not None:
            with suppress(SSTableError):
                return _behind(sstable, index, found)
        return Start(found.position, found.key)


def _behind(sstable: SSTable, index: TrieIndex, found: IndexedPartition) -> Start:
    """Behind a wide partition, which is not wanted, if both of its index's files agree where that is."""
    position = index.end_of(found)
    if position == sstable.data_length:
        return Start(position, None)
    behind = index.find(index.key_at(position))
    if behind is None or behind.position != position:
        return Start(found.position, found.key)
    return Start(position, behind.key)


def _indexed_start(sstable: SSTable, wanted: TokenRange) -> Start:
    if not {"Summary.db", "Index.db"} <= sstable.components:
        return FILE_START
    path = sstable.descriptor.path("Summary.db")
    sampled = summary.parse(Cursor(read_component(path), path))
    # Wherever this ends, in whatever order samples are: the token of the last one before it was seen to be below.
    behind = bisect_left(
        range(sampled.entry_count), wanted.after, key=lambda sample: wanted.partitioner.token(sampled.key(sample))
    )
    if behind == 0:
        return FILE_START
    key = sampled.key(behind - 1)
    path = sstable.descriptor.path("Index.db")
    file = BufferedFile(path)
    try:
        offset = int(sampled.index_offsets[behind - 1])
        data = np.empty(max(0, min(_ENTRY_BYTES, file.size - offset)), np.uint8)
        file.read_into(offset, data)
    finally:
        file.close()
    cursor = Cursor(data.tobytes(), path)
    if cursor.sbytes("key") != key:
        return FILE_START
    position = cursor.uvint("position")
    return Start(position, key) if position < sstable.data_length else FILE_START
