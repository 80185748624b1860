"""Stage 6, write: frames to gRPC, at the client's pace. It is the one stage of the event loop, so it lives here.

Busy is the time inside of gRPC's write, waiting for the client included; starved is the time without a frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from flightsrv.server.engine import Frame
from flightsrv.server.statuses import ClientGoneError
from flightsrv.server.stream import ScanThread
from flightsrv.telemetry.clocks import Clock


async def write(context: Any, data: bytes) -> None:
    """Hand one serialized FlightData to gRPC; returns when gRPC takes more. Raises ClientGoneError."""
    try:
        await context.write(data)
    except grpc.aio.BaseError:
        raise ClientGoneError("the stream broke") from None


async def write_frames(thread: ScanThread, context: Any, clock: Clock, sent: Callable[[Frame], None]) -> None:
    """Write all frames that a scan's thread hands over. Raises what the scan raises, and ClientGoneError."""
    while True:
        with clock.starved():
            frame = await thread.frame()
        if frame is None:
            return
        with clock.busy():
            await write(context, frame.data)
        thread.written()
        sent(frame)
