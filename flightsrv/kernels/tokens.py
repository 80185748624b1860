"""The tokens of partition keys, as two int64 that sort as they do: with equal tokens, keys decide.

Source: org.apache.cassandra.dht.IPartitioner.getToken.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.md5 import random_token
from flightsrv.kernels.murmur3 import token_of

NO_TOKENS, MURMUR3, RANDOM = range(3)
"""Whose tokens keys have: with NO_TOKENS all are equal."""


@kernel
def token_halves(tokens, address, size):
    """The token of the key at an address: (high half, low half)."""
    if tokens == MURMUR3:
        return np.int64(token_of(address, size)), np.int64(0)
    if tokens == RANDOM:
        return random_token(address, size)
    return np.int64(0), np.int64(0)
