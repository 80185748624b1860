"""Where in Data.db a token range begins, from Summary.db and Index.db.

What they say is checked against each other here, and against Data.db by the run that starts there: a damaged index
costs time or gives an error, never rows.
"""

from __future__ import annotations

import numpy as np

from flightsrv.errors import SSTableError
from flightsrv.io.buffered import BufferedFile, read_component
from flightsrv.kernels.murmur3 import tokens_of
from flightsrv.scan.sstables import SSTable
from flightsrv.sstable import summary
from flightsrv.sstable.cursor import Cursor
from flightsrv.stages.decode import FILE_START, Start

_ENTRY_BYTES = 2 + 65535 + 9
"""The longest key and position of an Index.db entry."""


def start_of(sstable: SSTable, after: int) -> Start:
    """A partition at or before the first whose token is above `after`; the file's start if the index cannot tell."""
    try:
        return _indexed_start(sstable, after)
    except SSTableError:
        return FILE_START


def _indexed_start(sstable: SSTable, after: int) -> Start:
    if not {"Summary.db", "Index.db"} <= sstable.components:
        return FILE_START
    path = sstable.descriptor.path("Summary.db")
    sampled = summary.parse(Cursor(read_component(path), path))
    keys = [sampled.key(i) for i in range(sampled.entry_count)]
    tokens = _tokens(keys)
    if np.any(tokens[1:] < tokens[:-1]):
        return FILE_START
    sample = int(np.searchsorted(tokens, after, side="left")) - 1
    if sample < 0:
        return FILE_START
    path = sstable.descriptor.path("Index.db")
    file = BufferedFile(path)
    try:
        offset = int(sampled.index_offsets[sample])
        data = np.empty(max(0, min(_ENTRY_BYTES, file.size - offset)), np.uint8)
        file.read_into(offset, data)
    finally:
        file.close()
    cursor = Cursor(data.tobytes(), path)
    if cursor.sbytes("key") != keys[sample]:
        return FILE_START
    position = cursor.uvint("position")
    return Start(position, keys[sample]) if position < sstable.data_length else FILE_START


def _tokens(keys: list[bytes]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    size = np.array([len(key) for key in keys], np.int64)
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(size)))[:-1]
    tokens = np.empty(len(keys), np.int64)
    tokens_of(np.frombuffer(b"".join(keys), np.uint8), start, size, tokens)
    return tokens
