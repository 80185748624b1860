"""The ops port: is it up, is it ready, what do its metrics say. For probes and Prometheus, not for the world."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from flightsrv.telemetry.setup import PROMETHEUS_CONTENT_TYPE

_INDEX = """flightsrv

/healthz   200 while the process is up
/readyz    200 while it serves; 503 before, and while it shuts down
/metrics   Prometheus text
"""


def application(ready: Callable[[], bool], metrics_text: Callable[[], bytes]) -> web.Application:
    """`ready` is asked at each /readyz, `metrics_text` at each /metrics."""

    async def index(_request: web.Request) -> web.Response:
        return web.Response(text=_INDEX)

    async def healthz(_request: web.Request) -> web.Response:
        return web.Response(text="up\n")

    async def readyz(_request: web.Request) -> web.Response:
        return web.Response(text="ready\n") if ready() else web.Response(text="not ready\n", status=503)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=metrics_text(), headers={"Content-Type": PROMETHEUS_CONTENT_TYPE})

    app = web.Application()
    app.add_routes(
        [
            web.get("/", index),
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get("/metrics", metrics),
        ]
    )
    return app
