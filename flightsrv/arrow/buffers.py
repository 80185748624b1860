"""What a column is grown in: memory that is used again for each batch, and what all its levels have.

A builder owns its buffers. `append` takes places of values (addresses and sizes) and lets a kernel copy them; `parts`
gives the buffers in Arrow's layout, valid until `reset`.

Source of the layout: Arrow Columnar Format 1.5, Physical Memory Layout.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa

from flightsrv.arrow.parts import Parts
from flightsrv.cql.types import CqlType
from flightsrv.errors import ValueFormError
from flightsrv.slab import Array


class Builder(Protocol):
    """Grows one column, or one level of it."""

    type: pa.DataType
    length: int
    null_count: int

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        """Append values start..stop of at (int64) and size (int32). Raises ValueFormError; the builder is of no use
        then.
        """

    @property
    def arrow_bytes(self) -> int:
        """Bytes of Arrow so far, but for validity bitmaps and the first offset."""

    def parts(self) -> Parts:
        """What was appended since the last reset."""

    def reset(self) -> None:
        """Begin the next batch."""

    def take_nulls(self, start: int) -> Array:
        """Indices, from `start` on, of values that are null; they are null no more, their content is undefined."""


class Buffer:
    """Memory that grows and is used again. `data` is uint8; what `fill` says is in all of it at first and after
    reset.
    """

    def __init__(self, fill: int | None = None) -> None:
        self.fill = fill
        self.data: Array = np.empty(0, np.uint8)
        self.grow(4096)

    def grow(self, size: int) -> Array:
        """Have room for `size` bytes and SLACK more; keeps what is there."""
        if size > self.data.size:
            data = np.empty(max(size, 2 * self.data.size), np.uint8)
            data[: self.data.size] = self.data
            if self.fill is not None:
                data[self.data.size :] = self.fill
            self.data = data
        return self.data

    def refill(self, used: int) -> None:
        """Put `fill` back into the first `used` bytes."""
        if self.fill is not None:
            self.data[:used] = self.fill


def bitmap_bytes(length: int) -> int:
    """Bytes of a bitmap."""
    return (length + 7) >> 3


class Level:
    """What all builders share: a length, nulls and a validity bitmap."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        self.type = into
        self.cql = cql
        self.length = 0
        self.null_count = 0
        self.valid = Buffer(fill=255)

    def appended(self, count: int, nulls: int) -> None:
        """Count what a kernel has appended; below 0, `nulls` says that it could not."""
        if nulls < 0:
            raise ValueFormError(f"bytes that are not a value of {self.cql}")
        self.length += count
        self.null_count += nulls

    def validity(self) -> Array | None:
        return self.valid.data[: bitmap_bytes(self.length)] if self.null_count else None

    def take_nulls(self, start: int) -> Array:
        bits = np.unpackbits(self.valid.data[: bitmap_bytes(self.length)], count=self.length, bitorder="little")
        nulls = start + np.flatnonzero(bits[start:] == 0)
        self.valid.data[nulls >> 3] |= np.uint8(1) << (nulls & 7).astype(np.uint8)
        self.null_count -= nulls.size
        return nulls

    def reset(self) -> None:
        self.valid.refill(bitmap_bytes(self.length))
        self.length = 0
        self.null_count = 0
