"""What nodes of 3.0, 3.11 and 4.1 left on their disks reads as they said, by the schemas that they wrote there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flightsrv.config import Settings
from flightsrv.cql.ddl import parse_ddl
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from tests.reference.fixtures import COLLECTION, COPIED, FixtureSet, params
from tests.scan.scanning import copied

NODES = {"3.11": COPIED / "cassandra-3.11/me/node", "4.1": COPIED / "cassandra-4.1/nb/node"}
SAID = {version: json.loads((node / "expected.json").read_text()) for version, node in NODES.items()}
"""Of each version, at the snapshot `first` and `live`, the rows of each table as SELECT JSON gave them."""
CASES = [
    pytest.param(version, state, table, id=f"{version}-{state}-{table}")
    for version, states in SAID.items()
    for state, tables in states.items()
    for table in tables
]


@pytest.fixture(scope="module", params=NODES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    yield from opened(NODES[request.param])


def opened(node: Path) -> Iterator[Engine]:
    with closing(Engine(Settings(data=(node / "data", node / "data2")))) as engine:
        yield engine


def as_json(value: Any) -> Any:
    """A value of Arrow's as Cassandra's JSON has it."""
    if isinstance(value, dict):
        if "field_0" in value:
            return [as_json(each) for each in value.values()]
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return {name: as_json(each) for name, each in value}
        return [as_json(each) for each in value]
    return value


def unquoted(value: Any) -> Any:
    """Cassandra's JSON with the names of columns and fields as they are: it quotes those that are not lower case."""
    if isinstance(value, dict):
        return {name.removeprefix('"').removesuffix('"'): unquoted(each) for name, each in value.items()}
    return value


@pytest.mark.parametrize(("version", "state", "table"), CASES)
def test_tables_read_as_the_node_said(version: str, state: str, table: str) -> None:
    """3.11 spreads each table over its disks, system_schema too. There are tables WITH COMPACT STORAGE, which 4.1 puts
    into a comment of schema.cql; a view, which stands there alone; columns that were dropped and added again; a type
    that got a field later, and that schema.cql leaves out; names in quotes, which 3.11 writes without."""
    keyspace, name = (part.strip('"') for part in table.split("."))
    snapshot = None if state == "live" else state
    for engine in opened(NODES[version]):
        with closing(engine.open_scan(ScanRequest(keyspace, name, snapshot=snapshot))) as scan:
            rows = [as_json(row) for batch in scan.batches() for row in copied(batch).to_pylist()]
    assert rows == [unquoted(row) for row in SAID[version][state][table]]


@pytest.mark.parametrize("table", [table for table in SAID["4.1"]["first"] if table.startswith("snap.")])
def test_a_snapshots_schema_is_what_system_schema_says(engine: Engine, table: str) -> None:
    """Nothing was altered since the snapshot."""
    found = engine.catalog.table(*table.split("."))
    live, snapshot = engine.catalog.schema(found), engine.catalog.schema(found, "first")
    for part in ("partition_key", "clustering", "static", "regular", "dropped", "flags", "is_view", "id"):
        assert getattr(snapshot, part) == getattr(live, part), part
    assert set(snapshot.visible) == set(live.visible)


def test_the_indexes_folder_is_no_table(engine: Engine) -> None:
    assert [info.table for info in engine.tables() if info.keyspace == "MixedKs"] == ["MyTable"]


@pytest.mark.parametrize("version", NODES)
def test_system_schema_has_the_columns_of_its_version(version: str) -> None:
    """Not all that any version ever had: it describes itself."""
    for engine in opened(NODES[version]):
        names = engine.arrow_schema(ScanRequest("system_schema", "tables")).names
    assert ("memtable" in names) == (version == "4.1")


# --- 3.0, of the collection alone ---------------------------------------------------------------------------------


def is_of_a_3_0_node(fixture: FixtureSet) -> bool:
    return fixture.id.startswith("pcass/me/sina_test/")


@pytest.mark.parametrize("fixture", params(is_of_a_3_0_node))
def test_the_schemas_of_a_3_0_node(fixture: FixtureSet) -> None:
    table = fixture.folder.name
    expected = parse_ddl(fixture.schema["cql"], "sina_test", table)
    with closing(Engine(Settings(data=(COLLECTION / "pcass/me",)))) as engine:
        found = engine.catalog.schema(engine.catalog.table("sina_test", table))
    assert found.partition_key == expected.partition_key
    assert found.clustering == expected.clustering
    assert (found.static, found.regular) == (expected.static, expected.regular)
    assert (found.flags, set(found.visible)) == (expected.flags, set(expected.visible))
