"""A scan under way: the six stages, put together."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from flightsrv.arrow.frames import Frame, FrameWriter
from flightsrv.arrow.parts import Parts
from flightsrv.config import Settings
from flightsrv.io.buffered import BufferedFile
from flightsrv.scan import times
from flightsrv.scan.flow import Cancel, Pools, ahead
from flightsrv.scan.plan import Plan
from flightsrv.scan.runs import run_header
from flightsrv.scan.seek import start_of
from flightsrv.scan.sstables import SSTable, open_data
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.slab import BufferPool, Selection, SlabPart, Slabs, allocate_slabs
from flightsrv.stages.decode import FILE_START, Run
from flightsrv.stages.decompress import decompress
from flightsrv.stages.encode import BatchLimits, Encoder, record_batch_of
from flightsrv.stages.merge import merge
from flightsrv.stages.read import read
from flightsrv.telemetry.clocks import ScanClocks

T = TypeVar("T")

SLAB_CELLS = 80_000
"""Values a slab holds at most, over all its columns: some 3 MB."""
SLAB_ROWS = 8_192
RUN_MEMORY_BYTES = 96 * 1024 * 1024
"""Of slabs, pieces and windows, over all runs of a scan: with many runs, each gets smaller ones."""
MIN_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the pieces, windows and slabs of each run are."""

    piece_bytes: int
    window_bytes: int
    read_depth: int
    decompress_depth: int
    slab_rows: int


def sizes_for(runs: int, values: int, settings: Settings) -> Sizes:
    """Sizes such that all runs together stay below RUN_MEMORY_BYTES where they can."""
    share = RUN_MEMORY_BYTES // max(runs, 1)
    piece_bytes = max(MIN_PIECE_BYTES, min(settings.piece_bytes, share // 8))
    return Sizes(
        piece_bytes=piece_bytes,
        window_bytes=2 * piece_bytes,
        read_depth=settings.read_depth if runs <= 4 else 2,
        decompress_depth=2 if runs <= 8 else 1,
        slab_rows=max(64, min(SLAB_ROWS, SLAB_CELLS // values, share // 3 // (40 * values + 120))),
    )


class Scan:
    """One request's scan. One thread takes its frames; any thread may cancel it."""

    def __init__(self, plan: Plan, settings: Settings, pools: Pools, buffers: BufferPool) -> None:
        """Opens every Data.db of the plan, so that files deleted later do not matter. Raises SSTableError."""
        self.plan = plan
        self.schema: pa.Schema = plan.schema
        self.clocks = ScanClocks()
        self._settings = settings
        self._pools = pools
        self._buffers = buffers
        self._cancel = Cancel()
        self._stack = ExitStack()
        self._files: dict[SSTable, BufferedFile] = {}
        with ExitStack() as opened:
            for sstable in plan.sstables:
                self._files[sstable] = open_data(sstable)
                opened.callback(self._files[sstable].close)
            self._stack = opened.pop_all()

    def frames(self) -> Generator[Frame]:
        """The rows as Flight frames. Raises SSTableError, ValueFormError, LimitError, ScanCancelledError."""
        return self._encoded(FrameWriter().write)

    def batches(self) -> Generator[pa.RecordBatch]:
        """The rows as batches over memory that the next one uses again. Raises as `frames` does."""
        return self._encoded(record_batch_of(self.schema))

    def selections(self) -> Generator[Selection]:
        """What merge yields: the rows, still in their windows."""
        for token_range in self.plan.ranges:
            yield from self._merged(token_range)

    def cancel(self) -> None:
        """Stop the scan soon. Any thread, any number of times."""
        self._cancel.set()

    def close(self) -> None:
        """Close the files; the iterators of this scan must be closed or used up."""
        self._stack.close()

    def _encoded(self, form: Callable[[list[Parts]], T]) -> Generator[T]:
        settings = self._settings
        limits = BatchLimits(settings.batch_rows, settings.batch_bytes, self.plan.limit)
        clock = self.clocks.stage("encode")
        encoder = Encoder(self.plan.outputs, self.plan.table, limits, clock, self.plan.mapping)
        with closing(self.selections()) as selections:
            for batch in encoder.encode(selections, form):
                self._cancel.check()
                yield batch

    def _merged(self, token_range: TokenRange) -> Generator[Selection]:
        """The rows of one range: a run for each SSTable, merged."""
        plan = self.plan
        if not plan.sstables:
            return
        sizes = sizes_for(len(plan.sstables), plan.value_count, self._settings)
        cells = len(plan.table.static) + len(plan.table.regular)
        slabs = allocate_slabs(len(plan.sstables), len(plan.table.clustering), cells, sizes.slab_rows)
        with ExitStack() as stack:
            runs = []
            for i, sstable in enumerate(plan.sstables):
                run = self._run(sstable, token_range, sizes, slabs.of(i))
                stack.callback(run.close)
                runs.append(run)
            yield from merge(runs, slabs, plan.rules, self.clocks.stage("merge"))

    def _run(self, sstable: SSTable, token_range: TokenRange, sizes: Sizes, slab: Slabs) -> Generator[SlabPart]:
        """read → decompress → decode for one SSTable."""
        clocks, cancel, pools = self.clocks, self._cancel, self._pools
        header = run_header(sstable, self.plan.table, token_range)
        start = FILE_START if token_range.is_whole_ring else start_of(sstable, token_range)
        extents = sstable.extents(start.position, sstable.data_length, sizes.piece_bytes, sizes.window_bytes)
        read_clock = clocks.stage("read", sizes.read_depth)
        pieces = read(
            extents,
            self._files[sstable],
            self._buffers,
            ahead(pools.disk, sizes.read_depth, read_clock, cancel),
        )
        decompress_clock = clocks.stage("decompress", sizes.decompress_depth)
        windows = decompress(
            pieces, sstable.chunks, self._buffers, ahead(pools.cpu, sizes.decompress_depth, decompress_clock, cancel)
        )
        parts = Run(sstable.data_path, header, slab, clocks.stage("decode")).decode(windows, start)
        if not times.are_sure(sstable):
            parts = times.compared(parts, slab, sstable, self.plan.table, header, token_range.is_whole_ring)
        with closing(windows):
            yield from parts
