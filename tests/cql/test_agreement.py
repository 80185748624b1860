from __future__ import annotations

from dataclasses import replace

import pytest

from flightsrv.cql.agreement import check_against_header
from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.schema import schema_from_header
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import parse_name
from flightsrv.sstable.header import SerializationHeader
from flightsrv.sstable.statistics import parse
from flightsrv.sstable.version import version_of
from tests.reference.fixtures import FixtureSet, params


def headers(fixture: FixtureSet) -> list[SerializationHeader]:
    """The serialization header of each SSTable."""
    found = []
    for data_file in fixture.data_files:
        path = data_file.with_name(data_file.name.replace("Data.db", "Statistics.db"))
        name = parse_name(path.name)
        assert name
        found.append(
            parse(Cursor(path.read_bytes(), str(path)), version_of(name.format, name.letters, str(path))).header
        )
    return found


def with_bytes(columns: tuple[tuple[str, str], ...]) -> list[tuple[bytes, str]]:
    return [(name.encode(), text) for name, text in columns]


NOT_AS_THE_DDL_SAYS = "sstable-adaptor/mc/keyspace1/auditlogsbyid"
"""Declared WITH COMPACT STORAGE, written by a tool that took no notice."""


def has_its_ddl(fixture: FixtureSet) -> bool:
    ddl = (fixture.expected or {}).get("cql", "MATERIALIZED VIEW")
    return "MATERIALIZED VIEW" not in ddl and fixture.id != NOT_AS_THE_DDL_SAYS and not is_refused(fixture)


def is_refused(fixture: FixtureSet) -> bool:
    """Damaged, or of a version that is not read."""
    return "damage" in fixture.manifest_entry or fixture.id.startswith("other-versions")


@pytest.mark.parametrize("fixture", params(has_its_ddl))
def test_the_ddl_of_a_fixture_agrees_with_its_headers(fixture: FixtureSet):
    expected = fixture.schema
    schema = parse_ddl(expected["cql"], expected["keyspace"], expected["table"])
    for header in headers(fixture):
        columns = with_bytes(header.static_columns), with_bytes(header.regular_columns)
        assert check_against_header(schema, header.key_type, header.clustering_types, *columns) == ()
        alone = schema_from_header("ks", "t", header.key_type, header.clustering_types, *columns)
        assert [column.type for column in alone.partition_key] == [column.type for column in schema.partition_key]
        assert [column.name_bytes for column in alone.regular] == [name for name, _ in columns[1]]


def test_nothing_is_read_as_a_type_that_only_has_a_name() -> None:
    """A schema.cql may leave user types out; a name that none of them has was something else."""
    schema = parse_ddl("CREATE TABLE ks.t (k int PRIMARY KEY, v 'com.example.Own', w blob)", "ks", "t")
    columns = [(b"v", "Int32Type"), (b"w", "Int32Type")]
    assert check_against_header(schema, "Int32Type", [], [], columns) == ()
    left_out = replace(schema.regular[0], type=CqlType("custom", class_name="inu"))
    schema = replace(schema, regular=(left_out, schema.regular[1]))
    with pytest.raises(SchemaError, match="column v is regular int, not regular 'inu'"):
        check_against_header(schema, "Int32Type", [], [], columns)
