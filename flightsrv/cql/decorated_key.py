"""Partition keys with their tokens, in the form that Partitions.db is searched by, and the hash that it keeps of them.

Source: org.apache.cassandra.db.DecoratedKey, getToken of partitioners in org.apache.cassandra.dht.
"""

from __future__ import annotations

import numpy as np

from flightsrv.cql.byte_comparable import escaped, key_form, value_form
from flightsrv.cql.comparable_numbers import signed, varint
from flightsrv.cql.numbers import write_varint
from flightsrv.cql.partitioners import Partitioner
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.murmur3 import hash3_x64_128
from flightsrv.kernels.order import STRINGS
from flightsrv.kernels.scalars import BYTES
from flightsrv.kernels.tokens import MURMUR3, RANDOM


def filter_hash(key: bytes) -> int:
    """The byte of a key's hash that Partitions.db keeps (Cassandra: filterHashLowerBits)."""
    data = np.frombuffer(key + b"\0", np.uint8)
    _, second = hash3_x64_128(np.int64(data.ctypes.data), np.int64(len(key)))
    return int(second) & 0xFF


def token_form(partitioner: Partitioner, token: int) -> bytes:
    """The byte-comparable form of a token. Raises SchemaError where tokens are no numbers."""
    if partitioner.tokens == MURMUR3:
        return signed(token.to_bytes(8, signed=True))
    if partitioner.tokens == RANDOM:
        return varint(write_varint(token))
    raise SchemaError(f"tokens of {partitioner.class_name} are no numbers")


def decorated_form(partitioner: Partitioner, key_type: CqlType, key: bytes) -> bytes:
    """The byte-comparable form of a key. key_type: LocalPartitioner's tokens are values of it.

    Raises SchemaError when the partitioner is none of Cassandra's, or a key of this type has no form; ValueError when
    the key is not of its type.
    """
    if partitioner.tokens in (MURMUR3, RANDOM):
        token = token_form(partitioner, partitioner.token(key))
    elif partitioner.comparator == BYTES:
        token = escaped(key)
    elif partitioner.comparator == STRINGS:
        token = escaped(_text_of(key))
    elif partitioner.comparator is None:
        token = value_form(key_type, key) or b""
    else:
        raise SchemaError(f"partitioner {partitioner.class_name} is none of Cassandra's")
    return key_form(token, key)


def _text_of(key: bytes) -> bytes:
    """A key as OrderPreservingPartitioner's text: as hex if it is not UTF-8."""
    try:
        key.decode()
    except UnicodeDecodeError:
        return key.hex().encode()
    return key
