"""Over Flight, a damaged SSTable is an error that names the file and what is wrong with it, never an OK stream."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
import pytest

from flightsrv.config import TableFolder
from flightsrv.scan.engine import Engine
from tests.reference.fixtures import COLLECTION, FixtureSet, all_sets, copied_sets, params
from tests.scan.test_fixtures import is_readable_all_the_same, is_refused
from tests.server.running import Running, running, settings, ticket

COMPONENT = re.compile(r"\b[a-z]{2}-\d+-(big|bti)-[A-Za-z]+\.(db|txt)")


def _is_damaged(fixture: FixtureSet) -> bool:
    return fixture.id.startswith("corrupt/")


def _name(fixture: FixtureSet) -> str:
    return re.sub(r"\W", "_", fixture.id)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """One server of all damaged sets, each a table of its own."""
    sets = {each.id: each for each in (*copied_sets(), *(all_sets() if COLLECTION.exists() else ()))}
    tables = tuple(TableFolder("ks", _name(each), each.folder) for each in sets.values() if _is_damaged(each))
    engine = Engine(settings(tables=tables))
    with running(engine, tables=tables) as ready:
        yield ready
    engine.close()


@pytest.mark.parametrize("fixture", params(lambda each: _is_damaged(each) and is_refused(each)))
def test_a_damaged_table_is_an_error_that_names_the_file(server: Running, fixture: FixtureSet) -> None:
    with pytest.raises(pa.ArrowException) as caught:
        server.client().do_get(ticket("ks", _name(fixture))).read_all()
    text = str(caught.value)
    assert COMPONENT.search(text), text
    assert str(fixture.folder.parent) not in text
    assert "Traceback" not in text


@pytest.mark.parametrize("fixture", params(is_readable_all_the_same))
def test_a_table_with_damage_outside_of_what_a_scan_reads_arrives_whole(server: Running, fixture: FixtureSet) -> None:
    assert server.client().do_get(ticket("ks", _name(fixture))).read_all().num_rows > 0
