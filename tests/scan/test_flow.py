"""Work ahead of need: in order, never further than asked, and nothing left running when nobody wants it any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flightsrv.errors import ScanCancelledError
from flightsrv.scan import flow
from flightsrv.scan.flow import Cancel, Pools, ahead
from flightsrv.stages import Ahead
from flightsrv.telemetry.clocks import Clock

WAIT_S = 10
"""Longer than anything here takes unless it hangs."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def working(pool: ThreadPoolExecutor, depth: int, clock: Clock | None = None, cancel: Cancel | None = None) -> Ahead:
    return ahead(pool, depth, clock or Clock("read", depth), cancel or Cancel())


class Watched:
    """Items that count how many were asked for, and whether they were closed."""

    def __init__(self, count: int, failing: int = -1) -> None:
        self.count = count
        self.failing = failing
        self.asked = 0
        self.is_closed = False

    def items(self) -> Iterator[int]:
        try:
            for i in range(self.count):
                self.asked += 1
                if i == self.failing:
                    raise ValueError(f"no item {i}")
                yield i
        finally:
            self.is_closed = True


def test_results_come_in_the_order_of_the_items_however_they_end(pool: ThreadPoolExecutor) -> None:
    done = [threading.Event() for _ in range(4)]

    def wait(i: int) -> int:
        assert done[i].wait(WAIT_S)
        if i > 0:
            done[i - 1].set()  # the last ends first
        return i

    done[3].set()
    assert list(working(pool, 4)(wait, range(4))) == [0, 1, 2, 3]


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(0, 20), st.integers(1, 4))
def test_nothing_is_begun_further_ahead_than_the_depth(depth: int, count: int, threads: int) -> None:
    received = 0
    begun: list[tuple[int, int]] = []

    def note(i: int) -> int:
        begun.append((i, received))
        return i

    source = Watched(count)
    with ThreadPoolExecutor(threads) as executor:
        for i in working(executor, depth)(note, source.items()):
            assert i == received
            assert source.asked <= received + 1 + depth
            received += 1
    assert received == count
    assert all(i <= seen + depth for i, seen in begun)


def test_the_places_are_filled_before_a_result_is_handed_out(pool: ThreadPoolExecutor) -> None:
    source = Watched(10)
    results = working(pool, 3)(lambda i: i, source.items())
    assert source.asked == 0
    next(results)
    assert source.asked == 4
    results.close()


@pytest.mark.parametrize("failing", [0, 1, 5, 9])
def test_the_error_of_a_task_comes_after_the_results_before_it(pool: ThreadPoolExecutor, failing: int) -> None:
    def fail(i: int) -> int:
        if i == failing:
            raise ValueError(f"task {i} failed")
        return i

    source, found = Watched(100), []
    with pytest.raises(ValueError, match=f"^task {failing} failed$"):
        found.extend(working(pool, 3)(fail, source.items()))
    assert found == list(range(failing))
    assert source.asked <= failing + 3
    assert source.is_closed


@pytest.mark.parametrize("failing", [0, 1, 5])
def test_the_error_of_an_item_ends_it_all(pool: ThreadPoolExecutor, failing: int) -> None:
    source, found = Watched(100, failing), []
    with pytest.raises(ValueError, match=f"^no item {failing}$"):
        found.extend(working(pool, 3)(lambda i: i, source.items()))
    assert found == list(range(len(found)))
    assert len(found) <= failing
    assert source.is_closed


def in_thread(body: Callable[[], Any]) -> threading.Thread:
    thread = threading.Thread(target=body)
    thread.start()
    return thread


def test_closing_waits_for_what_runs_and_drops_what_has_not_begun() -> None:
    running, go_on = threading.Event(), threading.Event()
    begun = []

    def wait(i: int) -> int:
        begun.append(i)
        if i == 1:
            running.set()
            assert go_on.wait(WAIT_S)
        return i

    source = Watched(10)
    with ThreadPoolExecutor(1) as executor:
        results = working(executor, 3)(wait, source.items())
        assert next(results) == 0
        assert running.wait(WAIT_S)
        closer = in_thread(results.close)
        closer.join(0.1)
        assert closer.is_alive()
        go_on.set()
        closer.join(WAIT_S)
        assert not closer.is_alive()
    assert begun == [0, 1]
    assert source.is_closed


def test_a_cancelled_scan_stops_at_its_next_item(pool: ThreadPoolExecutor) -> None:
    cancel, source = Cancel(), Watched(10)
    results = working(pool, 2, cancel=cancel)(lambda i: i, source.items())
    assert next(results) == 0
    cancel.set()
    cancel.set()
    with pytest.raises(ScanCancelledError):
        next(results)
    assert source.asked == 3
    assert source.is_closed


def test_a_scan_cancelled_before_it_begins_asks_for_nothing(pool: ThreadPoolExecutor) -> None:
    cancel, source = Cancel(), Watched(10)
    cancel.set()
    with pytest.raises(ScanCancelledError):
        next(working(pool, 2, cancel=cancel)(lambda i: i, source.items()))
    assert source.asked == 0


def test_a_cancel_is_seen_behind_the_last_item_too(pool: ThreadPoolExecutor) -> None:
    cancel = Cancel()
    results = working(pool, 4, cancel=cancel)(lambda i: i, range(2))
    assert next(results) == 0
    cancel.set()
    with pytest.raises(ScanCancelledError):
        next(results)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_stages_ahead_of_stages_share_the_smallest_pools(depth: int) -> None:
    pools = Pools(1, 1)
    with closing(pools):
        first = working(pools.disk, depth)(lambda i: i + 1, range(50))
        second = working(pools.cpu, depth)(lambda i: i * 2, first)
        third = working(pools.disk, depth)(lambda i: -i, second)
        assert list(third) == [-2 * (i + 1) for i in range(50)]


class Ticks:
    """A clock that goes on by one at each look, and who looked when."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.seen: dict[str, list[int]] = {}

    def __call__(self) -> int:
        with self._lock:
            self._now += 1
            self.seen.setdefault(threading.current_thread().name, []).append(self._now)
            return self._now


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("count", [3, 4, 20])
def test_the_times_of_a_place_add_up_to_its_life(monkeypatch: pytest.MonkeyPatch, depth: int, count: int) -> None:
    ticks = Ticks()
    monkeypatch.setattr(flow, "perf_counter_ns", ticks)
    clock = Clock("read", depth)
    with ThreadPoolExecutor(2) as executor:
        assert len(list(ahead(executor, depth, clock, Cancel())(lambda i: i, range(count)))) == count
    began, *waits = ticks.seen[threading.current_thread().name]
    asked, taken = waits[0::2], waits[1::2]
    spent = clock.busy_ns + clock.starved_ns + clock.blocked_ns
    assert spent == sum(taken[-depth:]) - depth * began  # each place from the start until its last result was taken
    assert spent <= depth * (taken[-1] - began)
    assert clock.waited_ns == sum(taken) - sum(asked)
    assert clock.busy_ns >= count


def test_times_of_what_was_closed_early_are_those_of_what_was_taken(
    monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    ticks = Ticks()
    monkeypatch.setattr(flow, "perf_counter_ns", ticks)
    clock = Clock("read", 2)
    results = ahead(pool, 2, clock, Cancel())(lambda i: i, range(100))
    next(results)
    results.close()
    began, _asked, taken = ticks.seen[threading.current_thread().name]
    assert clock.busy_ns + clock.starved_ns + clock.blocked_ns == taken - began
