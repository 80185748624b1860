"""CQL types as Arrow types, and tables as Arrow schemas: the same on the wire as cqlite-flight's.

    boolean tinyint smallint int bigint   Boolean Int8 Int16 Int32 Int64      counter    Int64
    float double                          Float32 Float64                     text ascii Utf8
    timestamp                             Timestamp(ms, "UTC")                blob       Binary
    date                                  Date32                              inet       Utf8
    time                                  Time64(ns)                          duration   Utf8
    uuid timeuuid                         FixedSizeBinary(16)                 decimal    Decimal128(38, 9)
    list set vector                       List<item>                          varint     Decimal128(38, 0)
    map                                   Map<entries: key, value>            custom     Utf8
    tuple udt                             Struct; Utf8 when it has no fields  empty      Utf8

All fields are nullable, but not the keys of maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from flightsrv.cql.schema import Column, TableSchema
from flightsrv.cql.types import CqlType
from flightsrv.errors import RequestError

DECIMAL_PRECISION: Final = 38
DECIMAL_SCALE: Final = 9
"""Of every decimal on the wire, whatever its scale in CQL."""

SIMPLE_TYPES: Final[dict[str, pa.DataType]] = {
    "ascii": pa.string(),
    "text": pa.string(),
    "blob": pa.binary(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "counter": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "varint": pa.decimal128(DECIMAL_PRECISION, 0),
    "decimal": pa.decimal128(DECIMAL_PRECISION, DECIMAL_SCALE),
    "date": pa.date32(),
    "time": pa.time64("ns"),
    "timestamp": pa.timestamp("ms", tz="UTC"),
    "uuid": pa.binary(16),
    "timeuuid": pa.binary(16),
    "inet": pa.string(),
    "duration": pa.string(),
    "empty": pa.string(),
    "custom": pa.string(),
}

PUSHDOWN_KEY: Final = b"cqlite:pushdown"
"""Field metadata: which predicates on a column a client may leave to the server."""
EXTENSION_KEY: Final = b"ARROW:extension:name"

PUSHDOWN: Final = dict.fromkeys(
    ("ascii", "text", "boolean", "tinyint", "smallint", "int", "bigint", "counter", "float", "double", "timestamp"),
    b"full",
) | dict.fromkeys(("uuid", "timeuuid"), b"equality")
"""For all other kinds it is none."""


def arrow_type(type_: CqlType) -> pa.DataType:
    if type_.kind in SIMPLE_TYPES:
        return SIMPLE_TYPES[type_.kind]
    arguments = [arrow_type(argument) for argument in type_.arguments]
    if type_.kind == "map":
        return pa.map_(*arguments)
    if type_.kind in ("list", "set", "vector"):
        return pa.list_(pa.field("item", arguments[0]))
    if not arguments:
        return pa.string()
    names = type_.field_names or [f"field_{index}" for index in range(len(arguments))]
    return pa.struct([pa.field(name, argument) for name, argument in zip(names, arguments, strict=True)])


def arrow_field(column: Column) -> pa.Field:
    """The field of a column, with what the wire says about it.

    uuid is the canonical extension type arrow.uuid, by plain metadata; inside other types it is bare bytes.
    """
    metadata = {PUSHDOWN_KEY: PUSHDOWN.get(column.type.kind, b"none")}
    if column.type.kind in ("uuid", "timeuuid"):
        metadata[EXTENSION_KEY] = b"arrow.uuid"
    return pa.field(column.name, arrow_type(column.type), nullable=True, metadata=metadata)


def arrow_schema(schema: TableSchema, columns: Sequence[str] | None = None) -> pa.Schema:
    """The schema that a client gets: all columns CQL shows, or those of `projected`, which see for errors."""
    return pa.schema([arrow_field(column) for column in projected(schema, columns)])


def projected(schema: TableSchema, columns: Sequence[str] | None) -> tuple[Column, ...]:
    """The columns a client asked for, in the schema's order: partition key, clustering, then the rest.

    None is all of them. Names the table does not have are left out. Raises RequestError when no column remains.
    """
    if columns is None:
        return schema.visible
    wanted = set(columns)
    found = tuple(column for column in schema.visible if column.name in wanted)
    if not found:
        table = f"{schema.keyspace}.{schema.table}"
        raise RequestError(
            f"none of the columns asked for is in {table}" if wanted else f"no column of {table} asked for"
        )
    return found
