"""Notices tables and SSTables that come and go, for the log and two gauges. Requests do not depend on it: each lists
what it needs anew.

The operating system tells of changes in the folders, and then all is listed; now and then without being told, too, as
it forgets changes when there are too many, and knows none that another machine makes in a shared file system. Where it
does not tell at all, all is listed every few seconds. Listing takes a tenth of a core at most.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Final

from watchfiles import watch

from flightsrv.errors import FlightsrvError
from flightsrv.scan.inventory import Inventory, changes
from flightsrv.server.engine import Engine
from flightsrv.telemetry.meters import Meters

log = logging.getLogger(__name__)

QUIET_MS: Final = 200
"""How long nothing must have changed before a burst of changes is taken for over."""
BURST_MS: Final = 2_000
"""How long a burst is waited for at most."""
TURN_MS: Final = 500
"""How often the watching thread looks up when nothing changes."""
UNTOLD_S: Final = 30.0
"""How often all is listed without being told of a change."""
UNWATCHED_S: Final = 5.0
"""And where changes are not told at all."""
REST: Final = 9
"""Times as long as a listing took, that the thread rests after it."""


class Watch:
    """Follows one engine's folders in a thread of its own, a daemon: a dead disk must not keep the process."""

    def __init__(self, engine: Engine, meters: Meters) -> None:
        self._engine = engine
        self._stopped = threading.Event()
        self._last: Inventory | None = None
        self._error: str | None = None
        self._listed_at_s = 0.0
        meters.gauge(
            "cqlite.flight.tables_discovered", "{entry}", "Tables seen when they were last listed.", self._table_count
        )
        meters.gauge(
            "flightsrv.sstables", "{sstable}", "Live SSTables of all tables when they were last listed.", self._sstables
        )

    def start(self) -> None:
        """Take the first inventory, and follow from there. Called in a thread; raises what the engine raises."""
        self._last = self._engine.inventory()
        threading.Thread(target=self._follow, name="watch", daemon=True).start()

    def stop(self) -> None:
        """Stop soon. Any thread, any number of times."""
        self._stopped.set()

    def _table_count(self) -> int | None:
        return None if self._last is None else len(self._last.tables) + len(self._last.problems)

    def _sstables(self) -> int | None:
        return None if self._last is None else self._last.sstable_count

    def _follow(self) -> None:
        while not self._stopped.is_set():
            folders = self._last.folders if self._last else frozenset()
            try:
                self._watch(folders)
            except FileNotFoundError:
                self._list()  # a folder was gone before it was watched
            except Exception as error:
                log.warning("changes of the data folders are not told: %s; listing them every %g s", error, UNWATCHED_S)
                self._list_for_ever()

    def _watch(self, folders: Iterable[Path]) -> None:
        """List when something changes in the folders, until there are others. Whatever the library raises."""
        told = watch(
            *folders,
            watch_filter=None,
            debounce=BURST_MS,
            step=QUIET_MS,
            stop_event=self._stopped,
            rust_timeout=TURN_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        is_first = True  # what changed before the folders were watched was not told
        for changed in told:
            if changed or is_first or monotonic() - self._listed_at_s > UNTOLD_S:
                self._list()
            is_first = False
            if self._last and self._last.folders != folders:
                return

    def _list_for_ever(self) -> None:
        while not self._stopped.wait(UNWATCHED_S):
            self._list()

    def _list(self) -> None:
        """List all, say what is other, and rest. An error is said once, as long as it stays the same."""
        began_s = monotonic()
        error = None
        try:
            before, self._last = self._last or Inventory(), self._engine.inventory()
            for line in changes(before, self._last):
                log.info("%s", line)
        except Exception as caught:  # whatever it is, it may be over the next time
            error = str(caught) if isinstance(caught, FlightsrvError) else repr(caught)
            if error != self._error:
                log.warning("the data folders cannot be listed: %s", error)
        self._error = error
        self._listed_at_s = monotonic()
        self._stopped.wait(REST * (self._listed_at_s - began_s))
