"""Regular columns of a series, of simple types: how each is drawn, how it is stored, and how a reader must show it.

Source of the stored forms: org.apache.cassandra.db.marshal, org.apache.cassandra.serializers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from corpus.series_cells import Cells
from corpus.table import MARSHAL
from corpus.values import Elements, Values, fixed, ragged, texts

Draw = Callable[[Cells], np.ndarray]
"""What a column's values are made of: one number, or one row of bytes, for each row."""
_DATE_EPOCH = 2**31


@dataclass(frozen=True, slots=True)
class Column:
    """A regular column of a series."""

    cql: str
    cls: str
    """Its class as an SSTable's header names it."""
    arrow: pa.DataType
    stored: Callable[[Cells], Values | Elements]
    shown: Callable[[Cells], pa.Array]
    has: Draw | None = None
    """bool (n,): whether an INSERT sets it; None where it always does."""
    is_complex: bool = False
    """Whether each of its elements is a cell."""
    is_empty: Draw | None = None
    """bool (n,): whether what an INSERT sets has no element, and is shown as null; None where it always has one."""

    def left_out(self, has: Draw) -> Column:
        """The same column, which not every INSERT sets."""
        return replace(self, has=has)


class _Number(NamedTuple):
    cls: str
    arrow: pa.DataType
    dtype: str
    is_sized: bool = False
    """Whether each value is stored with its size, though all are equally long."""


_NUMBERS = {
    "bigint": _Number("LongType", pa.int64(), "i8"),
    "boolean": _Number("BooleanType", pa.bool_(), "?"),
    "date": _Number("SimpleDateType", pa.date32(), "i4", is_sized=True),
    "double": _Number("DoubleType", pa.float64(), "f8"),
    "float": _Number("FloatType", pa.float32(), "f4"),
    "int": _Number("Int32Type", pa.int32(), "i4"),
    "smallint": _Number("ShortType", pa.int16(), "i2", is_sized=True),
    "time": _Number("TimeType", pa.time64("ns"), "i8", is_sized=True),
    "timestamp": _Number("TimestampType", pa.timestamp("ms", "UTC"), "i8"),
    "tinyint": _Number("ByteType", pa.int8(), "i1", is_sized=True),
}


def numbers(cql: str, draw: Draw) -> Column:
    """A column of a type with as many bytes for each value; dates in days and times in ns since the epoch."""
    number = _NUMBERS[cql]

    def stored(cells: Cells) -> Values:
        values = draw(cells).astype(number.dtype)
        if cql == "date":
            values = (values.astype(np.int64) + _DATE_EPOCH).astype(np.uint32)
        return fixed(values).sized() if number.is_sized else fixed(values)

    def shown(cells: Cells) -> pa.Array:
        return pa.array(draw(cells).astype(number.dtype)).cast(number.arrow)

    return Column(cql, MARSHAL + number.cls, number.arrow, stored, shown)


def uuids(cql: str, draw: Draw) -> Column:
    """uuid or timeuuid; draw gives uint8 (n, 16)."""
    cls = "UUIDType" if cql == "uuid" else "TimeUUIDType"

    def shown(cells: Cells) -> pa.Array:
        drawn = np.ascontiguousarray(draw(cells))
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(drawn), [None, pa.py_buffer(drawn)])

    return Column(cql, MARSHAL + cls, pa.binary(16), lambda cells: fixed(draw(cells)), shown)


class Pool(NamedTuple):
    """Values to choose from, in both forms."""

    stored: pa.Array
    shown: pa.Array


_POOLED_CLASSES = {
    "ascii": "AsciiType",
    "duration": "DurationType",
    "inet": "InetAddressType",
    "text": "UTF8Type",
}


def pooled(cql: str, pool: Pool, draw: Draw) -> Column:
    """Values of a pool; draw gives indices."""

    def stored(cells: Cells) -> Values:
        return texts(pool.stored.take(pa.array(draw(cells))))

    def shown(cells: Cells) -> pa.Array:
        return pool.shown.take(pa.array(draw(cells)))

    return Column(cql, MARSHAL + _POOLED_CLASSES[cql], pool.shown.type, stored, shown)


def text_pool(*words: str) -> Pool:
    """A pool of texts."""
    array = pa.array(words)
    return Pool(array, array)


def blobs(draw: Draw, size: Draw) -> Column:
    """draw gives uint8 (n, most bytes), size how many of them each value has."""

    def stored(cells: Cells) -> Values:
        drawn = draw(cells)
        return ragged(drawn, np.arange(drawn.shape[1]) < size(cells)[:, None])

    def shown(cells: Cells) -> pa.Array:
        values = stored(cells)
        buffers = [None, pa.py_buffer(values.starts.astype(np.int32)), pa.py_buffer(values.data)]
        return pa.Array.from_buffers(pa.binary(), len(values.starts) - 1, buffers)

    return Column("blob", MARSHAL + "BytesType", pa.binary(), stored, shown)


def decimals(cql: str, draw: Draw, scale: int = 0) -> Column:
    """varint, or decimal of a scale; draw gives int64, the unscaled value."""
    cls, shown_scale = ("IntegerType", 0) if cql == "varint" else ("DecimalType", 9)
    arrow = pa.decimal128(38, shown_scale)
    head = np.frombuffer(b"" if cql == "varint" else scale.to_bytes(4, "big"), np.uint8)

    def stored(cells: Cells) -> Values:
        unscaled = draw(cells)
        magnitude = unscaled ^ (unscaled >> 63)
        more = sum((magnitude >> (8 * byte - 1) > 0).astype(np.int64) for byte in range(1, 8))
        bytes_ = unscaled.astype(">i8").view(np.uint8).reshape(-1, 8)
        data = np.concatenate([np.broadcast_to(head, (len(bytes_), len(head))), bytes_], axis=1)
        places = np.arange(data.shape[1])
        return ragged(data, (places < len(head)) | (places >= data.shape[1] - 1 - np.reshape(more, (-1, 1))))

    def shown(cells: Cells) -> pa.Array:
        unscaled = draw(cells) * 10 ** (shown_scale - scale)
        limbs = np.stack([unscaled, unscaled >> 63], axis=1)
        return pa.Array.from_buffers(arrow, len(limbs), [None, pa.py_buffer(limbs)])

    return Column(cql, MARSHAL + cls, arrow, stored, shown)
