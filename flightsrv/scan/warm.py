"""Compiling all kernels ahead of the first scan, by scans.

Numba compiles a kernel for the types of the arguments of a call. So that these are the very types that scans call with,
the tables in warm_tables/ and warm_odd/, which Cassandra wrote, are scanned, by the engine that serves. They are small
and have something of everything: every type, static and deleted rows, ranges, two SSTables with a partition that is
longer than a window, compressed and uncompressed data, one of 3.11, whose times are compared with its Statistics.db, a
trie index with a wide partition that a range begins behind; and values that Arrow cannot hold. With all kernels in the
cache this takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from flightsrv.config import KIB, Settings, TableFolder
from flightsrv.kernels.jit import KERNELS, watched_compiler
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest

TABLES = Path(__file__).with_name("warm_tables")
ODD = TableFolder("warm", "odd", Path(__file__).with_name("warm_odd"))

_SETTINGS = Settings(
    data=(TABLES,),
    tables=(ODD,),
    piece_bytes=256 * KIB,
    read_depth=1,
    disk_threads=1,
    cpu_threads=1,
    on_unrepresentable="null",
)
_MIDDLE = 0
"""A token with partitions on both sides of it."""
_REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"token_start": _MIDDLE},
    {"tombstones": True},
    {"types": "native"},
)


def warm(progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Have every kernel of the engine compiled, from the cache where it is there. Raises what a scan raises.

    `progress` hears how many kernels of how many are compiled, as they are.
    """
    with watched_compiler(lambda done: progress(done, len(KERNELS))), closing(Engine(_SETTINGS)) as engine:
        for table in engine.catalog.tables():
            for asked in _REQUESTS:
                _scan(engine, ScanRequest(table.keyspace, table.name, **asked))
    progress(len(KERNELS), len(KERNELS))


def _scan(engine: Engine, request: ScanRequest) -> None:
    with closing(engine.open_scan(request)) as scan, closing(scan.frames()) as frames:
        for _ in frames:
            pass
