from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flightsrv.cql.ddl import parse_ddl
from flightsrv.errors import SchemaError
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.schemas import rows_of, schema_from_file, schema_from_request, schema_from_sstable
from flightsrv.slab import Selection
from tests.kernels.places import places_of
from tests.reference.fixtures import COPIED
from tests.scan.scanning import open_file

DDL = "CREATE TABLE ks.t (k text, c int, s set<text> static, v int, PRIMARY KEY (k, c))"
TABLE = parse_ddl(DDL.replace("set<text>", "frozen<set<text>>"), "ks", "t")


def test_a_schema_lies_beside_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "schema.cql").write_text("CREATE TABLE ks.other (k int PRIMARY KEY);\n" + DDL + ";\n")
    found = schema_from_file(tmp_path, "ks", "t")
    assert found is not None
    assert [column.name for column in found.visible] == ["k", "c", "s", "v"]


def test_no_schema_beside_it_is_none(tmp_path: Path) -> None:
    assert schema_from_file(tmp_path, "ks", "t") is None
    (tmp_path / "schema.cql").mkdir()
    assert schema_from_file(tmp_path, "ks", "t") is None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"CREATE TABLE (", "schema|CREATE|line"),
        (b"CREATE TABLE ks.other (k int PRIMARY KEY)", "no CREATE TABLE of ks.t"),
        (b"\xff\xfe", r"schema\.cql of ks\.t cannot be read"),
    ],
)
def test_a_schema_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "schema.cql").write_bytes(content)
    with pytest.raises(SchemaError, match=what):
        schema_from_file(tmp_path, "ks", "t")


def test_a_request_may_bring_its_schema() -> None:
    assert schema_from_request(ScanRequest("ks", "t")) is None
    found = schema_from_request(ScanRequest("ks", "t", ddl=DDL))
    assert found is not None
    assert (found.keyspace, found.table) == ("ks", "t")


def test_an_sstables_header_tells_types_but_not_the_names_of_keys() -> None:
    sstable = open_file(COPIED / "cassandra-5.0/nb/ranges_mixed/nb-1-big-Data.db")
    found = schema_from_sstable("ks", "t", sstable)
    assert found.partition_key[0].name == "key"
    assert [column.name for column in found.clustering] == [f"column{i + 1}" for i in range(len(found.clustering))]


def selection_of(*columns: list[bytes | None]) -> tuple[Selection, object]:
    places = [places_of(column) for column in columns]
    at, size = np.stack([each.at for each in places]), np.stack([each.size for each in places])
    return Selection(at, size, 0, len(columns[0])), places


def test_rows_become_python_values() -> None:
    selection, kept = selection_of([b"a", b"b"], [b"\0\0\0\1", None], [None, b"\0\0\0\1\0\0\0\1x"], [None, b"\0\0\0\2"])
    assert rows_of(TABLE, selection) == [
        {"k": "a", "c": 1, "s": None, "v": None},
        {"k": "b", "c": None, "s": ["x"], "v": 2},
    ], kept


def test_a_value_that_is_none_of_its_type_is_an_error() -> None:
    selection, kept = selection_of([b"a"], [b"\0\0\0\1"], [None], [b"\0"])
    with pytest.raises(SchemaError, match="system_schema holds a value that is not a int"):
        rows_of(TABLE, selection)
    assert kept
