"""How one SSTable's rows meet the table's schema: what its decode kernel must know."""

from __future__ import annotations

import numpy as np

from flightsrv.cql.agreement import check_against_header
from flightsrv.cql.comparators import comparators_of, unordered_type
from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.partitioners import partitioner_of
from flightsrv.cql.schema import Column, TableSchema, header_column
from flightsrv.cql.system_schema import KEYSPACE as SYSTEM_SCHEMA
from flightsrv.errors import SchemaError
from flightsrv.kernels.cells import ELEMENT_FIELDS
from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.order import ANY_ORDER
from flightsrv.kernels.run import (
    KEY_COMPARATOR,
    MIN_DELETION_TIME_S,
    MIN_TIMESTAMP_US,
    MIN_TTL_S,
    RUN_NUMBERS,
    STATIC_COLUMNS,
    TOKEN_AFTER,
    TOKEN_AFTER_LOW,
    TOKEN_UPTO,
    TOKEN_UPTO_LOW,
    TOKENS,
    UNSIGNED_DELETION_TIME,
    RunHeader,
)
from flightsrv.scan.sstables import SSTable, header_error
from flightsrv.scan.token_ranges import TokenRange, whole_ring
from flightsrv.slab import NO_TIMESTAMP, Array

_NO_CELL = -1


def check_fit(sstable: SSTable, schema: TableSchema) -> None:
    """Compare an SSTable's header with the schema.

    Raises SchemaError naming the columns that do not match, and those that the schema does not know if it knows all
    that ever were, as Cassandra does.
    """
    header, version = sstable.statistics.header, sstable.descriptor.version
    statics, regulars = _with_bytes(header.static_columns), _with_bytes(header.regular_columns)
    try:
        unknown = check_against_header(schema, header.key_type, header.clustering_types, statics, regulars)
    except SchemaError as error:
        raise header_error(sstable.descriptor, str(error)) from None
    # Of system_schema's own tables, those columns are known that it had up to Cassandra 5.0: all of 3.
    is_fixed = schema.keyspace == SYSTEM_SCHEMA and not version.has_metadata_checksum
    if unknown and (schema.knows_dropped or is_fixed):
        what = f"{schema.keyspace}.{schema.table} neither has columns {', '.join(unknown)} nor had them dropped"
        raise header_error(sstable.descriptor, what)


def run_header(sstable: SSTable, schema: TableSchema, wanted: TokenRange | None = None) -> RunHeader:
    """Match an SSTable's header with the schema. wanted: which of its partitions are decoded; None: all.

    Raises what check_fit raises.
    """
    header = sstable.statistics.header
    statics, regulars = _with_bytes(header.static_columns), _with_bytes(header.regular_columns)
    check_fit(sstable, schema)
    columns = [header_column(name, text, "static") for name, text in statics]
    columns += [header_column(name, text, "regular") for name, text in regulars]
    cells = {column.name_bytes: i for i, column in enumerate(schema.static + schema.regular)}
    kept = {column.name_bytes: column for column in schema.static + schema.regular}
    column_cell, column_complex, column_fields, dropped_us = [], [], [], []
    for column in columns:
        known = kept.get(column.name_bytes)
        dropped = schema.dropped.get(column.name)
        complexity = _is_complex(column, known)
        # A column that was dropped and added again as something else: all that this file has of it is from before.
        is_same = known is not None and known.kind == column.kind and known.type.is_multicell == complexity
        column_cell.append(cells[column.name_bytes] if is_same else _NO_CELL)
        column_complex.append(complexity)
        column_fields.append(len(known.type.arguments) if known and complexity and known.type.kind == "udt" else 0)
        dropped_us.append(NO_TIMESTAMP if dropped is None else dropped.dropped_time_us)
    clustering = [parse_marshal(text).type.fixed_size for text in header.clustering_types]
    numbers = run_numbers(sstable, wanted)
    numbers[KEY_COMPARATOR], orders = _key_order(sstable)
    return RunHeader(
        numbers=numbers,
        clustering_size=np.array(clustering, np.int32),
        column_size=np.array([column.type.fixed_size for column in columns], np.int32),
        column_cell=np.array(column_cell, np.int32),
        column_complex=np.array(column_complex, np.int8),
        column_fields=np.array(column_fields, np.int32),
        dropped_us=np.array(dropped_us, np.int64),
        present=np.zeros(len(columns), np.int8),
        orders=orders,
        element=np.zeros(ELEMENT_FIELDS, np.int64),
    )


def run_numbers(sstable: SSTable, wanted: TokenRange | None = None) -> Array:
    """RunHeader.numbers of an SSTable, without KEY_COMPARATOR."""
    header = sstable.statistics.header
    partitioner = partitioner_of(sstable.statistics.partitioner)
    wanted = wanted or whole_ring(partitioner)
    numbers = np.zeros(RUN_NUMBERS, np.int64)
    numbers[MIN_TIMESTAMP_US] = header.min_timestamp_us
    numbers[MIN_DELETION_TIME_S] = header.min_local_deletion_time_s
    numbers[MIN_TTL_S] = header.min_ttl_s
    numbers[UNSIGNED_DELETION_TIME] = sstable.descriptor.version.has_uint_deletion_time
    numbers[STATIC_COLUMNS] = len(header.static_columns)
    numbers[TOKENS] = partitioner.tokens
    numbers[TOKEN_AFTER], numbers[TOKEN_AFTER_LOW] = partitioner.halves(wanted.after)
    numbers[TOKEN_UPTO], numbers[TOKEN_UPTO_LOW] = partitioner.halves(wanted.upto)
    return numbers


def _key_order(sstable: SSTable) -> tuple[int, Orders]:
    """How keys with equal tokens compare, as far as that is known, and what comparing them takes."""
    partitioner = partitioner_of(sstable.statistics.partitioner)
    compared = partitioner.compared_type(sstable.statistics.header.key_type)
    if unordered_type(compared) is not None:
        return ANY_ORDER, comparators_of([])[1]
    (comparator,), orders = comparators_of([compared])
    return partitioner.key_comparator(int(comparator)), orders


def _is_complex(column: Column, known: Column | None) -> bool:
    """Whether a column's values are stored cell by cell. The schema knows it of UDTs: 3.0 wrote frozen ones as if they
    were not (CASSANDRA-15035)."""
    if known is not None and known.type.kind == column.type.kind == "udt":
        return known.type.is_multicell
    return column.type.is_multicell


def _with_bytes(columns: tuple[tuple[str, str], ...]) -> list[tuple[bytes, str]]:
    return [(name.encode("utf-8", "surrogateescape"), text) for name, text in columns]
