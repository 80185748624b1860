"""varint and decimal: numbers of any size.

    varint       two's complement, big-endian, of any length
    decimal      i32 scale, then a varint: the number is varint / 10^scale

Source: org.apache.cassandra.serializers.IntegerSerializer, DecimalSerializer.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Final

EXACT: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Nothing is rounded: scales are 32-bit, far from these limits."""


def read_varint(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def write_varint(value: int) -> bytes:
    """In as few bytes as hold it, at least one."""
    magnitude = ~value if value < 0 else value
    return value.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def read_decimal(data: bytes) -> Decimal:
    """Exact, and with its scale. Raises ValueError when there are no bytes after the scale."""
    if len(data) < 5:
        raise ValueError(f"a decimal of {len(data)} bytes")
    scale = int.from_bytes(data[:4], "big", signed=True)
    return Decimal(read_varint(data[4:])).scaleb(-scale, EXACT)


def write_decimal(value: Decimal) -> bytes:
    """Raises ValueError for NaN, infinities and exponents that do not fit in 32 bits."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or not -(1 << 31) <= -exponent < 1 << 31:
        raise ValueError(f"{value} is not a decimal of CQL")
    unscaled = int(Decimal((0, digits, 0)))
    return (-exponent).to_bytes(4, "big", signed=True) + write_varint(-unscaled if sign else unscaled)
