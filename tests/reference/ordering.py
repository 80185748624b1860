"""Cassandra's orders: partitions by token and key, rows by clustering, bounds of range deletions among the rows.

Source: org.apache.cassandra.utils.MurmurHash, the compareCustom of each org.apache.cassandra.db.marshal type,
org.apache.cassandra.db.ClusteringComparator.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.reference.model import BEFORE, Clustering
from tests.reference.reader import Reader, signed
from tests.reference.types import CqlType

MASK = 2**64 - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def token(partitioner: str, key: bytes, key_type: CqlType | None = None) -> Any:
    """Something that sorts as the partitioner's tokens do: a number, or something made of the key."""
    match partitioner:
        case "Murmur3Partitioner":
            return murmur3_token(key)
        case "RandomPartitioner":
            return abs(int.from_bytes(hashlib.md5(key).digest(), "big", signed=True)) if key else -1
        case "ByteOrderedPartitioner":
            return key
        case "OrderPreservingPartitioner":
            return java_string(key).encode("utf-16-be")
        case "LocalPartitioner" if key_type:
            return value_key(key_type, key)
    raise NotImplementedError(partitioner)


def java_string(data: bytes) -> str:
    """Bytes as UTF-8, or their hex digits."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.hex()


def murmur3_token(key: bytes) -> int:
    """First half of the 128-bit murmur3 with Cassandra's quirk: the bytes after the last full block count as signed.

    The empty key, which views have, is the ring's least token.
    """
    if not key:
        return -(2**63)
    h1 = h2 = 0
    tail_at = len(key) - len(key) % 16
    for k1, k2 in struct.iter_unpack("<QQ", key[:tail_at]):
        h1 = (_rotl(h1 ^ _scrambled(k1, C1, 31, C2), 27) + h2) * 5 + 0x52DCE729 & MASK
        h2 = (_rotl(h2 ^ _scrambled(k2, C2, 33, C1), 31) + h1) * 5 + 0x38495AB5 & MASK
    k1 = k2 = 0
    for i, byte in enumerate(struct.unpack(f"{len(key) - tail_at}b", key[tail_at:])):
        if i < 8:
            k1 ^= byte << 8 * i & MASK
        else:
            k2 ^= byte << 8 * (i - 8) & MASK
    h1 ^= _scrambled(k1, C1, 31, C2) ^ len(key)
    h2 ^= _scrambled(k2, C2, 33, C1) ^ len(key)
    h1 = h1 + h2 & MASK
    h2 = h2 + h1 & MASK
    made = signed(_mixed(h1) + _mixed(h2))
    return 2**63 - 1 if made == -(2**63) else made


def _scrambled(k: int, first: int, turn: int, second: int) -> int:
    return _rotl(k * first & MASK, turn) * second & MASK


def _rotl(number: int, bits: int) -> int:
    return (number << bits | number >> 64 - bits) & MASK


def _mixed(h: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):
        h = (h ^ h >> 33) * factor & MASK
    return h


def value_key(type_: CqlType, value: bytes | None) -> tuple[Any, ...]:
    """Sorts as the type's values do, null before empty before all others. Reversal is the caller's."""
    if not value:
        return (0,) if value is None else (1,)
    return (2, _present_key(type_, value))


def _present_key(type_: CqlType, value: bytes) -> Any:
    match type_.name:
        case "boolean":
            return value != b"\0"
        case "tinyint" | "smallint" | "int" | "bigint" | "timestamp" | "varint":
            return int.from_bytes(value, "big", signed=True)
        case "float" | "double":
            return _float_key(value)
        case "decimal":
            scale, unscaled = struct.unpack(">i", value[:4])[0], int.from_bytes(value[4:], "big", signed=True)
            return unscaled * Fraction(10) ** -scale
        case "uuid":
            version = value[6] >> 4
            return (version, _uuid_timestamp(value) if version == 1 else 0, value if version != 1 else value[8:])
        case "timeuuid":
            return (_uuid_timestamp(value), struct.unpack("8b", value[8:]))
        case "lexical_uuid":
            return struct.unpack(">qq", value)
        case "list" | "set" | "map":
            return _elements_key(type_, value)
        case "tuple" | "udt":
            return _fields_key(type_, value)
        case "vector":
            return tuple(value_key(type_.args[0], element) for element in vector_elements(type_, value))
        case _:
            return value


def _float_key(value: bytes) -> int:
    """Java's compare: -Infinity .. -0.0 < 0.0 .. Infinity < NaN, all NaNs equal."""
    number = struct.unpack(">f" if len(value) == 4 else ">d", value)[0]
    bits = int.from_bytes(value, "big")
    sign_bit = 1 << (8 * len(value) - 1)
    if number != number:
        return 2 * sign_bit
    return bits if bits < sign_bit else sign_bit - 1 - bits


def _uuid_timestamp(value: bytes) -> int:
    low, mid, high = struct.unpack(">IHH", value[:8])
    return int(high) << 48 | int(mid) << 32 | int(low)


def collection_elements(value: bytes) -> list[bytes | None]:
    """Elements of a frozen list or set, or the keys and values of a frozen map one after the other."""
    reader = Reader(value, "a collection")
    reader.i32()  # elements; a map's value does not say that there are twice as many
    return _length_prefixed(reader)


def tuple_fields(type_: CqlType, value: bytes) -> list[bytes | None]:
    """One entry for each field the type has; fields that older values lack are null."""
    fields = _length_prefixed(Reader(value, "a tuple"))
    return fields + [None] * (len(type_.args) - len(fields))


def _length_prefixed(reader: Reader) -> list[bytes | None]:
    parts: list[bytes | None] = []
    while reader.at < len(reader.data):
        length = reader.i32()
        parts.append(None if length < 0 else reader.take(length))
    return parts


def vector_elements(type_: CqlType, value: bytes) -> list[bytes]:
    reader = Reader(value, "a vector")
    length = type_.args[0].fixed_length
    return [reader.vint_bytes() if length is None else reader.take(length) for _ in range(type_.dimension)]


def _elements_key(type_: CqlType, value: bytes) -> tuple[Any, ...]:
    elements = collection_elements(value)
    return tuple(value_key(type_.args[i % len(type_.args)], element) for i, element in enumerate(elements))


def _fields_key(type_: CqlType, value: bytes) -> tuple[Any, ...]:
    fields = zip(type_.args, tuple_fields(type_, value), strict=True)
    return tuple(value_key(field_type, field) for field_type, field in fields)


class _Descending:
    """Turns an order round."""

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def clustering_key(types: Sequence[CqlType], clustering: Clustering) -> tuple[Any, ...]:
    """Sorts as the table's clusterings do, DESC columns turned round. Null comes first in either direction."""
    keys = [value_key(type_, value) for type_, value in zip(types, clustering, strict=False)]
    return tuple(
        (value is not None, _Descending(key) if type_.is_reversed and value is not None else key)
        for type_, value, key in zip(types, clustering, keys, strict=False)
    )


def is_above(row_key: tuple[Any, ...], kind: int, bound_key: tuple[Any, ...]) -> bool:
    """Whether a row stands after a bound of this kind. Keys are those of `clustering_key`."""
    prefix = row_key[: len(bound_key)]
    return prefix > bound_key or (prefix == bound_key and kind in BEFORE)
