import pytest

from tests.server.fake_engine import FakeEngine
from tests.server.running import running


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def server(engine):
    with running(engine) as ready:
        yield ready
