"""A column as Arrow's buffers, before it is either a pyarrow array or part of a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from flightsrv.slab import Array


@dataclass(slots=True)
class Parts:
    """One level of a column: its length, nulls and buffers (uint8 arrays, None where left out), and its children's."""

    type: pa.DataType
    length: int
    null_count: int
    buffers: list[Array | None]
    children: list[Parts] = field(default_factory=list)

    def levels(self) -> Iterator[Parts]:
        """This level and all below, in the order of Arrow's IPC."""
        yield self
        for child in self.children:
            yield from child.levels()


def array_of(parts: Parts) -> pa.Array:
    """A pyarrow array over the very buffers: valid as long as they are."""
    buffers = [None if buffer is None else pa.py_buffer(buffer) for buffer in parts.buffers]
    children = [array_of(child) for child in parts.children]
    return pa.Array.from_buffers(parts.type, parts.length, buffers, parts.null_count, children=children)


def is_utf8(offsets: Array, values: Array, start: int, stop: int) -> bool:
    """Whether each of the texts start..stop is UTF-8. offsets: int32, values: uint8."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    try:
        pa.Array.from_buffers(pa.string(), stop - start, buffers, 0, start).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
