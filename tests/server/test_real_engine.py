"""The server with the engine behind it, on what a node of Cassandra left on its two disks."""

import json
import shutil
from itertools import pairwise

import pyarrow.flight as flight
import pytest

from flightsrv.scan.engine import Engine
from tests.reference.fixtures import COPIED
from tests.server.running import running, settings, ticket

NODE = COPIED / "cassandra-5.0/nb/node"
DATA = (NODE / "data", NODE / "data2")
EXPECTED = json.loads((NODE / "expected/layout.indexed/expected.json").read_text())


@pytest.fixture(scope="module")
def node():
    engine = Engine(settings(data=DATA))
    with running(engine, data=DATA) as ready:
        yield ready
    engine.close()


def indexed(**fields):
    return ticket("layout", "indexed", now_s=EXPECTED["read_at"], **fields)


def test_a_table_of_a_node_arrives_as_cassandra_answered(node):
    table = node.client().do_get(indexed()).read_all()
    assert table.to_pylist() == EXPECTED["rows"]


def test_token_ranges_that_tile_the_ring_give_every_row_once(node):
    bounds = [None, -(1 << 62), 0, 1 << 62, None]
    rows = []
    for after, upto in pairwise(bounds):
        rows += node.client().do_get(indexed(token_start=after, token_end=upto)).read_all().to_pylist()
    assert rows == EXPECTED["rows"]


def test_columns_and_limit_are_honoured(node):
    table = node.client().do_get(indexed(columns=["x", "pk"], limit=3)).read_all()
    assert table.to_pylist() == [{"pk": row["pk"], "x": row["x"]} for row in EXPECTED["rows"][:3]]


def test_tombstones_are_told_with_the_times_of_rows_and_cells(node):
    table = node.client().do_get(indexed(tombstones=True, columns=["pk", "ck", "v"])).read_all()
    assert table.column_names == ["pk", "ck", "v", "$row", "$cells"]
    assert (
        table.schema
        == node.client()
        .get_schema(flight.FlightDescriptor.for_command(indexed(tombstones=True, columns=["pk", "ck", "v"]).ticket))
        .schema
    )
    rows = [row for row in table.to_pylist() if row["$row"]["kind"] == "row"]
    assert [(row["pk"], row["ck"], row["v"]) for row in rows] == [(r["pk"], r["ck"], r["v"]) for r in EXPECTED["rows"]]
    assert {row["$cells"]["v"]["writetime"] for row in rows} <= {time["v"]["writetime"] for time in EXPECTED["times"]}


def test_a_tickets_ddl_is_what_it_is_decoded_with(node):
    ddl = "CREATE TABLE indexed (pk int, ck int, x text, PRIMARY KEY (pk, ck))"
    table = node.client().do_get(indexed(ddl=ddl)).read_all()
    assert table.column_names == ["pk", "ck", "x"]


@pytest.mark.parametrize("descriptor", ["path", "command"])
def test_schema_and_estimate_come_before_the_scan(node, descriptor):
    made = {
        "path": flight.FlightDescriptor.for_path("layout", "indexed"),
        "command": flight.FlightDescriptor.for_command(indexed().ticket),
    }[descriptor]
    info = node.client().get_flight_info(made)
    assert info.schema.names == ["pk", "ck", "v", "w", "x"]
    assert info.schema.field("x").metadata == {b"cqlite:pushdown": b"full"}
    assert info.total_records >= len(EXPECTED["rows"])


def test_every_table_that_is_listed_without_a_problem_can_be_fetched(node):
    client = node.client()
    fetched = 0
    for listed in list(client.list_flights()):
        if json.loads(listed.app_metadata)["problem"] is None:
            table = client.do_get(listed.endpoints[0].ticket).read_all()
            assert table.schema.equals(listed.schema, check_metadata=True)
            assert table.num_rows <= listed.total_records
            fetched += 1
    assert fetched > 10


def test_the_statistics_of_a_table_are_an_action(node):
    body = b'{"keyspace":"layout","table":"indexed"}'
    (result,) = node.client().do_action(flight.Action("table_stats", body))
    stats = json.loads(result.body.to_pybytes())
    assert stats["complete"]
    assert stats["live_rows"] >= len(EXPECTED["rows"])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (ticket("layout", "nowhere"), "layout.nowhere"),
        (indexed(snapshot="nowhere"), "nowhere"),
    ],
)
def test_what_is_not_there_is_not_found(node, wanted, words):
    with pytest.raises(KeyError, match=words):
        node.client().do_get(wanted).read_all()


@pytest.mark.parametrize("fields", [{"columns": ["nothing"]}, {"ddl": "CREATE TABLE (("}])
def test_what_makes_no_sense_is_an_invalid_argument(node, fields):
    with pytest.raises(ValueError, match="INVALID_ARGUMENT"):
        node.client().do_get(indexed(**fields)).read_all()


def test_a_corrupt_file_is_told_by_its_name_alone(tmp_path):
    shutil.copytree(NODE / "data/layout", tmp_path / "layout")
    (folder,) = (tmp_path / "layout").glob("indexed-*")
    damaged = sorted(folder.glob("*-Data.db"))[0]
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    shutil.copytree(NODE / "data/system_schema", tmp_path / "system_schema")
    engine = Engine(settings(data=(tmp_path,)))
    with running(engine) as server, pytest.raises(flight.FlightInternalError) as raised:
        server.client().do_get(indexed()).read_all()
    engine.close()
    assert damaged.name in str(raised.value)
    for leaked in ("Traceback", str(tmp_path), str(folder.name), ".py"):
        assert leaked not in str(raised.value)
