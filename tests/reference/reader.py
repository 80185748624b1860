"""Big-endian bytes, one field after the other."""

from __future__ import annotations

import struct

from flightsrv.errors import CorruptSSTableError, Where


class Reader:
    """Reads from `at` on and never past the end: that raises CorruptSSTableError."""

    def __init__(self, data: bytes, name: str, at: int = 0) -> None:
        self.data = data
        self.name = name
        self.at = at

    def corrupt(self, what: str) -> CorruptSSTableError:
        return CorruptSSTableError(what, Where(self.name, position=self.at))

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise self.corrupt(f"{count} bytes wanted, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form: str) -> int:
        return int(struct.unpack(">" + form, self.take(struct.calcsize(form)))[0])

    def u8(self) -> int:
        return self.number("B")

    def u16(self) -> int:
        return self.number("H")

    def i32(self) -> int:
        return self.number("i")

    def i64(self) -> int:
        return self.number("q")

    def uvint(self) -> int:
        first = self.u8()
        extra = 8 - (~first & 0xFF).bit_length()  # leading ones of the first byte
        return int.from_bytes(bytes([first & (0xFF >> extra)]) + self.take(extra), "big")

    def svint(self) -> int:
        zigzag = self.uvint()
        return -(zigzag >> 1) - 1 if zigzag & 1 else zigzag >> 1

    def short_bytes(self) -> bytes:
        return self.take(self.u16())

    def vint_bytes(self) -> bytes:
        return self.take(self.uvint())

    def utf(self) -> str:
        return self.short_bytes().decode()


def signed(number: int, bits: int = 64) -> int:
    """The low `bits` of a number, as two's complement."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number
