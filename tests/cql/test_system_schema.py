from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import DroppedColumn
from flightsrv.cql.system_schema import MAX_TIME_US, system_schema_tables, tables_from_rows
from flightsrv.cql.types import CqlType
from tests.reference.fixtures import COLLECTION, COPIED

NODES = sorted({*COPIED.glob("cassandra-5.0/*/node/expected"), *COLLECTION.glob("cassandra-5.0/*/node/expected")})


@pytest.mark.parametrize(
    ("table", "suffix"),
    [
        ("keyspaces", "abac5682dea631c5b535b3d6cffd0fb6"),
        ("tables", "afddfb9dbc1e30688056eed6c302ba09"),
        ("columns", "24101c25a2ae3af787c1b40ee1aca33f"),
        ("types", "5a8b1ca866023f77a0459273d308917a"),
        ("dropped_columns", "5e7583b5f3f43af19a39b7e1d6f5f11f"),
        ("views", "9786ac1cdd583201a7cdad556410c985"),
        ("indexes", "0feb57ac311f382fba6d9024d305702f"),
    ],
)
def test_ids_are_those_of_cassandras_folders(table, suffix):
    assert system_schema_tables()[table].id == UUID(suffix)


def rows_of(node: Path, table: str) -> list[dict[str, Any]]:
    """What the node says is in one of its tables, values as flightsrv.cql.values gives them."""
    rows = json.loads((node / f"system_schema.{table}/expected.json").read_text())["rows"]
    for row in rows:
        if row.get("id"):
            row["id"] = UUID(row["id"])
        if "column_name_bytes" in row:
            row["column_name_bytes"] = bytes.fromhex(row["column_name_bytes"][2:])
        if "dropped_time" in row:
            row["dropped_time"] = row["dropped_time"]["ms"]
    return rows


@pytest.mark.parametrize("node", NODES, ids=str)
def test_rows_of_a_node_and_its_ddl_tell_the_same(node: Path):
    tables = ("tables", "columns", "types", "dropped_columns", "views")
    schemas, errors = tables_from_rows(*(rows_of(node, table) for table in tables))
    assert errors == {}
    described = {
        tuple(folder.name.split(".")): json.loads((folder / "expected.json").read_text())
        for folder in node.iterdir()
        if not folder.name.startswith("system_schema.")
    }
    assert described.keys() <= schemas.keys()
    for (keyspace, table), expected in described.items():
        by_ddl, by_rows = parse_ddl(expected["cql"], keyspace, table), schemas[keyspace, table]
        assert [column.name for column in by_rows.visible] == list(expected["columns"])
        assert set(by_rows.visible) == set(by_ddl.visible)
        assert (by_rows.id, by_rows.flags, by_rows.dropped) == (by_ddl.id, by_ddl.flags, by_ddl.dropped)
        assert (by_rows.static, by_rows.regular) == (by_ddl.static, by_ddl.regular)


@pytest.mark.parametrize("node", NODES, ids=str)
def test_the_fixed_schemas_are_those_a_node_describes(node: Path):
    for table, fixed in system_schema_tables().items():
        described = node / f"system_schema.{table}/expected.json"
        if described.exists():
            by_node = parse_ddl(json.loads(described.read_text())["cql"], "system_schema", table)
            assert set(by_node.visible) == set(fixed.visible)
            assert by_node.id == fixed.id


TABLE = {"keyspace_name": "ks", "table_name": "t", "id": UUID(int=5), "flags": ["compound"]}


def columns(*texts: str, table: str = "t") -> list[dict[str, Any]]:
    """Rows of system_schema.columns: name, kind, position, order, type."""
    rows = []
    for text in texts:
        name, kind, position, order, type_ = text.split(" ", 4)
        row = {"keyspace_name": "ks", "table_name": table, "column_name": name, "column_name_bytes": name.encode()}
        rows.append(row | {"kind": kind, "position": int(position), "clustering_order": order, "type": type_})
    return rows


def one_table(*texts: str, table=TABLE, types=(), dropped=()):
    schemas, errors = tables_from_rows([table], columns(*texts), types, dropped)
    assert errors == {}
    return schemas["ks", "t"]


def test_columns_are_put_in_their_places():
    schema = one_table(
        "b partition_key 1 none int",
        "v regular -1 none map<text, frozen<list<int>>>",
        "c clustering 0 desc timeuuid",
        "a partition_key 0 none text",
        "s static -1 none int",
        "w regular -1 none frozen<tuple<int, text>>",
    )
    assert [column.name for column in schema.visible] == ["a", "b", "c", "s", "v", "w"]
    assert [column.name for column in schema.regular] == ["w", "v"]
    assert schema.clustering[0].reversed
    assert schema.id == UUID(int=5)


def test_user_types_need_not_come_in_the_order_of_their_use():
    types = [
        {"keyspace_name": "ks", "type_name": "outer", "field_names": ["i"], "field_types": ['frozen<"Inner">']},
        {"keyspace_name": "ks", "type_name": "Inner", "field_names": ["a"], "field_types": ["int"]},
        {"keyspace_name": "other", "type_name": "Inner", "field_names": [], "field_types": []},
    ]
    schema = one_table("k partition_key 0 none int", "u regular -1 none outer", types=types)
    inner = CqlType("udt", (CqlType("int"),), ("a",), "ks", "Inner")
    assert schema.regular[0].type == CqlType("udt", (inner,), ("i",), "ks", "outer")


def test_times_of_drops_are_milliseconds_and_old_versions_do_not_tell_the_kind():
    row = {"keyspace_name": "ks", "table_name": "t", "type": "int"}
    dropped = [
        row | {"column_name": "a", "dropped_time": 1500},
        row | {"column_name": "b", "dropped_time": 1 << 62, "kind": "static"},
    ]
    schema = one_table("k partition_key 0 none int", dropped=dropped)
    assert schema.dropped == {
        "a": DroppedColumn("a", CqlType("int"), "regular", 1_500_000),
        "b": DroppedColumn("b", CqlType("int"), "static", MAX_TIME_US),
    }


@pytest.mark.parametrize(
    ("table", "dropped", "what"),
    [
        (TABLE | {"id": None}, {}, "its id, or its flags, are not known"),
        (TABLE | {"flags": None}, {}, "its id, or its flags, are not known"),
        (TABLE, {"dropped_time": None, "type": "int"}, "dropped column a is of type 'int' and has no time"),
        (TABLE, {"dropped_time": 1, "type": None}, "dropped column a is of type None"),
    ],
)
def test_what_cassandra_always_writes_is_not_null(table, dropped, what):
    """Else a table without flags is taken for a compact one, and one without an id for what was dropped."""
    rows = [{"keyspace_name": "ks", "table_name": "t", "column_name": "a"} | dropped] if dropped else []
    schemas, errors = tables_from_rows([table], columns("k partition_key 0 none int"), (), rows)
    assert schemas == {}
    assert what in str(errors["ks", "t"])


def test_hidden_columns_of_a_compact_table_are_not_shown():
    schema = one_table(
        "k partition_key 0 none int",
        "column1 clustering 0 asc text",
        "v static -1 none int",
        "value regular -1 none blob",
        table=TABLE | {"flags": []},
    )
    assert [column.name for column in schema.visible] == ["k", "v"]


@pytest.mark.parametrize(
    ("flags", "is_shown"), [(["compound"], True), (["compound", "dense"], False), (["dense"], False)]
)
def test_a_column_of_type_empty_is_hidden_where_cassandra_added_it(flags, is_shown):
    texts = "k partition_key 0 none int", "c clustering 0 asc int", "value regular -1 none empty"
    schema = one_table(*texts, table=TABLE | {"flags": flags})
    assert ("value" in [column.name for column in schema.visible]) == is_shown


def test_a_column_name_that_is_no_text_is_stored_as_its_bytes():
    rows = columns("k partition_key 0 none int", "5 regular -1 none int")
    rows[1]["column_name_bytes"] = b"\x00\x00\x00\x05"
    schemas, _ = tables_from_rows([TABLE], rows)
    assert schemas["ks", "t"].regular[0].name_bytes == b"\x00\x00\x00\x05"


def test_views_are_tables_too():
    view = {"keyspace_name": "ks", "view_name": "t", "id": UUID(int=6), "base_table_name": "b"}
    schemas, errors = tables_from_rows([], columns("v partition_key 0 none int"), views=[view])
    assert errors == {}
    assert schemas["ks", "t"].is_view
    assert schemas["ks", "t"].flags == {"compound"}


@pytest.mark.parametrize(
    ("base_key", "is_strict"), [("v partition_key 0 none int", False), ("k partition_key 0 none int", True)]
)
def test_rows_of_a_view_live_by_their_liveness_alone_where_its_key_has_another_column(base_key: str, is_strict: bool):
    """Else cells alone show a row too, as those of an UPDATE of the view's table."""
    view = {"keyspace_name": "ks", "view_name": "t", "id": UUID(int=6), "base_table_name": "b"}
    of_base = [row | {"table_name": "b"} for row in columns(base_key)]
    schemas, _ = tables_from_rows([], [*columns("v partition_key 0 none int"), *of_base], views=[view])
    assert schemas["ks", "t"].strict_liveness == is_strict


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no column of the partition key is known"),
        (["k partition_key 1 none int"], "positions of key columns are missing or double"),
        (
            ["k partition_key 0 none int", "c clustering 0 asc int", "d clustering 0 asc int"],
            "positions of key columns",
        ),
        (["k partition_key 0 none list<"], "CQL, line 1, column 6: the end is not expected here"),
        (["k sideways 0 none int"], "column k is of kind 'sideways' and type 'int'"),
    ],
)
def test_a_table_that_makes_no_sense_does_not_hide_the_others(texts, message):
    good = columns("k partition_key 0 none int", table="good")
    schemas, errors = tables_from_rows([TABLE, TABLE | {"table_name": "good"}], columns(*texts) + good)
    assert schemas.keys() == {("ks", "good")}
    assert str(errors["ks", "t"]).startswith("schema of ks.t: ")
    assert message in str(errors["ks", "t"])
