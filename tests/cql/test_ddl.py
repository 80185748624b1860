from __future__ import annotations

import contextlib
import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.alterations import NEVER_AGAIN_US
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.grammar import MAX_DDL_CHARS, MAX_STATEMENTS
from flightsrv.cql.schema import DroppedColumn, TableSchema, select_order
from flightsrv.cql.types import CqlType
from flightsrv.errors import LimitError, SchemaError
from tests.cql.strategies import types
from tests.reference.fixtures import FixtureSet, params

INT, TEXT = CqlType("int"), CqlType("text")


def parse(text: str, table: str = "t") -> TableSchema:
    return parse_ddl(text, "ks", table)


def type_of(text: str, types: str = "") -> CqlType:
    """The type of a column declared as `text`."""
    column = parse(f"{types} CREATE TABLE t (pk int PRIMARY KEY, c {text})").column("c")
    assert column
    return column.type


def shown(schema: TableSchema) -> list[str]:
    return [f"{column.name} {column.type} {column.kind}" for column in schema.visible]


def has_its_ddl(fixture: FixtureSet) -> bool:
    """Views do not: the text has none of their base tables."""
    ddl = (fixture.expected or {}).get("cql", "MATERIALIZED VIEW")
    return "MATERIALIZED VIEW" not in ddl


@pytest.mark.parametrize("fixture", params(has_its_ddl))
def test_the_schema_of_every_fixture(fixture: FixtureSet):
    expected = fixture.schema
    schema = parse_ddl(expected["cql"], expected["keyspace"], expected["table"])
    assert {column.name: str(column.type) for column in schema.visible} == expected["columns"]
    assert [column.name for column in schema.partition_key] == expected["partition_key"]
    if schema.is_static_compact:
        return
    clustering = [[column.name, "desc" if column.reversed else "asc"] for column in schema.clustering]
    assert clustering == expected["clustering"]
    assert {column.name for column in schema.static} == set(expected["static"])
    if fixture.read_at:
        key = [column.name for column in schema.partition_key + schema.clustering]
        shown = (column for column in schema.regular if column in schema.visible)
        assert [*key, *select_order(schema.static, shown)] == list(expected["columns"])


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("int", INT),
        ("VARCHAR", TEXT),
        ("list<int>", CqlType("list", (INT,))),
        ("frozen<set<text>>", CqlType("set", (TEXT,), frozen=True)),
        ("Map < text , frozen<list<int>> >", CqlType("map", (TEXT, CqlType("list", (INT,))))),
        ("tuple<int, text>", CqlType("tuple", (INT, TEXT))),
        ("frozen<tuple<int, text>>", CqlType("tuple", (INT, TEXT))),
        ("vector<float, 3>", CqlType("vector", (CqlType("float"),), dimension=3)),
        ("'org.apache.cassandra.db.marshal.LexicalUUIDType'", CqlType("uuid", class_name="LexicalUUIDType")),
        ("'com.example.Special'", CqlType("custom", class_name="com.example.Special")),
        ("unheard_of", CqlType("custom", class_name="unheard_of")),
        ("frozen<int>", INT),
    ],
)
def test_types(text, type_):
    assert type_of(text) == type_


@given(types().filter(lambda type_: "udt" not in repr(type_)))
def test_a_type_that_is_printed_is_read_as_itself(type_):
    assert type_of(str(type_)) == type_
    assert type_of(str(type_.freeze())) == type_.freeze()


WORDS = (
    """CREATE TABLE TYPE t a int ( ) , ; < > = list frozen PRIMARY KEY WITH ALTER DROP ADD static 'x' "y" -- /* */ $$"""
)


@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=30))
def test_any_words_are_a_schema_or_a_schema_error(words):
    with contextlib.suppress(SchemaError):
        parse("CREATE TABLE t (a int PRIMARY KEY); " + " ".join(words))


def test_user_types_are_known_whichever_way_they_are_written():
    addr = CqlType("udt", (TEXT,), ("Street",), "ks", "addr")
    types = 'CREATE TYPE IF NOT EXISTS KS.Addr ("Street" text);'
    assert type_of("addr", types) == addr
    assert type_of('frozen<ks."addr">', types) == addr.freeze()
    assert type_of("list<frozen<addr>>", types) == CqlType("list", (addr,))


def test_a_quoted_name_is_a_user_type_even_when_it_is_that_of_a_native_one():
    assert type_of('"text"', 'CREATE TYPE "text" (a int);').kind == "udt"


def test_user_types_may_be_defined_after_their_use():
    outer = type_of("o", "CREATE TYPE o (i frozen<list<frozen<i>>>); CREATE TYPE i (a int);")
    assert str(outer.arguments[0]) == "frozen<list<frozen<i>>>"
    assert outer.arguments[0].arguments[0].field_names == ("a",)


def test_the_key_may_stand_behind_its_column():
    assert shown(parse("CREATE TABLE t (v int, pk text PRIMARY KEY)")) == ["pk text partition_key", "v int regular"]


def test_a_composite_key():
    schema = parse("CREATE TABLE t (c int, b int, a int, v int, PRIMARY KEY ((a, b), c))")
    assert [(column.name, column.position) for column in schema.partition_key] == [("a", 0), ("b", 1)]
    assert [(column.name, column.position) for column in schema.clustering] == [("c", 0)]


def test_columns_are_shown_in_the_order_of_the_text_and_stored_in_cassandras():
    schema = parse("CREATE TABLE t (z int, pk int, l list<int>, a int, s int static, ck int, PRIMARY KEY (pk, ck))")
    assert [column.name for column in schema.visible] == ["pk", "ck", "z", "l", "a", "s"]
    assert [column.name for column in schema.regular] == ["a", "z", "l"]
    assert [column.name for column in schema.static] == ["s"]


def test_names_are_lower_case_unless_quoted():
    schema = parse('CREATE TABLE "T t" (PK int PRIMARY KEY, "Va""l" int)', "T t")
    assert [column.name for column in schema.visible] == ["pk", 'Va"l']


def test_keywords_may_be_names():
    schema = parse(
        "CREATE TABLE t (key int, type text, static int static, ttl int, clustering int, PRIMARY KEY (key, type))"
    )
    assert [column.name for column in schema.visible] == ["key", "type", "static", "ttl", "clustering"]


@pytest.mark.parametrize(
    "options",
    [
        "comment = 'it''s; -- not' AND gc_grace_seconds = 864000",
        "compaction = {'class': 'X', 'n': 4} AND extensions = {} AND crc = 1.0e-3 AND cdc = false",
        "x = [1, 2] AND y = {1, 2} AND z = 0xff AND w = $$any; thing$$",
    ],
)
def test_options_that_say_nothing_about_columns_do_not_matter(options):
    assert parse(f"CREATE TABLE t (pk int PRIMARY KEY) WITH {options};") == parse("CREATE TABLE t (pk int PRIMARY KEY)")


def test_id_and_clustering_order_are_taken_from_the_options():
    schema = parse(
        "CREATE TABLE t (pk int, a int, b int, PRIMARY KEY (pk, a, b)) WITH CLUSTERING ORDER BY (a DESC, b ASC)"
        " AND ID = 123e4567-e89b-42d3-a456-426614174000"
    )
    assert [column.reversed for column in schema.clustering] == [True, False]
    assert schema.id == UUID("123e4567-e89b-42d3-a456-426614174000")


def test_masks_are_passed_over():
    """As they are typed, and as DESCRIBE writes them."""
    schema = parse(
        "CREATE TABLE t (pk int PRIMARY KEY MASKED WITH DEFAULT, v text MASKED WITH system.mask_inner(1, null))"
    )
    assert shown(schema) == ["pk int partition_key", "v text regular"]
    assert parse("CREATE TABLE t (pk int PRIMARY KEY); ALTER TABLE t ALTER pk MASKED WITH DEFAULT;") == parse(
        "CREATE TABLE t (pk int PRIMARY KEY); ALTER TABLE t ALTER pk DROP MASKED; ALTER TABLE t WITH comment = ''"
    )


def test_other_statements_and_comments_are_passed_over():
    text = """
    // CREATE TABLE t (nothing)
    CREATE KEYSPACE ks WITH replication = {'class': 'X'};
    CREATE INDEX ON t (v); -- ; '
    /* CREATE TABLE t; */ CREATE /* here too */ TABLE t (pk int PRIMARY KEY, v int) -- the end;
    ; CREATE FUNCTION f () RETURNS int LANGUAGE java AS $$ CREATE TABLE t (no int); $$;
    INSERT INTO t (pk) VALUES ('; CREATE TABLE t (no int PRIMARY KEY);');
    """
    assert shown(parse(text)) == ["pk int partition_key", "v int regular"]


def test_tables_of_other_keyspaces_are_not_meant():
    text = "CREATE TABLE other.t (no int PRIMARY KEY); CREATE TABLE ks.t (pk int PRIMARY KEY)"
    assert shown(parse(text)) == ["pk int partition_key"]
    with pytest.raises(SchemaError, match=r"no CREATE TABLE of ks\.t in the DDL"):
        parse("CREATE TABLE other.t (pk int PRIMARY KEY)")


def test_dropped_columns_keep_their_type_kind_and_time():
    schema = parse(
        "CREATE TABLE t (pk int, ck int, a int, b set<int>, s int static, PRIMARY KEY (pk, ck));"
        "ALTER TABLE ks.t DROP b USING TIMESTAMP 1500; ALTER TABLE t DROP (s) USING TIMESTAMP 2500;"
    )
    assert shown(schema) == ["pk int partition_key", "ck int clustering", "a int regular"]
    assert schema.dropped == {
        "b": DroppedColumn("b", CqlType("set", (INT,)), "regular", 1500),
        "s": DroppedColumn("s", INT, "static", 2500),
    }


def test_a_column_may_be_added_again_and_still_was_dropped():
    schema = parse(
        "CREATE TABLE t (pk int PRIMARY KEY, a int, b int); ALTER TABLE t DROP a USING TIMESTAMP 5;"
        "ALTER TABLE t ADD a text, c int"
    )
    assert shown(schema) == ["pk int partition_key", "b int regular", "a text regular", "c int regular"]
    assert schema.dropped["a"].dropped_time_us == 5


def test_what_was_dropped_at_an_unknown_time_cannot_be_added_again():
    schema = parse("CREATE TABLE t (pk int PRIMARY KEY, a int); ALTER TABLE t DROP a")
    assert schema.dropped["a"].dropped_time_us == NEVER_AGAIN_US
    with pytest.raises(SchemaError, match="does not say USING TIMESTAMP"):
        parse("CREATE TABLE t (pk int PRIMARY KEY, a int); ALTER TABLE t DROP a; ALTER TABLE t ADD a int")


def test_key_columns_may_be_renamed():
    schema = parse("CREATE TABLE t (pk int, ck int, PRIMARY KEY (pk, ck)); ALTER TABLE t RENAME pk TO p AND ck TO c")
    assert shown(schema) == ["p int partition_key", "c int clustering"]


@pytest.mark.parametrize("name", ["compact", "storage", "type", "key", "masked"])
def test_columns_that_are_called_like_words_of_the_grammar_may_be_altered(name):
    text = f"CREATE TABLE t (pk int PRIMARY KEY, {name} int, v int); ALTER TABLE t"
    assert shown(parse(f"{text} DROP {name} USING TIMESTAMP 5")) == ["pk int partition_key", "v int regular"]
    assert shown(parse(f"{text} DROP {name}, v")) == ["pk int partition_key"]
    assert f"{name} blob regular" in shown(parse(f"{text} ALTER {name} TYPE blob"))
    with pytest.raises(SchemaError, match=f"a comma is missing between {name} and v"):
        parse(f"{text} DROP {name} v")


def test_a_table_without_compact_storage_shows_all_that_it_stores():
    """In the order of SELECT *, as Cassandra 4.1 and 5.0 then describe it."""
    static = parse(
        "CREATE TABLE t (pk int PRIMARY KEY, a int) WITH COMPACT STORAGE; ALTER TABLE t DROP COMPACT STORAGE"
    )
    assert shown(static) == ["pk int partition_key", "column1 text clustering", "a int static", "value blob regular"]
    assert static.flags == {"compound"}
    dense = parse(
        "CREATE TABLE t (pk int, a int, b int, PRIMARY KEY (pk, a, b)) WITH COMPACT STORAGE;"
        "ALTER TABLE t DROP COMPACT STORAGE"
    )
    assert shown(dense)[3:] == ["value empty regular"]
    assert dense == parse("CREATE TABLE t (pk int, a int, b int, value empty, PRIMARY KEY (pk, a, b))")


def test_the_type_of_a_column_may_have_changed():
    """Until 3.0.10 and 3.10."""
    schema = parse(
        "CREATE TABLE t (pk int PRIMARY KEY, v int); ALTER TABLE t ALTER v TYPE blob; ALTER TABLE t ALTER pk TYPE blob"
    )
    assert shown(schema) == ["pk blob partition_key", "v blob regular"]


def test_user_types_are_what_they_were_altered_to():
    text = (
        "CREATE TYPE u (a int, b text); CREATE TABLE t (pk int PRIMARY KEY, u frozen<u>); ALTER TYPE ks.u ADD c int;"
        "ALTER TYPE u RENAME a TO aa AND b TO bb; ALTER TYPE u ALTER c TYPE blob"
    )
    (column,) = parse(text).regular
    assert column.type.field_names == ("aa", "bb", "c")
    assert [str(argument) for argument in column.type.arguments] == ["int", "text", "blob"]


def test_what_is_there_already_is_not_created_again_if_it_must_not_exist():
    first = "CREATE TABLE t (pk int PRIMARY KEY, u frozen<u>); CREATE TYPE u (a int);"
    again = "CREATE TABLE IF NOT EXISTS t (no int PRIMARY KEY); CREATE TYPE IF NOT EXISTS u (no int);"
    assert parse(first + again) == parse(first)
    assert shown(parse(first + again.replace("IF NOT EXISTS", ""))) == ["no int partition_key"]


def test_names_are_in_the_keyspace_that_is_used():
    text = 'USE other; CREATE TABLE t (no int PRIMARY KEY); USE ks; CREATE TABLE t (pk int PRIMARY KEY); USE "More";'
    assert shown(parse(text + "CREATE TABLE t (no int PRIMARY KEY)")) == ["pk int partition_key"]


def test_a_view_has_its_types_from_the_base_table():
    text = (
        "CREATE TABLE base (pk int, ck text, v bigint, w int, PRIMARY KEY (pk, ck));"
        "CREATE MATERIALIZED VIEW {} FROM ks.base WHERE v IS NOT NULL AND pk IS NOT NULL AND ck > 'a'"
        "PRIMARY KEY (v, pk, ck) WITH CLUSTERING ORDER BY (pk DESC)"
    )
    view = parse(text.format("t AS SELECT v, pk, ck"))
    assert shown(view) == ["v bigint partition_key", "pk int clustering", "ck text clustering"]
    assert view.is_view
    assert view.strict_liveness
    assert not parse(text.format("t AS SELECT *").replace("(v, pk, ck)", "(ck, pk)")).strict_liveness
    assert [column.reversed for column in view.clustering] == [True, False]
    assert shown(parse(text.format("t AS SELECT *")))[3:] == ["w int regular"]


def test_a_view_without_its_base_table_is_an_error():
    with pytest.raises(SchemaError, match="base table base of view t is not in the DDL"):
        parse("CREATE MATERIALIZED VIEW t AS SELECT * FROM base WHERE v IS NOT NULL PRIMARY KEY (v)")


def test_compact_storage_without_clustering_stores_its_columns_as_static_ones():
    schema = parse("CREATE TABLE t (pk int PRIMARY KEY, v text, column1 int) WITH COMPACT STORAGE")
    assert shown(schema) == ["pk int partition_key", "v text static", "column1 int static"]
    assert [f"{column.name} {column.type}" for column in schema.clustering + schema.regular] == [
        "column2 text",
        "value blob",
    ]
    assert schema.flags == frozenset()


@pytest.mark.parametrize(
    ("key", "value", "flags"),
    [
        ("pk, a", "v int,", {"dense"}),
        ("pk, a, b", "v int,", {"dense", "compound"}),
        ("pk, a, b", "", {"dense", "compound"}),
    ],
)
def test_compact_storage_with_clustering_is_dense(key, value, flags):
    columns = "pk int, a int," + (" b int," if "b" in key else "")
    schema = parse(f"CREATE TABLE t ({columns} {value} PRIMARY KEY ({key})) WITH COMPACT STORAGE")
    assert schema.flags == flags
    if not value:
        assert [f"{column.name} {column.type}" for column in schema.regular] == ["value empty"]
        assert "value" not in [column.name for column in schema.visible]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (pk int PRIMARY KEY,, v int)", "CQL, line 1, column 36: ', v int)' is not expected here"),
        ("\n\nCREATE TABLE t (\n  pk int PRIMARY KEY", "CQL, line 4, column 21: the end is not expected here"),
        ("CREATE TABLE t (v 'x", 'CQL, line 1, column 19: "\'x" is not expected here'),
        ("CREATE TABLE t (v int)", "CQL, line 1, column 1: 0 primary keys instead of one"),
        ("CREATE TABLE t (v int PRIMARY KEY, PRIMARY KEY (v))", "2 primary keys instead of one"),
        (
            ";\n CREATE TABLE t (v int, PRIMARY KEY (x))",
            "CQL, line 2, column 2: the primary key has columns that are not",
        ),
        ("CREATE TABLE t (v int, PRIMARY KEY (v, v))", "the primary key has a column twice"),
        ("CREATE TABLE t (v int PRIMARY KEY, v int)", "two columns have the same name"),
        ("CREATE TABLE t (v int PRIMARY KEY) WITH CLUSTERING ORDER BY (v ASC, x DESC)", "not clustering columns: x"),
        ("CREATE TABLE t (v int PRIMARY KEY, c list<int, int>)", "type list does not have the arguments it needs"),
        ("CREATE TABLE t (v int PRIMARY KEY, c vector<int>)", "type vector does not have the arguments it needs"),
        ("CREATE TABLE t (v int PRIMARY KEY, c int<int>)", "type int takes no arguments"),
        ("CREATE TABLE t (v int PRIMARY KEY, c 'X(')", "')' expected at character 2"),
        ("CREATE TABLE t (v int PRIMARY KEY) WITH id = 5", "badly formed hexadecimal UUID string"),
        ("CREATE TABLE t (v int PRIMARY KEY); ALTER TABLE t DROP x", "DROP of x, which is no static or regular column"),
        ("CREATE TABLE t (v int PRIMARY KEY); ALTER TABLE t ADD v int", "two columns have the same name"),
        ("CREATE TABLE t (v int PRIMARY KEY); ALTER TABLE t ALTER w TYPE int", "ALTER of w, which is no column"),
        (
            "CREATE TYPE u (a int);\nALTER TYPE u RENAME b TO c; CREATE TABLE t (v int PRIMARY KEY)",
            "CQL, line 2, column 1",
        ),
        ("CREATE TYPE u (a int); ALTER TYPE u ALTER b TYPE int; CREATE TABLE t (v int PRIMARY KEY)", "ALTER TYPE of b"),
        ("CREATE TYPE u (a int); ALTER TYPE u ADD a int; CREATE TABLE t (v int PRIMARY KEY)", "two fields of the same"),
        (
            "CREATE TYPE a (b frozen<b>); CREATE TYPE b (a frozen<a>); CREATE TABLE t (v int PRIMARY KEY)",
            "made of itself",
        ),
        (
            "CREATE TABLE t (v int PRIMARY KEY, c " + "list<" * 70 + "int" + ">" * 70 + ")",
            "nested deeper than 64 types",
        ),
    ],
)
def test_what_makes_no_sense_is_an_error_that_says_where(text, message):
    with pytest.raises(SchemaError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_length_and_number_of_statements_have_limits():
    with pytest.raises(LimitError, match=str(MAX_DDL_CHARS)):
        parse(" " * (MAX_DDL_CHARS + 1))
    with pytest.raises(LimitError, match=str(MAX_STATEMENTS)):
        parse("CREATE TYPE x (a int);" * (MAX_STATEMENTS + 1))


@pytest.mark.parametrize("text", ["/*" * 100_000, "'" * 200_001, "--\n" * 80_000, "$$" * 100_000 + "$", '"' * 200_001])
def test_cutting_a_text_into_statements_takes_linear_time(text):
    started = time.perf_counter()
    with pytest.raises(SchemaError):
        parse(text)
    assert time.perf_counter() - started < 1


def test_the_same_text_is_parsed_once():
    text = "CREATE TABLE t (pk int PRIMARY KEY)"
    assert parse(text) is parse(text)
