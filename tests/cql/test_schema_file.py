"""schema.cql as nodes of 3.11 to 5.0 write it; tests/scan/test_nodes.py reads whole nodes by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import schema_from_header
from flightsrv.cql.schema_file import is_whole, made_whole, parse_schema_file
from flightsrv.cql.types import MARSHAL_PACKAGE
from flightsrv.errors import SchemaError
from tests.reference.fixtures import COPIED

NODES = {"3.11": COPIED / "cassandra-3.11/me/node", "4.1": COPIED / "cassandra-4.1/nb/node"}


def text_of(version: str, table: str) -> str:
    (path,) = NODES[version].glob(f"data*/snap/{table}-*/snapshots/first/schema.cql")
    return path.read_text()


@pytest.mark.parametrize("table", ["dense", "dense0", "statcompact"])
def test_a_compact_table_in_a_comment_is_one(table: str) -> None:
    """4.1 and 3.11 write the same table, each in its way."""
    old, new = (parse_schema_file(text_of(version, table), "snap", table) for version in NODES)
    assert text_of("4.1", table).startswith("/*\nWarning: Table snap.")
    assert new.id != old.id
    assert (new.flags, new.visible, new.regular, new.static) == (old.flags, old.visible, old.regular, old.static)
    with pytest.raises(SchemaError, match="no CREATE TABLE"):
        parse_ddl(text_of("4.1", table), "snap", table)


def test_other_comments_are_left_alone() -> None:
    text = (
        "/* Warning: do not CREATE TABLE t (no int PRIMARY KEY) */ CREATE TABLE t (pk int PRIMARY KEY); -- CREATE TABLE"
    )
    assert [column.name for column in parse_schema_file(text, "ks", "t").visible] == ["pk"]


@pytest.mark.parametrize("version", NODES)
def test_user_types_that_are_used_within_tuples_are_told_by_sstables(version: str) -> None:
    """Nodes leave them out."""
    schema = parse_schema_file(text_of(version, "dropped"), "snap", "dropped")
    assert schema.dropped.keys() == {"a", "b", "s", "G g"}
    assert not is_whole(schema)
    user_type = f"{MARSHAL_PACKAGE}UserType(snap,75,6161:{MARSHAL_PACKAGE}Int32Type,62:{MARSHAL_PACKAGE}UTF8Type)"
    header = schema_from_header(
        "snap",
        "dropped",
        f"{MARSHAL_PACKAGE}Int32Type",
        [f"{MARSHAL_PACKAGE}Int32Type"],
        [],
        [(b"f", f"{MARSHAL_PACKAGE}TupleType({MARSHAL_PACKAGE}Int32Type,{user_type})")],
    )
    whole = made_whole(schema, header)
    assert is_whole(whole)
    column = whole.column("f")
    assert column
    assert str(column.type) == "frozen<tuple<int, frozen<u>>>"
    assert column.type.arguments[1].field_names == ("aa", "b")
    assert made_whole(schema, replace(header, regular=())) == schema


@pytest.mark.parametrize("version", NODES)
def test_one_of_cassandras_ends_with_a_semicolon(version: str) -> None:
    """Else ALTER TABLE statements that say what was dropped, and when, may be missing."""
    text = text_of(version, "dropped").rstrip()
    parse_schema_file(text, "snap", "dropped")
    for cut in (text[:-1], text[: text.index("WITH ID")], text[: text.index("ALTER TABLE") + 30]):
        with pytest.raises(SchemaError, match="it does not end with a semicolon: it is cut off"):
            parse_schema_file(cut, "snap", "dropped")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            "ALTER TABLE snap.dropped DROP s",
            "ALTER TABLE snap.droqped DROP s",
            "snap.droqped is altered, but not created",
        ),
        (
            "ALTER TABLE snap.dropped DROP s",
            "ALTER TABLE snbp.dropped DROP s",
            "snbp.dropped is altered, but not created",
        ),
        (
            "ALTER TABLE snap.dropped DROP s",
            "ALTER TABLd snap.dropped DROP s",
            "no statement with 'ALTER TABLd snap.dro",
        ),
    ],
)
def test_no_statement_of_cassandras_is_passed_over(old: str, new: str, what: str) -> None:
    with pytest.raises(SchemaError, match=rf"^CQL, line \d+, column 1: .*{what}"):
        parse_schema_file(text_of("3.11", "dropped").replace(old, new), "snap", "dropped")


def test_a_class_of_java_is_told_by_its_name() -> None:
    schema = parse_schema_file("CREATE TABLE t (pk int PRIMARY KEY, v 'com.example.Special')", "ks", "t")
    assert is_whole(schema)


def test_a_schema_whose_types_are_all_there_is_whole() -> None:
    assert is_whole(parse_schema_file(text_of("3.11", "grown"), "snap", "grown"))
