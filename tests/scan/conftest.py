from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flightsrv.config import Settings
from flightsrv.scan.engine import Engine
from tests.scan.nodes import NODE, MakeEngine


@pytest.fixture
def engine() -> Iterator[MakeEngine]:
    """Makes engines over folders; they are closed in the end."""
    made: list[Engine] = []

    def make(*data: Path, **chosen: Any) -> Engine:
        made.append(Engine(Settings(data=data, **chosen)))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A copy of the first disk's folder, to be changed."""
    shutil.copytree(NODE / "data", tmp_path / "data")
    return tmp_path / "data"
