"""Blocking calls, off the event loop.

Threads here are daemons: a disk that does not answer must not keep the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call `function` in a thread of its own. When the waiting task is cancelled, the call goes on unattended."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Result] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not outcome.done():
            settled()

    def run() -> None:
        try:
            result = function(*arguments)
            settled = partial(outcome.set_result, result)
        except Exception as error:
            settled = partial(outcome.set_exception, error)
        except BaseException as panic:  # as Rust extensions raise them; the loop must not die of it
            settled = partial(outcome.set_exception, RuntimeError(f"{type(panic).__name__}: {panic}"))
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=run, name="blocking-call", daemon=True).start()
    return await outcome
