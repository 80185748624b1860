from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import Column, TableSchema, schema_from_header
from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.errors import SchemaError
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.schemas import schema_from_files, schema_from_request, schema_from_sstables
from tests.reference.fixtures import COPIED
from tests.scan.scanning import open_file

DDL = "CREATE TABLE ks.t (k text, c int, s set<text> static, v int, PRIMARY KEY (k, c))"


def from_files(folder: Path, known: TableSchema | None = None, header: TableSchema | None = None) -> TableSchema | None:
    return schema_from_files([folder], "ks", "t", known, lambda: header)


def test_a_schema_lies_beside_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "schema.cql").write_text("CREATE TABLE ks.other (k int PRIMARY KEY);\n" + DDL + ";\n")
    found = from_files(tmp_path)
    assert found is not None
    assert [column.name for column in found.visible] == ["k", "c", "s", "v"]


def test_it_may_lie_in_one_of_several_folders(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/schema.cql").write_text(DDL)
    assert schema_from_files([tmp_path, tmp_path / "b"], "ks", "t", None, lambda: None) is not None


def test_no_schema_beside_it_is_none(tmp_path: Path) -> None:
    assert from_files(tmp_path) is None
    (tmp_path / "schema.cql").mkdir()
    assert from_files(tmp_path, parse_ddl(DDL, "ks", "t")) is None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"CREATE TABLE (", r"^schema\.cql of ks\.t: CQL, line 1, column 14: "),
        (b"CREATE TABLE ks.other (k int PRIMARY KEY)", "no CREATE TABLE of ks.t"),
        (b"\xff\xfe", r"^schema\.cql of .* cannot be read$"),
    ],
)
def test_a_schema_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "schema.cql").write_bytes(content)
    with pytest.raises(SchemaError, match=what):
        from_files(tmp_path)


def test_what_a_schema_file_does_not_tell_is_known_from_system_schema(tmp_path: Path) -> None:
    (tmp_path / "schema.cql").write_text("CREATE TABLE ks.t (k int PRIMARY KEY, u frozen<u>)")
    known = parse_ddl(DDL, "ks", "t")
    assert from_files(tmp_path, known) is known
    (tmp_path / "schema.cql").write_text("CREATE TYPE ks.u (Zip Code int)")
    assert from_files(tmp_path, known) is known


def test_user_types_that_it_leaves_out_are_told_by_the_sstables(tmp_path: Path) -> None:
    (tmp_path / "schema.cql").write_text("CREATE TABLE ks.t (k int PRIMARY KEY, f frozen<tuple<int, frozen<u>>>)")
    user_type = CqlType("udt", (CqlType("int"),), ("a",), "ks", "u", frozen=True)
    header = replace(HEADER, regular=(Column("f", CqlType("tuple", (CqlType("int"), user_type)), "regular"),))
    found = from_files(tmp_path, header=header)
    assert found is not None
    assert found.regular == header.regular
    alone = from_files(tmp_path)
    assert alone is not None
    assert str(alone.regular[0].type) == "frozen<tuple<int, 'u'>>"


VIEW = "CREATE MATERIALIZED VIEW ks.t AS SELECT v, k, c FROM ks.base WHERE v IS NOT NULL PRIMARY KEY (v, k)"
HEADER = schema_from_header(
    "ks", "t", f"{MARSHAL_PACKAGE}Int32Type", [f"{MARSHAL_PACKAGE}UTF8Type"], [], [(b"c", f"{MARSHAL_PACKAGE}LongType")]
)


def test_a_view_alone_gets_its_types_from_its_sstables(tmp_path: Path) -> None:
    (tmp_path / "schema.cql").write_text(VIEW)
    found = from_files(tmp_path, header=HEADER)
    assert found is not None
    assert [f"{column.name} {column.type} {column.kind}" for column in found.visible] == [
        "v int partition_key",
        "k text clustering",
        "c bigint regular",
    ]
    assert found.is_view


@pytest.mark.parametrize(
    ("header", "what"),
    [
        (None, "the base table base of view t is not in the DDL"),
        (replace(HEADER, clustering=()), "the primary key of view t has other columns in its SSTables"),
        (replace(HEADER, regular=()), "nothing tells the type of c in view t"),
    ],
)
def test_a_view_whose_types_nothing_tells_is_an_error(tmp_path: Path, header: TableSchema | None, what: str) -> None:
    (tmp_path / "schema.cql").write_text(VIEW)
    with pytest.raises(SchemaError, match=what):
        from_files(tmp_path, header=header)


def test_a_request_may_bring_its_schema() -> None:
    assert schema_from_request(ScanRequest("ks", "t")) is None
    found = schema_from_request(ScanRequest("ks", "t", ddl=DDL))
    assert found is not None
    assert (found.keyspace, found.table) == ("ks", "t")


def test_an_sstables_header_tells_types_but_not_the_names_of_keys() -> None:
    sstable = open_file(COPIED / "cassandra-5.0/nb/ranges_mixed/nb-1-big-Data.db")
    found = schema_from_sstables("ks", "t", [sstable])
    assert found.partition_key[0].name == "key"
    assert [column.name for column in found.clustering] == [f"column{i + 1}" for i in range(len(found.clustering))]


def test_sstables_tell_together_what_columns_there_are() -> None:
    """A flush writes down only the columns that it has values of."""
    folder = COPIED / "cassandra-5.0/nb/schema_changes"
    sstables = [open_file(path) for path in sorted(folder.glob("*-Data.db"))]
    apart = [schema_from_sstables("ks", "t", [each]).regular for each in sstables]
    together = schema_from_sstables("ks", "t", sstables).regular
    assert {column.name for column in together} == {column.name for columns in apart for column in columns}
    assert len(together) > max(map(len, apart))


def test_the_newest_sstable_tells_a_columns_type() -> None:
    sstable = open_file(COPIED / "cassandra-5.0/nb/ranges_mixed/nb-1-big-Data.db")
    header = sstable.statistics.header
    name, _ = header.regular_columns[0]
    other = replace(header, regular_columns=((name, f"{MARSHAL_PACKAGE}BytesType"),))
    newer = replace(
        sstable,
        descriptor=replace(sstable.descriptor, id="10"),
        statistics=replace(sstable.statistics, header=other),
    )
    for order in ([sstable, newer], [newer, sstable]):
        found = schema_from_sstables("ks", "t", order)
        assert found.column(name) == Column(name, CqlType("blob"), "regular")
