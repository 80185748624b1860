"""Annotated dumps of files: a component of an SSTable, with what its neighbours must tell to read it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from flightsrv.errors import LimitError, SSTableError, UnsupportedSSTableError, Where
from flightsrv.io.buffered import read_component
from flightsrv.scan.live import find_sstables
from flightsrv.scan.sstables import SSTable, open_data, open_sstable
from flightsrv.slab import Array, BufferPool
from flightsrv.sstable import statistics
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.describe import describe, describe_data
from flightsrv.sstable.descriptor import Descriptor, parse_name
from flightsrv.sstable.dump import dump
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.version import version_of
from flightsrv.stages import in_turn
from flightsrv.stages.decompress import decompress
from flightsrv.stages.read import read

MAX_DATA_BYTES = 1 << 30
"""Uncompressed bytes of a Data.db that is taken into memory for its dump."""


def describe_file(path: Path) -> Iterator[str]:
    """The dump of a component, a line a field; offsets in a Data.db are positions in its uncompressed data.

    Raises UnsupportedSSTableError for other files, CorruptSSTableError behind the last line that can be read,
    SSTableError when a file cannot be read, LimitError when a Data.db is too large.
    """
    name = parse_name(path.name)
    if name is None:
        raise UnsupportedSSTableError("it does not have the name of an SSTable's file", Where(str(path)))
    descriptor = Descriptor(str(path.parent), version_of(name.format, name.letters, str(path)), name.id)
    if name.component == "Data.db":
        yield from _data_lines(descriptor)
        return
    content = read_component(str(path))
    yield from dump(describe(str(path), content, _header(descriptor), _partitions(descriptor)), content)


def _header(descriptor: Descriptor) -> SerializationHeader | None:
    """What Statistics.db says of the columns; None when it is not there, or damaged."""
    path = descriptor.path("Statistics.db")
    try:
        return statistics.parse(Cursor(read_component(path), path), descriptor.version).header
    except SSTableError:
        return None


def _partitions(descriptor: Descriptor) -> bytes | None:
    """Partitions.db, None when it is not there."""
    try:
        return read_component(descriptor.path("Partitions.db"))
    except SSTableError:
        return None


def _data_lines(descriptor: Descriptor) -> Iterator[str]:
    sstable = open_sstable(descriptor, find_sstables(Path(descriptor.path("Data.db")).parent)[descriptor])
    if sstable.data_length > MAX_DATA_BYTES:
        what = f"{sstable.data_length} bytes uncompressed are more than the {MAX_DATA_BYTES} that can be described"
        raise LimitError(f"{Where(sstable.data_path)}: {what}")
    data, damage = _uncompressed(sstable)
    lines = describe_data(data.tobytes(), sstable.statistics.header, descriptor.version, sstable.data_path)
    try:
        yield from dump(lines, data.data)
    except SSTableError:
        if damage is None:
            raise
    if damage is not None:
        raise damage


def _uncompressed(sstable: SSTable) -> tuple[Array, SSTableError | None]:
    """The data up to the first chunk that is damaged, and what is wrong with that."""
    data = np.empty(sstable.data_length, np.uint8)
    buffers = BufferPool()
    done = 0
    with closing(open_data(sstable)) as file:
        extents = sstable.extents(0, sstable.data_length, 1, 1)  # chunk by chunk: those before a damaged one count
        try:
            for window in decompress(read(extents, file, buffers, in_turn), sstable.chunks, buffers, in_turn):
                size = window.stop - window.start
                data[done : done + size] = window.data[window.start : window.stop]
                done += size
                window.release()
        except SSTableError as error:
            return data[:done], error
    return data[:done], None
