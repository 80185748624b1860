from __future__ import annotations

import numpy as np
import pytest

from flightsrv.slab import ABSENT, PARTITION_FIELDS, ROW_FIELDS, BufferPool, Window, allocate_slabs


def test_slabs_have_a_place_for_each_value_of_each_run() -> None:
    slabs = allocate_slabs(runs=3, clustering=2, cells=4, rows=5)
    assert slabs.at.shape == slabs.size.shape == (3, 7, 5)
    assert slabs.cell_us.shape == slabs.cell_expires_s.shape == slabs.cell_ttl_s.shape == (3, 4, 5)
    assert slabs.rows.shape == (3, 5, ROW_FIELDS)
    assert slabs.partitions.shape == (3, 5, PARTITION_FIELDS)
    assert set(slabs.size.ravel().tolist()) == {ABSENT}


def test_the_slab_of_a_run_is_a_view() -> None:
    slabs = allocate_slabs(2, 0, 1, 3)
    slabs.of(1).at[0, 2] = 7
    assert slabs.at[1, 0, 2] == 7
    assert slabs.at[0].sum() == 0


@pytest.mark.parametrize("size", [0, 1, BufferPool.STEP_BYTES, BufferPool.STEP_BYTES + 1, BufferPool.MAX_BYTES + 1])
def test_a_buffer_is_at_least_as_large_as_asked_for(size: int) -> None:
    buffer = BufferPool().take(size)
    assert buffer.dtype == np.uint8
    assert size <= buffer.size < size + BufferPool.STEP_BYTES


def test_a_buffer_that_was_given_back_is_taken_again() -> None:
    pool = BufferPool()
    first = pool.take(1000)
    assert pool.take(1000) is not first
    pool.give(first)
    assert pool.take(BufferPool.STEP_BYTES) is first
    assert pool.take(1) is not first


def test_a_pool_keeps_only_so_many() -> None:
    pool = BufferPool(keep=2)
    buffers = [pool.take(1) for _ in range(3)]
    for buffer in buffers:
        pool.give(buffer)
    taken = [pool.take(1) for _ in range(3)]
    assert sum(any(each is buffer for buffer in buffers) for each in taken) == 2


def test_memory_that_is_not_the_pools_is_not_kept() -> None:
    pool = BufferPool()
    for buffer in (np.empty(100, np.uint8), pool.take(BufferPool.MAX_BYTES + 1)):
        pool.give(buffer)
        assert pool.take(buffer.size) is not buffer


def test_a_window_gives_its_memory_back_to_its_pool() -> None:
    pool = BufferPool()
    memory = pool.take(1)
    Window(memory, 0, 1, 0).release()
    assert pool.take(1) is not memory
    Window(memory, 0, 1, 0, pool).release()
    assert pool.take(1) is memory
