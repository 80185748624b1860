"""A scan under way: what it does when the disk fails, when it is told to stop, and when nobody wants more."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpus.keyvalue import TABLE, write
from flightsrv.config import Settings
from flightsrv.cql.ddl import parse_ddl
from flightsrv.errors import CorruptSSTableError, ScanCancelledError, SSTableError
from flightsrv.io import buffered
from flightsrv.scan import run as run_module
from flightsrv.scan.flow import Pools
from flightsrv.scan.plan import Plan, plan_scan
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.run import RUN_MEMORY_BYTES, SLAB_ROWS, Scan, sizes_for
from flightsrv.slab import Array, BufferPool
from flightsrv.stages.read import HEAD_ROOM
from tests.arrow.test_frames import batch_of
from tests.scan.scanning import copied, open_file

PARTITIONS = 20_000
SCHEMA = parse_ddl(TABLE.cql(), "bench", "keyvalue")
SETTINGS = Settings(piece_bytes=256 * 1024, batch_bytes=100_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One SSTable of some twelve reads."""
    return write(tmp_path_factory.mktemp("data"), PARTITIONS).folder


@pytest.fixture
def pools() -> Iterator[Pools]:
    made = Pools(4, 2)
    yield made
    made.close()  # hangs if anything still runs


def plan_of(folder: Path, **request: Any) -> Plan:
    sstables = tuple(open_file(path) for path in sorted(folder.glob("*-Data.db")))
    return plan_scan(SCHEMA, sstables, ScanRequest("bench", "keyvalue", now_s=0, **request))


def scan_of(folder: Path, pools: Pools, **request: Any) -> Scan:
    return Scan(plan_of(folder, **request), SETTINGS, pools, BufferPool())


def keys(scan: Scan) -> list[str]:
    return [key for batch in scan.batches() for key in copied(batch).column("key").to_pylist()]


def failing_read(number: int, code: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the n-th read of any file fail. Returns the offsets that are read."""
    real, offsets, lock = os.preadv, [], threading.Lock()

    def preadv(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        with lock:
            offsets.append(offset)
            fails = len(offsets) == number
        if fails:
            raise OSError(code, "whatever")
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(buffered.os, "preadv", preadv)
    return offsets


@pytest.mark.parametrize("number", [1, 2, 5, 9])
@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE])
def test_a_read_that_fails_is_an_error_that_names_file_and_offset(
    folder: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    offsets = failing_read(number, code, monkeypatch)
    with closing(scan_of(folder, pools)) as scan, pytest.raises(SSTableError) as raised:
        keys(scan)
    assert type(raised.value) is SSTableError
    assert raised.value.where.offset == offsets[number - 1]
    assert str(raised.value) == f"nb-1-big-Data.db: offset {offsets[number - 1]}: cannot be read: {os.strerror(code)}"


def test_a_file_that_gets_shorter_under_way_is_an_error(folder: Path, pools: Pools, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with closing(scan_of(copy, pools)) as scan:
        data_file = copy / "nb-1-big-Data.db"
        os.truncate(data_file, data_file.stat().st_size // 2)
        with pytest.raises(
            CorruptSSTableError, match=r"^nb-1-big-Data\.db: offset \d+: the file ends, \d+ bytes early$"
        ):
            keys(scan)


def test_a_file_of_another_size_than_when_it_was_opened_is_an_error(folder: Path, pools: Pools, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    plan = plan_of(copy)
    with (copy / "nb-1-big-Data.db").open("ab") as file:
        file.write(b"more")
    with pytest.raises(CorruptSSTableError, match=r"^nb-1-big-Data\.db: the file has \d+ bytes, it had \d+$"):
        Scan(plan, SETTINGS, pools, BufferPool())


def test_files_may_be_deleted_once_a_scan_is_open(folder: Path, pools: Pools, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    with closing(scan_of(copy, pools)) as scan:
        shutil.rmtree(copy)
        assert len(keys(scan)) == PARTITIONS


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_scan_that_cannot_open_all_files_leaves_none_open(pools: Pools, tmp_path: Path) -> None:
    folder = write(tmp_path, 100, 3).folder
    plan = plan_of(folder)
    (folder / "nb-3-big-Data.db").unlink()
    before = descriptors()
    with pytest.raises(SSTableError, match=r"^nb-3-big-Data\.db: cannot be opened"):
        Scan(plan, SETTINGS, pools, BufferPool())
    assert descriptors() == before


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_a_scan_that_is_left_early_leaves_nothing_behind(folder: Path, pools: Pools, taken: int) -> None:
    before = descriptors()
    scan = scan_of(folder, pools)
    with closing(scan), closing(scan.batches()) as batches:
        for _ in range(taken):
            next(batches)
    assert descriptors() == before


def test_a_scan_may_be_cancelled_at_any_time(folder: Path, pools: Pools) -> None:
    with closing(scan_of(folder, pools)) as scan, closing(scan.batches()) as batches:
        next(batches)
        scan.cancel()
        with pytest.raises(ScanCancelledError):
            next(batches)


def test_a_scan_that_waits_for_the_disk_stops_with_its_next_read(
    folder: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot interrupt the read it waits for, but asks for no other."""
    waiting, go_on = threading.Event(), threading.Event()
    real, reads = os.preadv, []

    def preadv(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        reads.append(offset)
        if offset:
            waiting.set()
            assert go_on.wait(10)
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(buffered.os, "preadv", preadv)
    ended: list[BaseException] = []
    with closing(scan_of(folder, pools)) as scan:
        thread = threading.Thread(target=lambda: ended.append(error_of(lambda: keys(scan))))
        thread.start()
        assert waiting.wait(10)
        scan.cancel()
        go_on.set()
        thread.join(10)
        assert not thread.is_alive()
    assert isinstance(ended[0], ScanCancelledError)
    assert len(reads) <= 1 + SETTINGS.read_depth


def error_of(body: Callable[[], Any]) -> BaseException:
    try:
        body()
    except BaseException as error:
        return error
    raise AssertionError("there was no error")


def test_a_limit_stops_the_scan_early(folder: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    offsets = failing_read(-1, errno.EIO, monkeypatch)
    with closing(scan_of(folder, pools)) as scan:
        all_keys = keys(scan)
    reads = len(offsets)
    offsets.clear()
    with closing(scan_of(folder, pools, limit=5)) as scan:
        assert keys(scan) == all_keys[:5]
    assert len(offsets) < reads


def test_frames_hold_the_batches(folder: Path, pools: Pools) -> None:
    with closing(scan_of(folder, pools)) as scan:
        batches = [copied(batch) for batch in scan.batches()]
        schema = scan.schema
    with closing(scan_of(folder, pools)) as scan:
        frames = list(scan.frames())
    assert [batch_of(frame, schema).to_pylist() for frame in frames] == [batch.to_pylist() for batch in batches]
    assert sum(frame.rows for frame in frames) == PARTITIONS


def test_the_times_of_each_stage_are_those_of_its_life(folder: Path, pools: Pools) -> None:
    with closing(scan_of(folder, pools)) as scan:
        keys(scan)
        times = scan.clocks.totals()
    for stage in ("read", "decompress", "decode", "merge", "encode"):
        assert times[stage].busy_s > 0
    assert (times["read"].lanes, times["decompress"].lanes, times["decode"].lanes) == (SETTINGS.read_depth, 2, 1)
    assert times["write"].lanes == 0


def test_a_damaged_chunk_is_an_error_after_the_rows_before_it(folder: Path, pools: Pools, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    data_file = copy / "nb-1-big-Data.db"
    content = bytearray(data_file.read_bytes())
    content[-100] ^= 1
    data_file.write_bytes(content)
    found: list[str] = []
    with closing(scan_of(copy, pools)) as scan, pytest.raises(CorruptSSTableError, match=r"chunk \d+ checksum"):
        found.extend(key for batch in scan.batches() for key in batch.column("key").to_pylist())
    with closing(scan_of(folder, pools)) as scan:
        assert found == keys(scan)[: len(found)]
    assert len(found) > 0


def test_a_key_that_lies_across_the_end_of_the_first_window_is_found(
    folder: Path, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows are cut so small that each is one chunk, and ranges start at every partition the index samples."""
    monkeypatch.setattr(run_module, "MIN_PIECE_BYTES", 1)
    settings = Settings(piece_bytes=256 * 1024)
    monkeypatch.setattr(run_module, "RUN_MEMORY_BYTES", 8)
    with closing(Scan(plan_of(folder), settings, pools, BufferPool())) as scan:
        assert sizes_for(1, 2, settings).window_bytes == 2
        all_keys = keys(scan)
    for token in range(-(2**63) + 1, 2**63, 2**59):
        with closing(Scan(plan_of(folder, token_start=token), settings, pools, BufferPool())) as scan:
            found = keys(scan)
        assert found == all_keys[len(all_keys) - len(found) :]


@pytest.mark.parametrize("runs", [1, 2, 4, 9, 40, 500])
@pytest.mark.parametrize("values", [2, 30, 2000])
def test_many_runs_share_the_memory_of_a_scan(runs: int, values: int) -> None:
    sizes = sizes_for(runs, values, Settings())
    slab_bytes = sizes.slab_rows * (40 * values + 120)
    in_flight = sizes.read_depth * (sizes.piece_bytes + HEAD_ROOM) + sizes.decompress_depth * (
        sizes.window_bytes + HEAD_ROOM
    )
    assert 64 <= sizes.slab_rows <= SLAB_ROWS
    assert sizes.piece_bytes >= 256 * 1024
    if runs <= 40 and values <= 30:
        assert runs * (slab_bytes + in_flight) < 2 * RUN_MEMORY_BYTES


class CountingPool(BufferPool):
    """Counts who took and who gave back."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[int] = []
        self.given: list[int] = []

    def take(self, size: int) -> Array:
        buffer = super().take(size)
        self.taken.append(buffer.ctypes.data)
        return buffer

    def give(self, buffer: Array) -> None:
        self.given.append(buffer.ctypes.data)
        super().give(buffer)


@pytest.mark.parametrize("runs", [1, 3])
def test_all_memory_is_given_back_once_and_used_again(pools: Pools, tmp_path: Path, runs: int) -> None:
    folder, buffers = write(tmp_path, 5000, runs).folder, CountingPool()
    for _ in range(2):
        with closing(Scan(plan_of(folder), SETTINGS, pools, buffers)) as scan:
            assert len(keys(scan)) == 5000
    assert sorted(buffers.taken) == sorted(buffers.given)
    assert len(set(buffers.taken)) < len(buffers.taken)


def test_a_table_without_sstables_has_no_rows(pools: Pools) -> None:
    plan = plan_scan(SCHEMA, (), ScanRequest("bench", "keyvalue"))
    with closing(Scan(plan, SETTINGS, pools, BufferPool())) as scan:
        assert list(scan.batches()) == []
