"""Stage 4, merge: the slabs of k runs to selections of the rows that a reader sees.

order → reconcile → purge, in one kernel; in another one without the purge, and with all times. A single run whose slab
holds nothing that could hide a row, and no value that must be made (of collections, UDTs, counters), needs neither: its
slab is the selection.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import numpy as np

from flightsrv.errors import LimitError, UnsupportedRequestError
from flightsrv.kernels import merge as kernels
from flightsrv.kernels.complex import CURSOR_ELEMENT_FIELDS, SIMPLE
from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.decimals import COMPARED_BYTES
from flightsrv.kernels.history import RECORD_FIELDS, history
from flightsrv.kernels.scalars import TOO_LONG
from flightsrv.kernels.status import DONE, NEED_INPUT, NEED_ROOM
from flightsrv.kernels.walk import (
    CONTINUES,
    CURSOR_FIELDS,
    FINISHED,
    IN_PARTITION,
    MERGE_NUMBERS,
    PARTITION,
    PARTITION_COUNT,
    ROW_COUNT,
    MergeRules,
    MergeState,
    keep_head,
)
from flightsrv.slab import ABSENT, Array, Selection, SlabPart, Slabs
from flightsrv.telemetry.clocks import Clock

SPARE_BYTES = 1 << 20
"""Memory for values made here, at first."""
MAX_SPARE_BYTES = 1 << 30
"""At most: what all collections, UDTs and counters of one row may take together."""


def merge(runs: Sequence[Iterator[SlabPart]], slabs: Slabs, rules: MergeRules, clock: Clock) -> Iterator[Selection]:
    """Merge runs that fill `slabs`, run i slab i. A selection is valid until the next one is asked for.

    With rules.wanted it holds what kernels/history.py gives, in two values more than the slabs have.
    """
    merger = _Merger(runs, slabs, rules, clock)
    return merger.single() if len(runs) == 1 else merger.many()


class _Merger:
    def __init__(self, runs: Sequence[Iterator[SlabPart]], slabs: Slabs, rules: MergeRules, clock: Clock) -> None:
        self._runs = runs
        self._slabs = slabs
        self._rules = rules
        self._clock = clock
        self._kernel = history if rules.wanted.size else kernels.merge
        self._makes_values = bool(rules.wanted.size or (rules.cell_kind != SIMPLE).any())
        count, values, rows = slabs.at.shape
        self._state = MergeState(
            cursor=np.zeros((count, CURSOR_FIELDS), np.int64),
            row=np.zeros(count, np.int64),
            row_stop=np.zeros(count, np.int64),
            numbers=np.zeros(MERGE_NUMBERS, np.int64),
            members=np.zeros(count, np.int64),
            versions=np.zeros(count, np.int64),
            active=np.zeros(2, np.int64),
            head_at=np.zeros(1 + rules.statics, np.int64),
            head_size=np.zeros(1 + rules.statics, np.int32),
            elements=np.zeros((count, CURSOR_ELEMENT_FIELDS), np.int64),
            equals=np.zeros(count, np.int64),
            record=np.zeros(RECORD_FIELDS, np.int64),
            spare=np.zeros(SPARE_BYTES if self._makes_values else 0, np.uint8),
        )
        self._kept = np.zeros(1 << 16, np.uint8)
        values += 2 if rules.wanted.size else 0
        self._at: Array = np.zeros((values, rows), np.int64)
        self._size: Array = np.full((values, rows), ABSENT, np.int32)

    def single(self) -> Iterator[Selection]:
        """One run: what needs no merge goes straight through."""
        slab = self._slabs.of(0)
        while (part := self._next_part(0)) is not None:
            is_plain = part.facts == 0 and not self._rules.strict_liveness and not self._makes_values
            if is_plain and not self._state.numbers[IN_PARTITION]:
                with self._clock.blocked():
                    yield Selection(slab.at, slab.size, 0, part.row_count)
            else:
                self._enter(0, part)
                yield from self._merged()
        self._finish(0)
        yield from self._merged()

    def many(self) -> Iterator[Selection]:
        """Several runs."""
        run = 0
        for run in range(len(self._runs)):
            self._refill(run)
        while (run := (yield from self._merged())) >= 0:
            self._refill(run)

    def _merged(self) -> Generator[Selection, None, int]:
        """Selections until a run lacks a slab; returns that run, or -1 when all is merged."""
        while True:
            with self._clock.busy():
                status, made, run = self._kernel(self._slabs, self._state, self._rules, self._at, self._size)
            refuse_undecided(self._rules.orders)
            if made:
                with self._clock.blocked():
                    yield Selection(self._at, self._size, 0, made)
            if status == DONE:
                return -1
            self._keep_head()
            if status == NEED_INPUT:
                return int(run)
            if status == NEED_ROOM:
                self._enlarge_spare()

    def _refill(self, run: int) -> None:
        part = self._next_part(run)
        if part is None:
            self._finish(run)
        else:
            self._enter(run, part)

    def _next_part(self, run: int) -> SlabPart | None:
        with self._clock.starved():
            return next(self._runs[run], None)

    def _enter(self, run: int, part: SlabPart) -> None:
        cursor = self._state.cursor
        cursor[run, PARTITION] = 0
        cursor[run, PARTITION_COUNT] = part.partition_count
        cursor[run, ROW_COUNT] = part.row_count
        cursor[run, CONTINUES] = part.continues
        self._state.row[run] = 0

    def _finish(self, run: int) -> None:
        cursor = self._state.cursor
        cursor[run, PARTITION] = cursor[run, PARTITION_COUNT] = cursor[run, ROW_COUNT] = 0
        cursor[run, CONTINUES] = 0
        cursor[run, FINISHED] = 1
        self._state.row[run] = 0

    def _keep_head(self) -> None:
        """The head of the partition at hand outlives the slab, and the spare memory, that it is in."""
        if not self._state.numbers[IN_PARTITION]:
            return
        if not keep_head(self._state, self._kept):
            wanted = int(np.maximum(self._state.head_size, 0).sum())
            self._kept = np.zeros(2 * wanted, np.uint8)
            keep_head(self._state, self._kept)

    def _enlarge_spare(self) -> None:
        size = 2 * self._state.spare.size
        if size > MAX_SPARE_BYTES:
            raise LimitError(f"the collections of one row take more than {MAX_SPARE_BYTES} bytes")
        self._state = self._state._replace(spare=np.zeros(size, np.uint8))


def refuse_undecided(orders: Orders) -> None:
    """Raise LimitError or UnsupportedRequestError if values were not compared as Cassandra does: what was made with
    them must not be shown."""
    if orders.undecided[0] == TOO_LONG:
        raise LimitError(f"rows sort by a decimal that is longer than {COMPARED_BYTES} bytes")
    if orders.undecided[0]:
        raise UnsupportedRequestError(
            "rows sort by a DynamicCompositeType whose component is of a class of no known order"
        )
