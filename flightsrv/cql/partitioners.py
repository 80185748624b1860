"""Cassandra's partitioners: how each puts partitions in order, and which tokens it has.

    Murmur3Partitioner          by a hash of 64 bits, signed; then keys as bytes
    RandomPartitioner           by |MD5|, 0 to 2^127; then keys as bytes
    ByteOrderedPartitioner      keys as bytes
    OrderPreservingPartitioner  keys as strings of UTF-16, or their hex where they are none; then as bytes
    LocalPartitioner            keys as values of their type; then as bytes. Of secondary indexes and system.batches

Source: org.apache.cassandra.dht, db.DecoratedKey.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.types import CqlType
from flightsrv.kernels.murmur3 import tokens_of
from flightsrv.kernels.order import ANY_ORDER, STRINGS
from flightsrv.kernels.scalars import BYTES
from flightsrv.kernels.tokens import MURMUR3, NO_TOKENS, RANDOM


@dataclass(frozen=True, slots=True)
class Partitioner:
    """How the partitions of a table are in order."""

    class_name: str
    tokens: int
    """Of kernels/tokens.py. With NO_TOKENS, every key counts as having token 0."""
    comparator: int | None
    """How keys with equal tokens compare; None: as values of their type."""
    least_token: int = -(1 << 63)
    """The empty key has it, no other."""
    greatest_token: int = (1 << 63) - 1

    def token(self, key: bytes) -> int:
        """The token of a key."""
        if not key:
            return self.least_token
        if self.tokens == MURMUR3:
            token = np.empty(1, np.int64)
            tokens_of(np.frombuffer(key, np.uint8), np.zeros(1, np.int64), np.array([len(key)], np.int64), token)
            return int(token[0])
        if self.tokens == RANDOM:
            return abs(int.from_bytes(hashlib.md5(key, usedforsecurity=False).digest(), "big", signed=True))
        return 0

    def halves(self, token: int) -> tuple[int, int]:
        """A token as kernels have it."""
        if self.tokens != RANDOM:
            return token, 0
        high, low = divmod(token - self.least_token, 1 << 64)
        return high - (1 << 63), low - (1 << 63)

    def compared_type(self, key_type: str) -> CqlType:
        """The type by which keys with equal tokens compare, where it is a type. key_type: theirs, a class name."""
        return parse_marshal(key_type).type if self.comparator is None else CqlType("blob")

    def key_comparator(self, of_type: int) -> int:
        """How keys with equal tokens compare, as in kernels/order.py. of_type: the comparator of `compared_type`."""
        return of_type if self.comparator is None else self.comparator


_PACKAGE: Final = "org.apache.cassandra.dht."

PARTITIONERS: Final = {
    each.class_name: each
    for each in (
        Partitioner(f"{_PACKAGE}Murmur3Partitioner", MURMUR3, BYTES),
        Partitioner(f"{_PACKAGE}RandomPartitioner", RANDOM, BYTES, -1, 1 << 127),
        Partitioner(f"{_PACKAGE}ByteOrderedPartitioner", NO_TOKENS, BYTES),
        Partitioner(f"{_PACKAGE}OrderPreservingPartitioner", NO_TOKENS, STRINGS),
        Partitioner(f"{_PACKAGE}LocalPartitioner", NO_TOKENS, None),
    )
}
MURMUR3_PARTITIONER: Final = PARTITIONERS[f"{_PACKAGE}Murmur3Partitioner"]


def partitioner_of(class_name: str) -> Partitioner:
    """The partitioner of a class; one whose partitions may be in any order if it is none of Cassandra's."""
    return PARTITIONERS.get(class_name) or Partitioner(class_name, NO_TOKENS, ANY_ORDER)
