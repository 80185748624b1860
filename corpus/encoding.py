"""The primitives of Cassandra's component files, on the way out.

Source: java.io.DataOutput, org.apache.cassandra.utils.vint.VIntCoding, utils.ByteBufferUtil.
"""

from __future__ import annotations

import struct


def i32(*values: int) -> bytes:
    """Signed, big-endian."""
    return struct.pack(f">{len(values)}i", *values)


def u32(value: int) -> bytes:
    """Unsigned, big-endian."""
    return struct.pack(">I", value)


def i64(*values: int) -> bytes:
    """Signed, big-endian."""
    return struct.pack(f">{len(values)}q", *values)


def f64(value: float) -> bytes:
    """IEEE 754, big-endian."""
    return struct.pack(">d", value)


def utf(text: str) -> bytes:
    """A length of 16 bits, then UTF-8."""
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def sbytes(data: bytes) -> bytes:
    """A length of 16 bits, then the bytes."""
    return struct.pack(">H", len(data)) + data


def vint(value: int) -> bytes:
    """An unsigned vint: as many leading ones as bytes follow."""
    extra = min(max(value.bit_length() - 1, 0) // 7, 8)
    first = (0xFF00 >> extra) & 0xFF
    return (value | first << 8 * extra).to_bytes(extra + 1, "big")


def signed_vint(value: int) -> bytes:
    """A zigzagged vint."""
    return vint(value << 1 if value >= 0 else (-value << 1) - 1)


def vbytes(data: bytes) -> bytes:
    """A vint length, then the bytes."""
    return vint(len(data)) + data


def deletion_time(deleted_us: int | None, version: str) -> bytes:
    """A partition deletion, or none, as partitions and index entries hold it (DeletionTime)."""
    if deleted_us is None:
        return b"\x80" if version == "oa" else i32(0x7FFFFFFF) + i64(-(2**63))
    second = deleted_us // 1_000_000
    return i64(deleted_us) + u32(second) if version == "oa" else i32(second) + i64(deleted_us)
