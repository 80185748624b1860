"""Expected rows: made of arrays, and compared with a scan's by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def strings(data: np.ndarray, starts: np.ndarray) -> pa.Array:
    """Texts that lie back to back. data: uint8; starts: int64 (n + 1,)."""
    offsets = pa.py_buffer(starts.astype(np.int32))
    return pa.StringArray.from_buffers(len(starts) - 1, offsets, pa.py_buffer(data[: starts[-1]]))


def nullable(array: pa.Array, is_null: np.ndarray) -> pa.Array:
    """The same array with nulls where is_null, bool (n,), says so."""
    return pc.if_else(pa.array(is_null), pa.scalar(None, array.type), array)


class _ColumnHash:
    """Validity (a byte a row), sizes (int32 little-endian, texts and collections only) and values (without nulls),
    hashed apart; of a collection or a struct, in place of values, each part as a column of its own.
    """

    def __init__(self) -> None:
        self._parts = [hashlib.sha256() for _ in range(3)]
        self._children: dict[int, _ColumnHash] = {}

    def add(self, column: pa.Array) -> None:
        validity, sizes, values = self._parts
        validity.update(np.asarray(column.is_valid()).astype(np.uint8).data)
        column = column.drop_null()
        if pa.types.is_nested(column.type):
            if not pa.types.is_struct(column.type):
                sizes.update(np.diff(np.asarray(column.offsets)).astype("<i4").data)
            for number, child in enumerate(_children(column)):
                self._children.setdefault(number, _ColumnHash()).add(child)
            return
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
        parts = [each.digest() for each in self._parts]
        return b"".join(parts + [each.digest() for each in self._children.values()])


def _children(column: pa.Array) -> list[pa.Array]:
    """The parts of a column of collections or structs without nulls."""
    if pa.types.is_struct(column.type):
        parts: list[pa.Array] = column.flatten()
        return parts
    start, stop = column.offsets[0].as_py(), column.offsets[-1].as_py()
    parts = [column.keys, column.items] if pa.types.is_map(column.type) else [column.values]
    return [part.slice(start, stop - start) for part in parts]


def rows_hash(batches: Iterable[pa.RecordBatch]) -> str:
    """SHA-256 of rows in order, however they are cut into batches.

    For each column, in order: its name, then the SHA-256 each of validity, sizes and values (`_ColumnHash`). Equal for
    string and binary of either offset width; a timestamp counts as its integer. Columns: numbers, booleans, times,
    decimals, strings, binaries, and lists, maps and structs of them.
    """
    columns: dict[str, _ColumnHash] = {}
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            columns.setdefault(name, _ColumnHash()).add(column)
    whole = hashlib.sha256()
    for name, column in columns.items():
        whole.update(name.encode() + b"\0" + column.digest())
    return whole.hexdigest()
