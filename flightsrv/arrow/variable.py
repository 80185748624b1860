"""Builders of columns whose values have any size: bytes, text, and what has the form of text in Arrow."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import pyarrow as pa

from flightsrv.arrow.buffers import Buffer, Level, bitmap_bytes
from flightsrv.arrow.parts import Parts, is_utf8
from flightsrv.arrow.types import NULL_IS_A_WAY_OUT, TEXT_IS_A_WAY_OUT, TypeMapping
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnrepresentableError, ValueFormError
from flightsrv.kernels.decimal128 import NUMBER_LIMBS, TOO_LONG
from flightsrv.kernels.durations import DURATION_TEXT_BYTES, gather_duration_text
from flightsrv.kernels.gather import gather_variable, is_ascii, total_size
from flightsrv.kernels.numerals import GROUPS, NUMERAL_BYTES, NUMERAL_GROWTH, gather_numerals
from flightsrv.kernels.texts import INET_TEXT_BYTES, gather_hex, gather_inet
from flightsrv.kernels.utf8 import ESCAPED_BYTE_CHARS, gather_utf8
from flightsrv.slab import Array

MAX_VARIABLE_BYTES = 2**31 - 1
"""What 32-bit offsets can say of one column of one batch."""
OFFSET_WIDTH = 4


class VariableBuilder(Level, ABC):
    """What all of these share: offsets, and a buffer of values."""

    WIDTH = 0
    GROWTH = 1
    """A value takes at most WIDTH bytes, and GROWTH for each stored one."""

    def __init__(self, into: pa.DataType, cql: CqlType) -> None:
        super().__init__(into, cql)
        self.offsets = Buffer(fill=0)
        self.values = Buffer()
        self.filled = 0

    @property
    def arrow_bytes(self) -> int:
        return OFFSET_WIDTH * self.length + self.filled

    @abstractmethod
    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        """Let a kernel copy values into (offsets, values, validity) behind the length so far. Returns the nulls among
        them, or below 0 what kernels say of bytes that are no value of the type.
        """

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        self.appended(stop - start, self.gather(at, size, start, stop, self.room(size, start, stop, self.GROWTH)))
        self.filled = int(self.offsets.data.view(np.int32)[self.length])

    def room(self, size: Array, start: int, stop: int, growth: int) -> tuple[Array, Array, Array, int]:
        """Buffers with room for more values, and the length so far."""
        count = self.length + stop - start
        used = self.filled + self.WIDTH * (stop - start) + growth * int(total_size(size, start, stop))
        if used > MAX_VARIABLE_BYTES:
            raise ValueFormError(f"a batch of {used} bytes, more than Arrow's 32-bit offsets can say")
        offsets = self.offsets.grow(OFFSET_WIDTH * (count + 1)).view(np.int32)
        return offsets, self.values.grow(used), self.valid.grow(bitmap_bytes(count)), self.length

    def parts(self) -> Parts:
        offsets = self.offsets.data[: OFFSET_WIDTH * (self.length + 1)]
        return Parts(
            self.type, self.length, self.null_count, [self.validity(), offsets, self.values.data[: self.filled]]
        )

    def reset(self) -> None:
        self.filled = 0
        super().reset()


class BytesBuilder(VariableBuilder):
    """blob, and custom in the native mapping."""

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        return int(gather_variable(at, size, start, stop, *into))


class TextBuilder(VariableBuilder):
    """text and ascii. Cassandra takes some bytes for text that are not UTF-8; Arrow, and its readers, do not."""

    def __init__(self, into: pa.DataType, cql: CqlType, mapping: TypeMapping) -> None:
        super().__init__(into, cql)
        self.on_unrepresentable = mapping.on_unrepresentable

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        nulls = int(gather_variable(at, size, start, stop, *into))
        offsets, values, _, length = into
        end = length + stop - start
        if is_ascii(values, self.filled, int(offsets[end])) or is_utf8(offsets, values, length, end):
            return nulls
        if self.on_unrepresentable == "error":
            raise UnrepresentableError(f"a text that is not UTF-8; {TEXT_IS_A_WAY_OUT}")
        escapes = self.on_unrepresentable == "text"
        room = self.room(size, start, stop, ESCAPED_BYTE_CHARS)
        return int(gather_utf8(at, size, start, stop, escapes, *room))


class HexBuilder(VariableBuilder):
    """Any bytes as text: custom in the compatible mapping."""

    WIDTH, GROWTH = 2, 2

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        return int(gather_hex(at, size, start, stop, *into))


class InetBuilder(VariableBuilder):
    WIDTH, GROWTH = INET_TEXT_BYTES, 0

    def __init__(self, into: pa.DataType, cql: CqlType, mapping: TypeMapping) -> None:
        super().__init__(into, cql)
        self.tells_mapped = mapping.native

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        return int(gather_inet(at, size, start, stop, self.tells_mapped, *into))


class DurationTextBuilder(VariableBuilder):
    WIDTH, GROWTH = DURATION_TEXT_BYTES, 0

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        return int(gather_duration_text(at, size, start, stop, *into))


class NumeralBuilder(VariableBuilder):
    """decimal and varint as text, in the native mapping."""

    WIDTH, GROWTH = NUMERAL_BYTES, NUMERAL_GROWTH

    def __init__(self, into: pa.DataType, cql: CqlType, mapping: TypeMapping) -> None:
        super().__init__(into, cql)
        self.is_decimal = cql.kind == "decimal"
        self.nulls_instead = mapping.on_unrepresentable == "null"
        self.limbs = np.zeros(NUMBER_LIMBS + 1, np.int64)
        self.groups = np.zeros(GROUPS, np.int64)

    def gather(self, at: Array, size: Array, start: int, stop: int, into: tuple[Array, Array, Array, int]) -> int:
        how = (self.is_decimal, self.nulls_instead, self.limbs, self.groups)
        nulls = int(gather_numerals(at, size, start, stop, *how, *into))
        if nulls == TOO_LONG:
            raise UnrepresentableError(f"a {self.cql} of more than {4 * NUMBER_LIMBS} bytes; {NULL_IS_A_WAY_OUT}")
        return nulls
