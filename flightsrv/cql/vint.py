"""Cassandra's variable-length integers, one at a time, in plain Python.

Unsigned: as many leading 1 bits in the first byte as bytes follow it (0 to 8), the rest of that byte and the following
ones are the value, big-endian. Signed ones are zigzag coded first. Loops over many of them are the kernels' business.

Source: org.apache.cassandra.utils.vint.VIntCoding.
"""

from __future__ import annotations


def read_unsigned_vint(data: bytes, at: int) -> tuple[int, int]:
    """The value at index `at`, and the index after it. Raises ValueError when the bytes end before."""
    if at >= len(data):
        raise ValueError(f"vint at byte {at}: no bytes left")
    first = data[at]
    following = 8 - (first ^ 0xFF).bit_length()
    stop = at + 1 + following
    if stop > len(data):
        raise ValueError(f"vint at byte {at}: {following} bytes must follow, {len(data) - at - 1} do")
    high_bits = first & (0x7F >> following)
    return int.from_bytes(data[at + 1 : stop], "big") | high_bits << (8 * following), stop


def write_unsigned_vint(value: int) -> bytes:
    """0 <= value < 2^64, in its shortest form."""
    following = min(max(value.bit_length() - 1, 0) // 7, 8)
    return (value | (0xFF00 >> following & 0xFF) << (8 * following)).to_bytes(1 + following, "big")


def read_signed_vint(data: bytes, at: int) -> tuple[int, int]:
    value, stop = read_unsigned_vint(data, at)
    return (value >> 1) ^ -(value & 1), stop


def write_signed_vint(value: int) -> bytes:
    """-2^63 <= value < 2^63."""
    return write_unsigned_vint(((value << 1) ^ (value >> 63)) & 0xFFFF_FFFF_FFFF_FFFF)
