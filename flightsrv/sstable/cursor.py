"""A cursor over bytes whose every read names its field.

One parser gives the values, the errors (`nb-7-big-Statistics.db: offset 4893, STATS.repaired_at_ms: …`) and, when the
cursor was given a list to trace to, the lines of the annotated dump.

All integers are big-endian, as Java's DataOutput writes them. A `uvint` has as many leading 1 bits in its first byte as
bytes that follow it. Source: org.apache.cassandra.utils.vint.VIntCoding, io.util.DataInputPlus.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum, IntFlag
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from flightsrv.errors import CorruptSSTableError, Where

_U8, _U16, _U32, _I32, _I64, _F64 = (struct.Struct(">" + code) for code in "BHIiqd")

_POWERS_OF_TWO = np.uint64(1) << np.arange(63, -1, -1, dtype=np.uint64)

MAX_LINE_SIZE = 1024
"""Bytes of a line in a text file; longer ones are refused."""

Flags = TypeVar("Flags", bound=IntFlag)
Kind = TypeVar("Kind", bound=IntEnum)


class Line(NamedTuple):
    """One field as it lies in the file."""

    offset: int
    size: int
    field: str
    """With the sections it lies in, from the outside in: `STATS.repaired_at_ms`."""
    value: Any


def as_i64(value: int) -> int:
    """A number modulo 2^64, as Java's long."""
    return (value + 2**63) % 2**64 - 2**63


def modified_utf8(raw: bytes) -> str:
    """Java's own UTF-8: NUL takes two bytes, characters beyond the BMP are surrogate pairs of three bytes each.

    Raises UnicodeDecodeError.
    """
    text = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class Cursor:
    """Reads fields one after the other.

    Every method that reads raises CorruptSSTableError, with the field and its offset, when the bytes end before the
    field does or cannot be right.
    """

    def __init__(
        self,
        data: bytes | memoryview | npt.NDArray[np.uint8],
        path: str,
        start: int = 0,
        *,
        origin: int = 0,
        uncompressed: bool = False,
        trace: list[Line] | None = None,
    ) -> None:
        """Start at data[start]. `origin` is the offset in the file of data[0]; with `uncompressed`, its position."""
        self._data = (data.data if isinstance(data, np.ndarray) else memoryview(data)).cast("B")
        self._path = path
        self._at = start
        self._last = start
        self._stop = len(self._data)
        self._origin = origin
        self._uncompressed = uncompressed
        self._trace = trace
        self._sections = ""

    # --- where it is ----------------------------------------------------------------------------------------------

    @property
    def offset(self) -> int:
        """Where the next field starts, in the file."""
        return self._origin + self._at

    @property
    def left(self) -> int:
        """Bytes until the end of the section or the data."""
        return self._stop - self._at

    @contextmanager
    def section(self, name: str, size: int | None = None) -> Iterator[None]:
        """Fields read inside bear the section's name, if any; with a size, they cannot reach beyond it."""
        stop, sections = self._stop, self._sections
        if size is not None:
            self.require(0 <= size <= self.left, name, f"its {size} bytes are not the file's: {self.left} are left")
            self._stop = self._at + size
        self._sections = f"{sections}{name}." if name else sections
        try:
            yield
        finally:
            self._stop, self._sections = stop, sections

    def seek(self, offset: int, field: str) -> None:
        """Go to an offset in the file that `field` has told."""
        self.require(0 <= offset - self._origin <= self._stop, field, f"it points at {offset}, outside of the file")
        self._at = self._last = offset - self._origin

    def ahead(self, field: str, size: int) -> memoryview:
        """The next bytes, without reading them: for a checksum."""
        self._last = self._at
        self.require(0 <= size <= self.left, field, f"it is over {size} bytes, {self.left} are left")
        return self._data[self._at : self._at + size]

    def where(self, field: str) -> Where:
        """The place of the field read last, for an error."""
        offset = self._origin + self._last
        field = self._sections + field
        if self._uncompressed:
            return Where(self._path, position=offset, field=field)
        return Where(self._path, offset=offset, field=field)

    def fail(self, field: str, what: str) -> NoReturn:
        """Raise CorruptSSTableError at the field read last."""
        raise CorruptSSTableError(what, self.where(field))

    def require(self, holds: bool, field: str, what: str) -> None:
        """Raise CorruptSSTableError at the field read last unless something holds."""
        if not holds:
            self.fail(field, what)

    def end(self) -> None:
        """Demand that nothing is left."""
        self._last = self._at
        self.require(self.left == 0, "end", f"{self.left} bytes are left after the last field")

    # --- numbers --------------------------------------------------------------------------------------------------

    def u8(self, field: str) -> int:
        """Unsigned 8 bits."""
        return int(self._number(_U8, field))

    def u16(self, field: str) -> int:
        """Unsigned 16 bits."""
        return int(self._number(_U16, field))

    def u32(self, field: str) -> int:
        """Unsigned 32 bits."""
        return int(self._number(_U32, field))

    def i32(self, field: str) -> int:
        """Signed 32 bits."""
        return int(self._number(_I32, field))

    def i64(self, field: str) -> int:
        """Signed 64 bits."""
        return int(self._number(_I64, field))

    def f64(self, field: str) -> float:
        """IEEE 754, 64 bits."""
        return float(self._number(_F64, field))

    def flags(self, field: str, kind: type[Flags]) -> Flags:
        """One byte of flags, all of which the STRICT IntFlag must know."""
        byte = self._peek(_U8, field)
        try:
            return self._took(field, kind(byte))  # type: ignore[no-any-return]
        except ValueError:
            self.fail(field, f"{byte:#04x} has flags that are none of {kind.__name__}")

    def halves(self, field: str, kind: type[Kind]) -> tuple[Kind, int]:
        """One byte: its high four bits are one of 16 kinds, its low ones a number."""
        byte = self._peek(_U8, field)
        high, low = kind(byte >> 4), byte & 15
        self._took(field, f"{high.name}, {low}")
        return high, low

    def bool(self, field: str) -> bool:
        """One byte, 0 or 1."""
        byte = self._peek(_U8, field)
        self.require(byte <= 1, field, f"{byte} is neither 0 nor 1")
        return bool(self._took(field, bool(byte)))

    def uvint(self, field: str) -> int:
        """Unsigned variable-length integer, 0 to 2^64 - 1."""
        return int(self._took(field, self._take_uvint(field)))

    def svint(self, field: str) -> int:
        """Signed variable-length integer (zigzag)."""
        value = self._take_uvint(field)
        return int(self._took(field, (value >> 1) ^ -(value & 1)))

    def sized(self, field: str, size: int) -> int:
        """Signed integer of so many bytes."""
        self._last = self._at
        return int(self._took(field, int.from_bytes(self._take(field, size), signed=True)))

    def packed(self, field: str, bits: int, count: int) -> tuple[int, ...]:
        """So many unsigned integers of so many bits each, without gaps between them; unused bits follow the last."""
        self._last = self._at
        stored = np.frombuffer(self._take(field, (bits * count + 7) // 8), np.uint8)
        rows = np.unpackbits(stored, count=bits * count).reshape(count, bits)
        values = tuple((rows @ _POWERS_OF_TWO[-bits:]).tolist())
        self._took(field, values)
        return values

    def delta(self, field: str, base: int) -> int:
        """A uvint added to `base` modulo 2^64, as i64: how timestamps are stored."""
        return int(self._took(field, as_i64(self._take_uvint(field) + base)))

    def crc32(self, field: str, computed: int) -> None:
        """A stored u32 that must be the checksum computed."""
        stored = self._peek(_U32, field)
        self.require(stored == computed, field, f"{stored:#010x} in the file, {computed:#010x} computed")
        self._took(field, f"{stored:#010x}")

    def count(self, field: str, kind: str, at_least: int) -> range:
        """A count of things (`i32` or `uvint`) that take at least so many bytes each, as the range of their indexes."""
        value = self.i32(field) if kind == "i32" else self.uvint(field)
        self.require(
            0 <= value * at_least <= self.left,
            field,
            f"{value} of at least {at_least} bytes do not fit in the {self.left} bytes left",
        )
        return range(value)

    # --- bytes and texts ------------------------------------------------------------------------------------------

    def raw(self, field: str, size: int) -> bytes:
        """So many bytes."""
        self._last = self._at
        return bytes(self._took(field, self._take(field, size)))

    def sbytes(self, field: str) -> bytes:
        """u16 length, then bytes."""
        return bytes(self._took(field, self._take(field, self._peek(_U16, field))))

    def vbytes(self, field: str) -> bytes:
        """uvint length, then bytes."""
        return bytes(self._took(field, self._take(field, self._take_uvint(field))))

    def ibytes(self, field: str) -> bytes:
        """i32 length, then bytes."""
        return bytes(self._took(field, self._take(field, self._peek(_I32, field))))

    def utf(self, field: str) -> str:
        """u16 length, then Java's modified UTF-8."""
        return self._text(field, self._take(field, self._peek(_U16, field)), modified_utf8)

    def line(self, field: str) -> str:
        """Text up to the end of its line, `\\n` or `\\r\\n` or the end of the data, which is not part of the value."""
        self._last = self._at
        ahead = bytes(self._data[self._at : min(self._stop, self._at + MAX_LINE_SIZE)])
        size = ahead.find(b"\n") + 1 or self.left
        self.require(size <= len(ahead), field, f"the line has more than {MAX_LINE_SIZE} bytes")
        return self._text(field, self._take(field, size).rstrip(b"\r\n"), bytes.decode)

    def vtext(self, field: str) -> str:
        """uvint length, then UTF-8."""
        return self._text(field, self._take(field, self._take_uvint(field)), bytes.decode)

    def array(self, field: str, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """So many numbers, stored as `dtype` says; a copy in the machine's byte order."""
        stored = np.dtype(dtype)
        size = count * stored.itemsize
        self._last = self._at
        self.require(
            0 <= size <= self.left,
            field,
            f"{count} of {stored.itemsize} bytes do not fit in the {self.left} bytes left",
        )
        values = np.frombuffer(self._data, stored, count, self._at).astype(stored.newbyteorder("="))
        self._at += size
        self._took(field, values)
        return values

    # --- how ------------------------------------------------------------------------------------------------------
    # A field is taken in one or two steps: _peek starts it, _take goes on, _took ends it and traces it.

    def _number(self, form: struct.Struct, field: str) -> Any:
        return self._took(field, self._peek(form, field))

    def _peek(self, form: struct.Struct, field: str) -> Any:
        """The fixed-size start of a field."""
        self._last = self._at
        if self.left < form.size:
            self.fail(field, f"it needs {form.size} bytes, {self.left} are left")
        self._at += form.size
        return form.unpack_from(self._data, self._last)[0]

    def _take_uvint(self, field: str) -> int:
        first = int(self._peek(_U8, field))
        more = 8 - (first ^ 0xFF).bit_length()
        if self.left < more:
            self.fail(field, f"it needs {1 + more} bytes, {1 + self.left} are left")
        value = (first & (0xFF >> more)) << 8 * more | int.from_bytes(self._data[self._at : self._at + more])
        self._at += more
        return value

    def _take(self, field: str, size: int) -> bytes:
        """Bytes that end a field."""
        if not 0 <= size <= self.left:
            self.fail(field, f"its length is {size}, {self.left} bytes are left")
        self._at += size
        return bytes(self._data[self._at - size : self._at])

    def _text(self, field: str, raw: bytes, decode: Any) -> str:
        try:
            return str(self._took(field, decode(raw)))
        except UnicodeDecodeError as error:
            self.fail(field, f"it is not UTF-8: {error.reason}")

    def _took(self, field: str, value: Any) -> Any:
        if self._trace is not None:
            self._trace.append(Line(self._origin + self._last, self._at - self._last, self._sections + field, value))
        return value
