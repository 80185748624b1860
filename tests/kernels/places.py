"""Values where kernels find them: as addresses and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flightsrv.kernels.vint import SLACK
from flightsrv.slab import ABSENT, Array


class Places(NamedTuple):
    """Values in memory, and where: what is behind a value is never zero."""

    at: Array
    size: Array
    memory: Array
    """Kept, so that the addresses stay good."""

    @property
    def count(self) -> int:
        return int(self.at.size)


def places_of(values: Sequence[bytes | None]) -> Places:
    """Places of values; None is null."""
    present = [value or b"" for value in values]
    memory = np.frombuffer(b"".join(value + b"\xff" for value in present) + b"\xff" * SLACK, np.uint8)
    starts = np.cumsum([0] + [len(value) + 1 for value in present])[:-1]
    size = [ABSENT if value is None else len(value) for value in values]
    return Places(memory.ctypes.data + starts.astype(np.int64), np.array(size, np.int32), memory)


def is_valid(bitmap: Array, count: int) -> list[bool]:
    """A validity bitmap as booleans."""
    return [bool(bit) for bit in np.unpackbits(bitmap, count=count, bitorder="little")]
