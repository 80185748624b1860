"""A node for each version, started when the first test of it runs. Nothing here runs without `-m oracle`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.cassandra import jvm
from tests.oracle.judge import Judge


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the oracle out unless it is asked for by name."""
    if "oracle" in (config.getoption("-m") or ""):
        return
    oracle = [item for item in items if item.get_closest_marker("oracle")]
    if oracle:
        config.hook.pytest_deselected(items=oracle)
        items[:] = [item for item in items if item not in oracle]


@pytest.fixture(scope="session")
def judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """A running node that writes the version that is the fixture's parameter."""
    try:
        jvm.java_binary()
        jvm.fetch()
    except jvm.KitError as error:
        pytest.fail(f"the oracle cannot be asked: {error}", pytrace=False)
    with Judge.started(request.param, tmp_path_factory.mktemp(request.param), "column_index_size=64KiB") as started:
        yield started
