"""What text kernels write, as Python strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.kernels.places import is_valid, places_of


def texts(
    gather: Callable[..., Any], values: Sequence[bytes | None], width: int, growth: int = 0, how: tuple[Any, ...] = ()
) -> list[str | None] | int:
    """Texts of at most width + growth * size bytes, or what the kernel said instead of a count of nulls.

    how: what it takes between stop and offsets.
    """
    found = places_of(values)
    offsets, valid = np.zeros(found.count + 1, np.int32), np.full(found.count // 8 + 1, 255, np.uint8)
    room = width * found.count + growth * sum(len(value or b"") for value in values)
    out = np.full(room + 1, 0x5A, np.uint8)
    nulls = gather(found.at, found.size, 0, found.count, *how, offsets, out, valid, 0)
    if nulls < 0:
        return int(nulls)
    assert out[-1] == 0x5A
    content, validity = out.tobytes(), is_valid(valid, found.count)
    assert nulls == validity.count(False)
    ends = offsets.tolist()
    assert all(ends[i] == ends[i + 1] for i in range(found.count) if not validity[i])
    return [content[ends[i] : ends[i + 1]].decode() if validity[i] else None for i in range(found.count)]
