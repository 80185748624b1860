"""A node's folders, and what an engine over them says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from flightsrv.config import TableFolder
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from tests.reference.fixtures import COPIED
from tests.scan.scanning import copied

NODE = COPIED / "cassandra-5.0/nb/node"
BOTH_DISKS = (NODE / "data", NODE / "data2")
INDEXED = "indexed-a904b870ece911f18c12e51b6daaa362"
MakeEngine = Callable[..., Engine]


def rows(engine: Engine, keyspace: str, table: str, **request: Any) -> list[dict[str, Any]]:
    with closing(engine.open_scan(ScanRequest(keyspace, table, **request))) as scan:
        return [row for batch in scan.batches() for row in copied(batch).to_pylist()]


def columns(engine: Engine, keyspace: str, table: str, **request: Any) -> list[str]:
    return engine.arrow_schema(ScanRequest(keyspace, table, **request)).names


def named(folder: Path) -> tuple[TableFolder, ...]:
    return (TableFolder("ks", "t", folder),)


def move(name: str, source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for path in source.glob(f"{name}-*"):
        shutil.move(path, target / path.name)
