"""A server that all tests of the command line and the client talk to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.cli.commands import Served, serving
from tests.cli.tables import ServedTables


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedTables]:
    with closing(ServedTables(tmp_path_factory.mktemp("tables"))) as served_tables:
        yield served_tables


@pytest.fixture(scope="session")
def served(tables: ServedTables, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("server"), *tables.arguments) as ready:
        yield ready
