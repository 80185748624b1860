import time

import pytest

from flightsrv.telemetry.clocks import ScanClocks
from flightsrv.telemetry.phases import Phases, sub_phases


def test_entering_a_phase_leaves_the_one_before():
    phases = Phases()
    phases.enter("validate")
    phases.enter("admission")
    time.sleep(0.002)
    phases.leave()
    samples = phases.samples()
    assert list(samples) == ["validate", "admission"]
    assert samples["admission"] >= 0.002
    assert phases.current is None


def test_a_phase_not_entered_gives_no_sample_and_one_not_left_neither():
    phases = Phases()
    assert phases.samples() == {}
    phases.enter("validate")
    assert phases.samples() == {}


def test_leaving_twice_is_harmless():
    phases = Phases()
    phases.enter("stream")
    phases.leave()
    once = phases.samples()
    phases.leave()
    assert phases.samples() == once


@pytest.mark.parametrize(
    ("stage", "state", "phase"),
    [
        ("read", "waited", "stream_cold_fault"),
        ("decompress", "busy", "stream_decompress"),
        ("decode", "busy", "stream_decode"),
        ("merge", "busy", "stream_merge"),
        ("encode", "busy", "stream_encode"),
        ("write", "busy", "stream_grpc_write"),
    ],
)
def test_each_sub_phase_comes_from_one_clock(stage, state, phase):
    clocks = ScanClocks()
    getattr(clocks.stage(stage), f"add_{state}")(2_000_000_000)
    assert sub_phases(clocks.totals()) == {phase: 2.0}
