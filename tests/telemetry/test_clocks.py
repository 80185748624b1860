import time

import pytest

from flightsrv.telemetry.clocks import STAGES, ScanClocks


def test_busy_starved_and_blocked_are_kept_apart():
    clock = ScanClocks().stage("decode")
    clock.add_busy(1)
    clock.add_starved(20)
    clock.add_blocked(300)
    clock.add_busy(4)
    assert (clock.busy_ns, clock.starved_ns, clock.blocked_ns) == (5, 20, 300)


@pytest.mark.parametrize("kind", ["busy", "starved", "blocked"])
def test_a_with_body_is_timed(kind):
    clock = ScanClocks().stage("read")
    with getattr(clock, kind)():
        time.sleep(0.002)
    times = {"busy": clock.busy_ns, "starved": clock.starved_ns, "blocked": clock.blocked_ns}
    assert times.pop(kind) >= 2_000_000
    assert set(times.values()) == {0}


def test_a_with_body_that_raises_is_timed():
    clock = ScanClocks().stage("read")
    with pytest.raises(KeyError), clock.busy():
        raise KeyError
    assert clock.busy_ns > 0


def test_kinds_nest_in_each_other():
    clock = ScanClocks().stage("merge")
    with clock.busy(), clock.starved():
        time.sleep(0.001)
    assert clock.busy_ns >= clock.starved_ns >= 1_000_000


def test_totals_sum_the_clocks_of_a_stage_and_name_every_stage():
    clocks = ScanClocks()
    clocks.stage("decode").add_busy(1_000_000_000)
    clocks.stage("decode", lanes=2).add_busy(500_000_000)
    totals = clocks.totals()
    assert tuple(totals) == STAGES
    assert (totals["decode"].busy_s, totals["decode"].lanes) == (1.5, 3)
    assert (totals["read"].busy_s, totals["read"].lanes) == (0.0, 0)


def test_the_bottleneck_is_the_stage_with_the_largest_share_of_busy_time_not_with_the_most_of_it():
    clocks = ScanClocks()
    wide, narrow = clocks.stage("decode", lanes=4), clocks.stage("merge")
    wide.add_busy(8_000)
    wide.add_starved(8_000)
    narrow.add_busy(3_900)
    narrow.add_blocked(100)
    assert clocks.bottleneck() == "merge"


def test_there_is_no_bottleneck_before_anything_ran():
    assert ScanClocks().bottleneck() == ""


def test_an_unknown_stage_is_refused():
    with pytest.raises(KeyError):
        ScanClocks().stage("shuffle")
