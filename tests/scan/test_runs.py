"""How the columns of a file meet those of the table: what is known, dropped, added again, or never heard of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flightsrv.cql.schema import Column, DroppedColumn, TableSchema
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError
from flightsrv.kernels.run import (
    MIN_DELETION_TIME_S,
    MIN_TIMESTAMP_US,
    MIN_TTL_S,
    STATIC_COLUMNS,
    TOKEN_AFTER,
    TOKEN_AFTER_LOW,
    TOKEN_UPTO,
    TOKEN_UPTO_LOW,
    TOKENS,
    UNSIGNED_DELETION_TIME,
    RunHeader,
)
from flightsrv.kernels.tokens import MURMUR3
from flightsrv.scan.runs import run_header
from flightsrv.scan.token_ranges import TokenRange
from flightsrv.slab import NO_TIMESTAMP
from tests.reference.schema import Schema
from tests.stages.tables import an_sstable, engine_table

FILE = Schema({"a": "text", "b": "int", "m": "map<int, int>"}, ("int", "text desc"), {"s": "bigint"})
INT, TEXT = CqlType("int"), CqlType("text")


def header_of(table: TableSchema, version: str = "nb", file: Schema = FILE) -> RunHeader:
    return run_header(an_sstable(file, file.header(version, 5, 6, 7)), table, TokenRange(1, 2))


def changed(**kinds: tuple[Column, ...]) -> TableSchema:
    return replace(engine_table(FILE), **kinds)


def dropped(table: TableSchema, name: str, time_us: int) -> TableSchema:
    return replace(table, dropped={name: DroppedColumn(name, INT, "regular", time_us)})


@pytest.mark.parametrize(("version", "is_unsigned"), [("nb", 0), ("oa", 1)])
def test_numbers_are_the_headers(version: str, is_unsigned: int) -> None:
    numbers = header_of(engine_table(FILE), version).numbers
    assert (numbers[MIN_TIMESTAMP_US], numbers[MIN_DELETION_TIME_S], numbers[MIN_TTL_S]) == (5, 6, 7)
    assert numbers[UNSIGNED_DELETION_TIME] == is_unsigned
    assert (numbers[STATIC_COLUMNS], numbers[TOKENS]) == (1, MURMUR3)
    assert numbers[[TOKEN_AFTER, TOKEN_AFTER_LOW, TOKEN_UPTO, TOKEN_UPTO_LOW]].tolist() == [1, 0, 2, 0]


def test_columns_stand_in_the_files_order_with_their_places_in_the_table() -> None:
    header = header_of(engine_table(FILE))
    assert header.clustering_size.tolist() == [4, -1]
    assert header.column_size.tolist() == [8, -1, 4, -1]  # s, a, b, m
    assert header.column_cell.tolist() == [0, 1, 2, 3]
    assert header.column_complex.tolist() == [0, 0, 0, 1]
    assert header.dropped_us.tolist() == [NO_TIMESTAMP] * 4


def test_a_column_that_the_table_does_not_have_fills_no_cell() -> None:
    table = engine_table(FILE)
    header = header_of(replace(table, regular=tuple(each for each in table.regular if each.name == "b")))
    assert header.column_cell.tolist() == [0, -1, 1, -1]


def test_a_column_that_the_file_does_not_have_is_nowhere() -> None:
    table = engine_table(FILE)
    header = header_of(replace(table, regular=(Column("a0", INT, "regular"), *table.regular)))
    assert header.column_cell.tolist() == [0, 2, 3, 4]


def test_a_column_that_was_dropped_and_added_again_has_the_time_of_its_drop() -> None:
    header = header_of(dropped(engine_table(FILE), "b", 77))
    assert header.dropped_us.tolist() == [NO_TIMESTAMP, NO_TIMESTAMP, 77, NO_TIMESTAMP]
    assert header.column_cell.tolist() == [0, 1, 2, 3]


def test_a_column_that_was_added_again_as_something_else_is_another() -> None:
    table = engine_table(FILE)
    as_static = changed(static=(*table.static, Column("b", INT, "static")), regular=table.regular[:1])
    assert header_of(dropped(as_static, "b", 77)).column_cell[2] == -1
    as_map = changed(regular=(table.regular[0], Column("b", CqlType("map", (INT, INT)), "regular")))
    assert header_of(dropped(as_map, "b", 77)).column_cell[2] == -1


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (changed(regular=(Column("b", TEXT, "regular"),)), "column b is regular int, not regular text"),
        (changed(static=(Column("b", INT, "static"),), regular=()), "column b is regular int, not static int"),
        (changed(clustering=engine_table(FILE).clustering[:1]), "clustering has 2 columns, not 1"),
        (changed(partition_key=(Column("k", INT, "partition_key", 0),)), "partition key column k is text, not int"),
    ],
)
def test_a_file_that_does_not_fit_the_table_is_a_schema_error(table: TableSchema, what: str) -> None:
    with pytest.raises(SchemaError, match=rf"^nb-1-big-Statistics\.db: HEADER: does not fit the schema of .*{what}"):
        header_of(table)


def test_a_column_that_never_was_is_a_schema_error_where_the_dropped_ones_are_known() -> None:
    """As in Cassandra; a DDL that a client brings may have left it out."""
    table = engine_table(FILE)
    table = replace(table, regular=tuple(each for each in table.regular if each.name == "b"))
    known = replace(table, knows_dropped=True)
    with pytest.raises(SchemaError, match=r"^nb-1-big-Statistics\.db: HEADER: .* neither has columns a, m nor"):
        header_of(known)
    both = {name: DroppedColumn(name, INT, "regular", 1) for name in ("a", "m")}
    assert header_of(replace(known, dropped=both)).column_cell.tolist() == [0, -1, 1, -1]
