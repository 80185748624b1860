"""Partition keys with their tokens, in the form that Partitions.db is searched by, and the hash that it keeps of them.

Source: org.apache.cassandra.db.DecoratedKey, getToken of partitioners in org.apache.cassandra.dht.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np

from flightsrv.cql.byte_comparable import escaped, key_form, murmur3_token_form, value_form
from flightsrv.cql.comparable_numbers import varint
from flightsrv.cql.numbers import write_varint
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.murmur3 import MAX_TOKEN, MIN_TOKEN, hash3_x64_128

_DHT: Final = "org.apache.cassandra.dht."


def hashes(key: bytes) -> tuple[int, int]:
    """Both halves of the hash that tokens and bloom filters are made of."""
    data = np.frombuffer(key + b"\0", np.uint8)
    first, second = hash3_x64_128(np.int64(data.ctypes.data), np.int64(len(key)))
    return int(first), int(second)


def murmur3_token(key: bytes) -> int:
    """Murmur3Partitioner's token of a key that is not empty."""
    first, _ = hashes(key)
    return int(MAX_TOKEN) if first == MIN_TOKEN else first


def filter_hash(key: bytes) -> int:
    """The byte of a key's hash that Partitions.db keeps (Cassandra: filterHashLowerBits)."""
    return hashes(key)[1] & 0xFF


def decorated_form(partitioner: str, key_type: CqlType, key: bytes) -> bytes:
    """The byte-comparable form of a key. key_type: LocalPartitioner's tokens are values of it.

    Raises SchemaError when the partitioner is none of Cassandra's, or a key of this type has no form; ValueError when
    the key is not of its type.
    """
    match partitioner.removeprefix(_DHT):
        case "Murmur3Partitioner":
            token = murmur3_token_form(murmur3_token(key))
        case "RandomPartitioner":
            digest = hashlib.md5(key, usedforsecurity=False).digest()
            token = varint(write_varint(abs(int.from_bytes(digest, signed=True))))
        case "ByteOrderedPartitioner":
            token = escaped(key)
        case "OrderPreservingPartitioner":
            token = escaped(_text_of(key))
        case "LocalPartitioner":
            token = value_form(key_type, key) or b""
        case _:
            raise SchemaError(f"partitioner {partitioner} is none of Cassandra's")
    return key_form(token, key)


def _text_of(key: bytes) -> bytes:
    """A key as OrderPreservingPartitioner's text: as hex if it is not UTF-8."""
    try:
        key.decode()
    except UnicodeDecodeError:
        return key.hex().encode()
    return key
