"""A server process of a fake engine: `python -m tests.server.serve_fake '{"kind": "endless", …}'`."""

import json
import sys
import threading
import time
from pathlib import Path

from flightsrv.server.lifecycle import serve
from flightsrv.telemetry.options import from_environment
from tests.server.fake_engine import FakeEngine, frame_of
from tests.server.running import settings


def engine_of(kind):
    """endless: frames without end; hung: a disk that never answers, whatever is cancelled."""
    if kind == "endless":
        return FakeEngine(
            frames=None, frame=frame_of(100, value_bytes=1000), at_frame=lambda _number: time.sleep(0.001)
        )
    if kind == "hung":
        return FakeEngine(at_frame=lambda number: number and threading.Event().wait())
    return FakeEngine()


def warm_for_ever():
    print("warming", file=sys.stderr, flush=True)
    threading.Event().wait()


def main(chosen):
    engine = engine_of(chosen.pop("kind", ""))
    warm = warm_for_ever if chosen.pop("warms_for_ever", False) else None
    environ = chosen.pop("environ", {})
    if "ready_file" in chosen:
        chosen["ready_file"] = Path(chosen["ready_file"])
    serve(engine, settings(telemetry=from_environment(environ), **chosen), warm)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
