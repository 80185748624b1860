"""Comparing a scan with what the corpus expects, by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class _ColumnHash:
    """Validity (a byte a row), sizes (int32 little-endian, texts only) and values (without nulls), hashed apart."""

    def __init__(self) -> None:
        self._parts = [hashlib.sha256() for _ in range(3)]

    def add(self, column: pa.Array) -> None:
        validity, sizes, values = self._parts
        validity.update(np.asarray(column.is_valid()).astype(np.uint8).data)
        column = column.drop_null()
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        if pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type):
            column = column.cast(pa.binary())
        start, stop = column.offset, column.offset + len(column)
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            sizes.update(pc.binary_length(column).to_numpy(zero_copy_only=False).astype("<i4").data)
            _, offsets, data = column.buffers()
            bounds = np.frombuffer(offsets, np.int32) if offsets else np.zeros(1, np.int32)
            start, stop = (int(bounds[start]), int(bounds[stop])) if len(column) else (0, 0)
            width = 1
        else:
            data = column.buffers()[1]
            width = column.type.bit_width // 8
        if stop > start:
            values.update(memoryview(data)[start * width : stop * width])

    def digest(self) -> bytes:
        return b"".join(each.digest() for each in self._parts)


def rows_hash(batches: Iterable[pa.RecordBatch]) -> str:
    """SHA-256 of rows in order, however they are cut into batches.

    For each column, in order: its name, then the SHA-256 each of validity, sizes and values (`_ColumnHash`). Equal for
    string and binary of either offset width; a timestamp counts as its integer. Columns: numbers, booleans, timestamps,
    strings, fixed-size binaries.
    """
    columns: dict[str, _ColumnHash] = {}
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            columns.setdefault(name, _ColumnHash()).add(column)
    whole = hashlib.sha256()
    for name, column in columns.items():
        whole.update(name.encode() + b"\0" + column.digest())
    return whole.hexdigest()
