"""Numbers and UUIDs as byte strings that sort as they do, for byte_comparable.py.

    signed      big-endian, the sign bit flipped
    float       all bits inverted if it is negative, else the sign bit set
    variable    m = n, or ~n if n < 0, in as few bytes as have room for as many leading ones, a zero, and m; with nine
                bytes, 0xFF and m with its top bit set; all is inverted if n < 0
    varint      variable up to 6 bytes, not counting one that is nothing but its sign; else 0xFF (0x00 if it is
                negative), the number of its bytes less 7 as an unsigned vint (then inverted), and its bytes
    decimal     0x80 for zero; else its exponent and its digits, both to the base of 100, then 0x00

Source: org.apache.cassandra.utils.bytecomparable.ByteSource, asComparableBytes in org.apache.cassandra.db.marshal.
"""

from __future__ import annotations

from flightsrv.cql.numbers import read_varint
from flightsrv.cql.ordering import halves, timestamp_of
from flightsrv.cql.vint import write_unsigned_vint

_SHORT_VARINT_BYTES = 6


def inverted(data: bytes) -> bytes:
    """Every bit the other way."""
    return bytes(byte ^ 0xFF for byte in data)


def signed(data: bytes) -> bytes:
    """Of an integer of a fixed size."""
    return bytes([data[0] ^ 0x80]) + data[1:]


def signed_float(data: bytes) -> bytes:
    """Of a float or a double."""
    return inverted(data) if data[0] & 0x80 else signed(data)


def variable_length(value: int) -> bytes:
    """Of an integer from -2^63 to 2^63 - 1."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    if size < 9:
        leading_ones = (1 << size) - 1 << 7 * size
        form = (leading_ones | magnitude).to_bytes(size)
    else:
        form = b"\xff" + (1 << 63 | magnitude).to_bytes(8)
    return inverted(form) if value < 0 else form


def varint(data: bytes) -> bytes:
    """Of an integer of any size."""
    value = read_varint(data)
    size = ((~value if value < 0 else value).bit_length() + 7) // 8
    if size <= _SHORT_VARINT_BYTES:
        return variable_length(value)
    head = write_unsigned_vint(size - _SHORT_VARINT_BYTES - 1)
    digits = (value & (1 << 8 * size) - 1).to_bytes(size)
    return b"\x00" + inverted(head) + digits if value < 0 else b"\xff" + head + digits


def decimal(data: bytes) -> bytes:
    """Of a decimal, whatever its scale: equal numbers have the same form. Raises ValueError when it has no digits."""
    if len(data) < 5:
        raise ValueError(f"a decimal of {len(data)} bytes")
    scale, unscaled = int.from_bytes(data[:4], signed=True), read_varint(data[4:])
    if unscaled == 0:
        return b"\x80"
    digits = str(abs(unscaled))
    exponent = len(digits) - scale  # 0.digits * 10^exponent
    digits = "0" * (exponent & 1) + digits.rstrip("0")
    digits += "0" * (len(digits) & 1)
    pairs = [int(digits[i : i + 2]) for i in range(0, len(digits), 2)]
    if unscaled < 0:
        pairs = _below_zero(pairs)
    return _decimal_exponent(exponent + 1 >> 1, unscaled < 0) + bytes(0x80 + pair for pair in pairs) + b"\x00"


def _below_zero(pairs: list[int]) -> list[int]:
    """The digits to the base of 100 of a number's negative, of which only the first is below zero."""
    borrowed = [-pair - 1 for pair in pairs[:1]] + [99 - pair for pair in pairs[1:]]
    borrowed[-1] += 1
    return borrowed


def _decimal_exponent(exponent: int, is_negative: bool) -> bytes:
    """The head of a decimal: its sign, how many bytes its exponent has, and that."""
    modulated = -exponent if is_negative else exponent
    size = (abs(modulated).bit_length() + 7) // 8
    head = (0x40 if is_negative else 0xC0) + (-size if modulated < 0 else size)
    return bytes([head]) + (modulated & (1 << 8 * size) - 1).to_bytes(size)


def uuid(data: bytes) -> bytes:
    """Of a UUID: its version comes first, then its time if it has one."""
    high, low = halves(data)
    version = high >> 12 & 0xF
    if version == 1:
        return timestamp_of(high).to_bytes(8) + low.to_bytes(8)
    rest = (high >> 16) << 12 | high & 0xFFF
    return (version << 60 | rest).to_bytes(8) + low.to_bytes(8)


def timeuuid(data: bytes) -> bytes:
    """Of a UUID of version 1, whose second half sorts as signed bytes."""
    high, _ = halves(data)
    return timestamp_of(high).to_bytes(8) + bytes(byte ^ 0x80 for byte in data[8:])


def lexical_uuid(data: bytes) -> bytes:
    """Of a UUID that sorts as two signed halves."""
    halves(data)
    return signed(data[:8]) + signed(data[8:])
