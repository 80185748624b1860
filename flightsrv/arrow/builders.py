"""Arrow columns, grown by whole selections of values: one builder for each level of a column's type.

A builder owns its buffers and uses them again for each batch. `append` takes places of values (addresses and sizes) and
lets a kernel copy them; `parts` gives the buffers in Arrow's layout, valid until `reset`.

Source of the layout: Arrow Columnar Format 1.5, Physical Memory Layout.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from flightsrv.arrow.parts import Parts, check_utf8
from flightsrv.arrow.types import arrow_type
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnsupportedRequestError, ValueFormError
from flightsrv.kernels.decimals import DIGITS, TOO_FINE, TOO_LONG, gather_decimals
from flightsrv.kernels.explode import (
    MALFORMED,
    count_elements,
    explode_collections,
    explode_fields,
    explode_vectors,
)
from flightsrv.kernels.gather import (
    gather_16,
    gather_boolean,
    gather_fixed,
    gather_variable,
    is_ascii,
    total_size,
)
from flightsrv.kernels.texts import DURATION_TEXT_BYTES, INET_TEXT_BYTES, gather_duration, gather_inet
from flightsrv.slab import Array

MAX_VARIABLE_BYTES = 2**31 - 1
"""What 32-bit offsets can say of one column of one batch."""


class Builder(Protocol):
    """Grows one column."""

    type: pa.DataType
    length: int

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        """Append values start..stop of at (int64) and size (int32). Raises ValueFormError."""

    def parts(self) -> Parts:
        """What was appended since the last reset."""

    def reset(self) -> None:
        """Begin the next batch."""


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


class _Level:
    """What all builders share: a length, nulls and a validity bitmap."""

    def __init__(self, into: pa.DataType) -> None:
        self.type = into
        self.length = 0
        self.null_count = 0
        self.valid = Buffer(fill=255)

    def appended(self, count: int, nulls: int, what: str) -> None:
        if nulls < 0:
            raise ValueFormError(f"bytes that are not a value of {what}")
        self.length += count
        self.null_count += nulls

    def validity(self) -> Array | None:
        return self.valid.data[: bitmap_bytes(self.length)] if self.null_count else None

    def reset(self) -> None:
        self.valid.refill(bitmap_bytes(self.length))
        self.length = 0
        self.null_count = 0


class FixedBuilder(_Level):
    """Values of 1, 2, 4, 8 or 16 bytes."""

    def __init__(self, into: pa.DataType, cql: CqlType, width: int, flip: int = 0) -> None:
        super().__init__(into)
        self.cql = cql
        self.width = width
        self.flip = flip
        self.values = Buffer()

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        values, valid = self.values.grow(count * self.width), self.valid.grow(bitmap_bytes(count))
        if self.width == 16:
            nulls = gather_16(at, size, start, stop, values, valid, self.length)
        else:
            nulls = gather_fixed(at, size, start, stop, self.width, self.flip, values, valid, self.length)
        self.appended(stop - start, nulls, str(self.cql))

    def parts(self) -> Parts:
        values = self.values.data[: self.length * self.width]
        return Parts(self.type, self.length, self.null_count, [self.validity(), values])


class BooleanBuilder(_Level):
    """Values of one byte to bits."""

    def __init__(self) -> None:
        super().__init__(pa.bool_())
        self.values = Buffer(fill=0)

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        used = bitmap_bytes(self.length + stop - start)
        nulls = gather_boolean(at, size, start, stop, self.values.grow(used), self.valid.grow(used), self.length)
        self.appended(stop - start, nulls, "boolean")

    def parts(self) -> Parts:
        values = self.values.data[: bitmap_bytes(self.length)]
        return Parts(self.type, self.length, self.null_count, [self.validity(), values])

    def reset(self) -> None:
        self.values.refill(bitmap_bytes(self.length))
        super().reset()


class VariableBuilder(_Level):
    """text, ascii and blob; with a text kernel, types that Arrow has as text."""

    TEXTS: ClassVar[dict[str, Any]] = {
        "inet": (gather_inet, INET_TEXT_BYTES),
        "duration": (gather_duration, DURATION_TEXT_BYTES),
    }

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into)
        self.cql = cql
        self.text = self.TEXTS.get(cql.kind)
        self.offsets = Buffer(fill=0)
        self.values = Buffer()
        self.filled = 0

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        offsets = self.offsets.grow(4 * (count + 1)).view(np.int32)
        valid = self.valid.grow(bitmap_bytes(count))
        more = (stop - start) * self.text[1] if self.text else int(total_size(size, start, stop))
        if self.filled + more > MAX_VARIABLE_BYTES:
            raise ValueFormError(f"a batch of {self.filled + more} bytes, more than Arrow's 32-bit offsets can say")
        gather: Any = self.text[0] if self.text else gather_variable
        nulls = gather(at, size, start, stop, offsets, self.values.grow(self.filled + more), valid, self.length)
        self.appended(stop - start, nulls, str(self.cql))
        self.filled = int(offsets[self.length])

    def parts(self) -> Parts:
        offsets = self.offsets.data[: 4 * (self.length + 1)]
        values = self.values.data[: self.filled]
        parts = Parts(self.type, self.length, self.null_count, [self.validity(), offsets, values])
        if pa.types.is_string(self.type) and not is_ascii(self.values.data, self.filled):
            check_utf8(parts)
        return parts

    def reset(self) -> None:
        self.filled = 0
        super().reset()


class DecimalBuilder(_Level):
    """decimal and varint to decimal128."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into)
        self.cql = cql
        self.scale = into.scale
        self.values = Buffer()
        self.limbs = np.zeros(5, np.int64)

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        out = self.values.grow(16 * count)[: 16 * count].view(np.int64).reshape(-1, 2)
        valid = self.valid.grow(bitmap_bytes(count))
        is_decimal = self.cql.kind == "decimal"
        nulls = gather_decimals(at, size, start, stop, is_decimal, self.scale, self.limbs, out, valid, self.length)
        if nulls == TOO_FINE:
            raise ValueFormError(f"a decimal with more than {self.scale} decimals")
        if nulls == TOO_LONG:
            raise ValueFormError(f"a {self.cql} of more than {DIGITS} digits at scale {self.scale}")
        self.appended(stop - start, nulls, str(self.cql))

    def parts(self) -> Parts:
        return Parts(self.type, self.length, self.null_count, [self.validity(), self.values.data[: 16 * self.length]])


class ListBuilder(_Level):
    """Frozen lists, sets and maps, and vectors."""

    def __init__(self, into: pa.DataType, cql: CqlType, children: list[Builder]) -> None:
        super().__init__(into)
        self.cql = cql
        self.children = children
        self.offsets = Buffer(fill=0)

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        offsets = self.offsets.grow(4 * (count + 1)).view(np.int32)
        valid = self.valid.grow(bitmap_bytes(count))
        parts = len(self.children)
        if self.cql.kind == "vector":
            elements = int(np.count_nonzero(size[start:stop] > 0)) * self.cql.dimension
            elements = elements if elements <= total_size(size, start, stop) else MALFORMED  # each has a byte or more
        else:
            elements = int(count_elements(at, size, start, stop, parts))
        self.appended(0, min(elements, 0), str(self.cql))
        child_at, child_size = np.zeros((parts, elements), np.int64), np.zeros((parts, elements), np.int32)
        if self.cql.kind == "vector":
            width = self.cql.arguments[0].fixed_size
            nulls = explode_vectors(
                at,
                size,
                start,
                stop,
                self.cql.dimension,
                width,
                offsets,
                valid,
                self.length,
                child_at[0],
                child_size[0],
            )
        else:
            nulls = explode_collections(at, size, start, stop, parts, offsets, valid, self.length, child_at, child_size)
        self.appended(stop - start, nulls, str(self.cql))
        for child, places, sizes in zip(self.children, child_at, child_size, strict=True):
            child.append(places, sizes, 0, elements)

    def parts(self) -> Parts:
        children = [child.parts() for child in self.children]
        if self.cql.kind == "map":
            entries = self.type.field(0).type
            children = [Parts(entries, children[0].length, 0, [None], children)]
            if children[0].children[0].null_count:
                raise ValueFormError("a map with a null key")
        offsets = self.offsets.data[: 4 * (self.length + 1)]
        return Parts(self.type, self.length, self.null_count, [self.validity(), offsets], children)

    def reset(self) -> None:
        super().reset()
        for child in self.children:
            child.reset()


class StructBuilder(_Level):
    """Tuples and frozen UDTs."""

    def __init__(self, into: pa.DataType, cql: CqlType, children: list[Builder]) -> None:
        super().__init__(into)
        self.cql = cql
        self.children = children

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = stop - start
        valid = self.valid.grow(bitmap_bytes(self.length + count))
        child_at = np.zeros((len(self.children), count), np.int64)
        child_size = np.zeros((len(self.children), count), np.int32)
        nulls = explode_fields(at, size, start, stop, valid, self.length, child_at, child_size)
        self.appended(count, nulls, str(self.cql))
        for child, places, sizes in zip(self.children, child_at, child_size, strict=True):
            child.append(places, sizes, 0, count)

    def parts(self) -> Parts:
        children = [child.parts() for child in self.children]
        return Parts(self.type, self.length, self.null_count, [self.validity()], children)

    def reset(self) -> None:
        super().reset()
        for child in self.children:
            child.reset()


_FIXED_WIDTHS = {
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "bigint": 8,
    "float": 4,
    "counter": 8,
    "double": 8,
    "timestamp": 8,
    "time": 8,
    "date": 4,
    "uuid": 16,
    "timeuuid": 16,
}
_OTHER_WIDTHS = {"boolean": 1, "decimal": 16, "varint": 16, "inet": 4 + 39, "duration": 4 + 54}
"""inet and duration: an offset and the longest text."""
_OFFSET_WIDTH = 4


def row_width(cql: CqlType) -> tuple[int, bool]:
    """How many bytes of Arrow each value of a type takes, null or not, and whether its own size comes on top.

    Elements of collections count as their own bytes, which is close.
    """
    width = _FIXED_WIDTHS.get(cql.kind, _OTHER_WIDTHS.get(cql.kind))
    if width is not None:
        return width, False
    if cql.kind in ("tuple", "udt"):
        fields = [row_width(argument) for argument in cql.arguments]
        return sum(field for field, _ in fields), any(has_size for _, has_size in fields)
    return _OFFSET_WIDTH, True


_DATE_EPOCH = 1 << 31
"""CQL's date counts days from 2^31 before 1970; XORing it gives signed days."""


def builder_of(cql: CqlType) -> Builder:
    """The builder of a column of a type."""
    into = arrow_type(cql)
    if cql.kind in _FIXED_WIDTHS:
        return FixedBuilder(into, cql, _FIXED_WIDTHS[cql.kind], _DATE_EPOCH if cql.kind == "date" else 0)
    if cql.kind == "boolean":
        return BooleanBuilder()
    if cql.kind in ("decimal", "varint"):
        return DecimalBuilder(into, cql)
    if cql.kind in ("text", "ascii", "blob", "inet", "duration"):
        return VariableBuilder(into, cql)
    children = [builder_of(argument) for argument in cql.arguments]
    if cql.kind in ("list", "set", "map", "vector"):
        return ListBuilder(into, cql, children)
    if cql.kind in ("tuple", "udt"):
        return StructBuilder(into, cql, children)
    raise UnsupportedRequestError(f"columns of type {cql} are not served yet")
