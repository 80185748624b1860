"""Stage 3, decode: windows of one SSTable to slabs, one run."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from flightsrv.errors import CorruptSSTableError, LimitError, Where
from flightsrv.kernels import decode as kernels
from flightsrv.kernels.native import copy
from flightsrv.kernels.run import (
    FACTS,
    FIELD,
    FIELDS,
    IN_PARTITION,
    OPEN_KEY_AT,
    OPEN_KEY_SIZE,
    OPEN_TOKEN,
    OPEN_TOKEN_LOW,
    PARTITION_COUNT,
    ROW_COUNT,
    STATE_FIELDS,
    RunHeader,
)
from flightsrv.kernels.status import CORRUPT, DONE, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array, SlabPart, Slabs, Window
from flightsrv.telemetry.clocks import Clock

MAX_UNFILTERED_BYTES = 1 << 30
"""The largest row, or partition head, that is taken into memory: four values of Cassandra's largest size."""
_MAX_KEY_BYTES = 65535
_LEAST_HALF = -(2**63)
"""Of a token: all keys' are above it."""


class Start(NamedTuple):
    """Where a run begins in the uncompressed data: at a partition."""

    position: int
    key: bytes | None
    """The partition's, when an index says so; None at the start of the file."""

    @property
    def head(self) -> bytes:
        """How the partition begins: its key's size and its key. Empty when the key is not known."""
        return b"" if self.key is None else len(self.key).to_bytes(2, "big") + self.key


FILE_START = Start(0, None)


class Run:
    """One SSTable's rows, decoded part by part into one slab."""

    def __init__(self, path: str, header: RunHeader, slab: Slabs, clock: Clock) -> None:
        self._path = path
        self._header = header
        self._slab = slab
        self._clock = clock
        self._state = np.zeros(STATE_FIELDS, np.int64)
        self._state[OPEN_TOKEN] = self._state[OPEN_TOKEN_LOW] = _LEAST_HALF
        self._key = np.zeros(_MAX_KEY_BYTES + SLACK, np.uint8)

    def decode(self, windows: Iterator[Window], begin: Start = FILE_START) -> Iterator[SlabPart]:
        """Fill the slab again and again, from `begin` on. What it holds is valid until the next part is asked for.

        Raises CorruptSSTableError with the position of what is damaged, or of where the data ends too early.
        """
        clock = self._clock
        left: Window | None = None
        head = begin.head
        while True:
            with clock.starved():
                window = next(windows, None)
            if window is None:
                break
            if left is not None:
                window = _joined(left, window)
            else:
                _skip_to(window, begin.position)
            if head:
                if window.stop - window.start < len(head):
                    left = window
                    continue
                self._check_head(window, head)
                head = b""
            left = yield from self._decode_window(window)
            if left is None:
                window.release()
                return  # past the token range
        if left is not None and (left.stop > left.start or self._state[IN_PARTITION]):
            what = "the data ends inside of a partition"
            raise CorruptSSTableError(what, Where(self._path, position=left.position + left.stop - left.start))
        if left is not None:
            left.release()

    def _decode_window(self, window: Window) -> Generator[SlabPart, None, Window | None]:
        """Parts of one window. Returns what is left of it, None when no more is wanted."""
        state, clock = self._state, self._clock
        at = window.start
        while True:
            with clock.busy():
                status, stopped_at = kernels.decode(window.data, at, window.stop, self._header, state, self._slab)
            if state[ROW_COUNT] or state[PARTITION_COUNT]:
                part = SlabPart(
                    int(state[ROW_COUNT]), int(state[PARTITION_COUNT]), bool(state[IN_PARTITION]), int(state[FACTS])
                )
                with clock.blocked():
                    yield part
            if status == CORRUPT:
                position = window.position + int(stopped_at) - window.start
                raise CorruptSSTableError(
                    "is damaged", Where(self._path, position=position, field=FIELDS[state[FIELD]])
                )
            if status == DONE:
                return None
            at = int(stopped_at)
            if status != OUTPUT_FULL:
                break
        self._keep_key()
        return Window(window.data, at, window.stop, window.position + at - window.start, window.pool)

    def _check_head(self, window: Window, head: bytes) -> None:
        """Make sure that the partition the index speaks of is there."""
        if window.data[window.start : window.start + len(head)].tobytes() != head:
            what = "the index says that a partition starts here, but its key is another"
            raise CorruptSSTableError(what, Where(self._path, position=window.position))

    def _keep_key(self) -> None:
        """The key of the partition at hand, or of the last one, outlives its window."""
        state, address = self._state, self._key.ctypes.data
        if state[OPEN_KEY_SIZE] and state[OPEN_KEY_AT] != address:
            copy(address, state[OPEN_KEY_AT], state[OPEN_KEY_SIZE])
            state[OPEN_KEY_AT] = address


def _skip_to(window: Window, position: int) -> None:
    """Begin inside of the first window."""
    window.start += position - window.position
    window.position = position


def _joined(left: Window, window: Window) -> Window:
    """One window of what is left and what comes next; `left` is released."""
    size = left.stop - left.start
    rest = left.data[left.start : left.stop]
    if size <= window.start:
        window.data[window.start - size : window.start] = rest
        left.release()
        return Window(window.data, window.start - size, window.stop, left.position, window.pool)
    more = window.stop - window.start
    if size + more > MAX_UNFILTERED_BYTES:
        raise LimitError(f"a row at position {left.position} is larger than {MAX_UNFILTERED_BYTES} bytes")
    stop = left.stop + more
    if stop + SLACK <= left.data.size:  # it has room already: a row of many windows is not copied each time
        data, start = left.data, left.start
    else:
        data, start, stop = _enlarged(left, size + more), 0, size + more
    data[stop - more : stop] = window.data[window.start : window.stop]
    window.release()
    return Window(data, start, stop, left.position, left.pool if data is left.data else None)


def _enlarged(left: Window, size: int) -> Array:
    """Twice the memory that `size` bytes need, with what is left at its start."""
    data = np.empty(2 * size + SLACK, np.uint8)
    data[: left.stop - left.start] = left.data[left.start : left.stop]
    left.release()
    return data
