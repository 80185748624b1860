"""Builders of columns whose values all have one width in Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from flightsrv.arrow.buffers import Buffer, Level, bitmap_bytes
from flightsrv.arrow.parts import Parts
from flightsrv.arrow.types import DURATION_FIELDS, NATIVE_IS_A_WAY_OUT, NULL_IS_A_WAY_OUT, TypeMapping
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnrepresentableError
from flightsrv.kernels.decimal128 import DIGITS, NUMBER_LIMBS, TOO_FINE, TOO_LONG, gather_decimals
from flightsrv.kernels.durations import gather_durations
from flightsrv.kernels.gather import OUT_OF_DAY, gather_16, gather_boolean, gather_fixed, gather_times
from flightsrv.slab import Array

FIXED_WIDTHS = {
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "bigint": 8,
    "counter": 8,
    "float": 4,
    "double": 8,
    "timestamp": 8,
    "time": 8,
    "date": 4,
    "uuid": 16,
    "timeuuid": 16,
}
"""Kinds that FixedBuilder is for."""
DECIMAL_WIDTH = 16
DURATION_WIDTH = 16

_DATE_EPOCH = 1 << 31
"""CQL's date counts days from 2^31 before 1970; XORing it gives signed days."""


class FixedBuilder(Level):
    """Values of 1, 2, 4, 8 or 16 bytes."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into, cql)
        self.width = FIXED_WIDTHS[cql.kind]
        self.flip = _DATE_EPOCH if cql.kind == "date" else 0
        self.values = Buffer()

    @property
    def arrow_bytes(self) -> int:
        return self.length * self.width

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        values, valid = self.values.grow(count * self.width), self.valid.grow(bitmap_bytes(count))
        if self.width == 16:
            nulls = gather_16(at, size, start, stop, values, valid, self.length)
        else:
            nulls = gather_fixed(at, size, start, stop, self.width, self.flip, values, valid, self.length)
        self.appended(stop - start, nulls)

    def parts(self) -> Parts:
        values = self.values.data[: self.length * self.width]
        return Parts(self.type, self.length, self.null_count, [self.validity(), values])


class TimeBuilder(FixedBuilder):
    """Nanoseconds of a day. Cassandra takes any 8 bytes for a time, Arrow does not."""

    def __init__(self, into: pa.DataType, cql: CqlType, mapping: TypeMapping) -> None:
        super().__init__(into, cql)
        self.nulls_instead = mapping.on_unrepresentable == "null"

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        values, valid = self.values.grow(count * self.width), self.valid.grow(bitmap_bytes(count))
        nulls = gather_times(at, size, start, stop, self.nulls_instead, values, valid, self.length)
        if nulls == OUT_OF_DAY:
            raise UnrepresentableError(f"a time that is not within a day; {NULL_IS_A_WAY_OUT}")
        self.appended(stop - start, nulls)


class BooleanBuilder(Level):
    """Values of one byte to bits."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into, cql)
        self.values = Buffer(fill=0)

    @property
    def arrow_bytes(self) -> int:
        return bitmap_bytes(self.length)

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        used = bitmap_bytes(self.length + stop - start)
        nulls = gather_boolean(at, size, start, stop, self.values.grow(used), self.valid.grow(used), self.length)
        self.appended(stop - start, nulls)

    def parts(self) -> Parts:
        values = self.values.data[: bitmap_bytes(self.length)]
        return Parts(self.type, self.length, self.null_count, [self.validity(), values])

    def reset(self) -> None:
        self.values.refill(bitmap_bytes(self.length))
        super().reset()


class DecimalBuilder(Level):
    """decimal and varint to decimal128."""

    def __init__(self, into: pa.DataType, cql: CqlType, mapping: TypeMapping) -> None:
        super().__init__(into, cql)
        self.is_decimal = cql.kind == "decimal"
        self.nulls_instead = mapping.on_unrepresentable == "null"
        self.values = Buffer()
        self.scratch = np.zeros(NUMBER_LIMBS + 1, np.int64)

    @property
    def arrow_bytes(self) -> int:
        return self.length * DECIMAL_WIDTH

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        used = DECIMAL_WIDTH * count
        out = self.values.grow(used)[:used].view(np.int64).reshape(-1, 2)
        valid = self.valid.grow(bitmap_bytes(count))
        scale: Any = self.type.scale
        how = (self.is_decimal, scale, self.nulls_instead, self.scratch)
        nulls = gather_decimals(at, size, start, stop, *how, out, valid, self.length)
        if nulls == TOO_FINE:
            raise UnrepresentableError(f"a decimal with more than {scale} decimals; {NATIVE_IS_A_WAY_OUT}")
        if nulls == TOO_LONG:
            what = f"a {self.cql} with more than {DIGITS - scale} digits before the point"
            raise UnrepresentableError(f"{what}; {NATIVE_IS_A_WAY_OUT}")
        self.appended(stop - start, nulls)

    def parts(self) -> Parts:
        values = self.values.data[: DECIMAL_WIDTH * self.length]
        return Parts(self.type, self.length, self.null_count, [self.validity(), values])


class DurationBuilder(Level):
    """Durations to structs of their three numbers."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into, cql)
        self.numbers = [Buffer() for _ in DURATION_FIELDS]
        self.widths = [each.byte_width for each in DURATION_FIELDS.values()]

    @property
    def arrow_bytes(self) -> int:
        return self.length * DURATION_WIDTH

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        count = self.length + stop - start
        columns = zip(self.numbers, self.widths, strict=True)
        numbers = [buffer.grow(width * count)[: width * count].view(f"i{width}") for buffer, width in columns]
        valid = self.valid.grow(bitmap_bytes(count))
        self.appended(stop - start, gather_durations(at, size, start, stop, *numbers, valid, self.length))

    def parts(self) -> Parts:
        children = [
            Parts(field.type, self.length, 0, [None, buffer.data[: self.length * width]])
            for field, buffer, width in zip(self.type, self.numbers, self.widths, strict=True)
        ]
        return Parts(self.type, self.length, self.null_count, [self.validity()], children)
