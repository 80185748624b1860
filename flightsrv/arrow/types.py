"""CQL types as Arrow types, and tables as Arrow schemas, in either of two mappings.

    CQL                                   compatible: as cqlite-flight has them    native, where it is another
    boolean tinyint smallint int bigint   Boolean Int8 Int16 Int32 Int64
    float double counter                  Float32 Float64 Int64
    text ascii empty                      Utf8
    blob                                  Binary
    date time                             Date32 Time64(ns)
    timestamp                             Timestamp(ms, "UTC")
    uuid timeuuid                         FixedSizeBinary(16)
    inet                                  Utf8
    decimal                               Decimal128(38, 9)                        Utf8
    varint                                Decimal128(38, 0)                        Utf8
    duration                              Utf8                                     Struct<months, days, nanoseconds>
    custom                                Utf8, 0x and hex                         Binary
    list set                              List<item>
    vector                                List<item>                               FixedSizeList<item>
    map                                   Map<entries: key, value>
    tuple udt                             Struct; Utf8 when it has no fields

All fields are nullable, but not the keys of maps. In the native mapping each field says in CQL_KEY what it is, fields
inside of others too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from flightsrv.config import OnUnrepresentable
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

DURATION_FIELDS: Final = {"months": pa.int32(), "days": pa.int32(), "nanoseconds": pa.int64()}
"""Arrow's own month_day_nano interval has the same three, but Polars cannot read it and DuckDB drops nanoseconds."""

NATIVE_TYPES: Final[dict[str, pa.DataType]] = {
    "varint": pa.string(),
    "decimal": pa.string(),
    "duration": pa.struct(DURATION_FIELDS.items()),
    "custom": pa.binary(),
}
"""Those that the native mapping has otherwise."""

PUSHDOWN_KEY: Final = b"cqlite:pushdown"
"""Field metadata: which predicates on a column a client may leave to the server."""
CQL_KEY: Final = b"cql:type"
"""Field metadata of the native mapping: the field's type in CQL."""
EXTENSION_KEY: Final = b"ARROW:extension:name"

PUSHDOWN: Final = dict.fromkeys(
    ("ascii", "text", "boolean", "tinyint", "smallint", "int", "bigint", "counter", "float", "double", "timestamp"),
    b"full",
) | dict.fromkeys(("uuid", "timeuuid"), b"equality")
"""For all other kinds it is none."""

NATIVE_IS_A_WAY_OUT: Final = 'ask for "types": "native", or set --on-unrepresentable of the server'
NULL_IS_A_WAY_OUT: Final = "set --on-unrepresentable of the server to null"
TEXT_IS_A_WAY_OUT: Final = "set --on-unrepresentable of the server to null or text"
"""What to say of a value that cannot be represented."""


@dataclass(frozen=True, slots=True)
class TypeMapping:
    """Which Arrow types a stream has, and what becomes of a value that its type in Arrow cannot hold."""

    native: bool = False
    on_unrepresentable: OnUnrepresentable = "error"
    """An error that ends the stream; null; or text, of those kinds that can be written as text: then all values of
    decimals and varints are, for a column has one type from its first batch on."""

    @property
    def numbers_are_text(self) -> bool:
        """Whether decimals and varints are."""
        return self.native or self.on_unrepresentable == "text"

    def simple_type(self, kind: str) -> pa.DataType:
        """The Arrow type of a kind of CQL type that is not made of others, or, like a UDT without fields, of none."""
        is_native = self.native or (self.numbers_are_text and kind in ("decimal", "varint"))
        types = NATIVE_TYPES if is_native and kind in NATIVE_TYPES else SIMPLE_TYPES
        return types.get(kind, pa.string())


COMPATIBLE: Final = TypeMapping()
NATIVE: Final = TypeMapping(native=True)


def arrow_type(type_: CqlType, mapping: TypeMapping = COMPATIBLE) -> pa.DataType:
    if not type_.arguments:
        return mapping.simple_type(type_.kind)

    def field(name: str, argument: CqlType, nullable: bool = True) -> pa.Field:
        metadata = _metadata(argument, mapping) if mapping.native else None
        return pa.field(name, arrow_type(argument, mapping), nullable, metadata)

    arguments = type_.arguments
    if type_.kind == "map":
        return pa.map_(field("key", arguments[0], nullable=False), field("value", arguments[1]))
    if type_.kind == "vector" and mapping.native:
        return pa.list_(field("item", arguments[0]), type_.dimension)
    if type_.kind in ("list", "set", "vector"):
        return pa.list_(field("item", arguments[0]))
    names = type_.field_names or [f"field_{index}" for index in range(len(arguments))]
    return pa.struct([field(name, argument) for name, argument in zip(names, arguments, strict=True)])


def arrow_field(column: Column, mapping: TypeMapping = COMPATIBLE) -> pa.Field:
    """The field of a column, with what the wire says about it.

    uuid is the canonical extension type arrow.uuid, by plain metadata; inside other types only in the native mapping.
    """
    metadata = {PUSHDOWN_KEY: PUSHDOWN.get(column.type.kind, b"none")} | _metadata(column.type, mapping)
    return pa.field(column.name, arrow_type(column.type, mapping), nullable=True, metadata=metadata)


def _metadata(type_: CqlType, mapping: TypeMapping) -> dict[bytes, bytes]:
    metadata = {CQL_KEY: str(type_).encode()} if mapping.native else {}
    return metadata | {EXTENSION_KEY: b"arrow.uuid"} if type_.kind in ("uuid", "timeuuid") else metadata


def arrow_schema(
    schema: TableSchema, columns: Sequence[str] | None = None, mapping: TypeMapping = COMPATIBLE
) -> pa.Schema:
    """The schema that a client gets: all columns CQL shows, or those of `projected`, which see for errors."""
    return pa.schema([arrow_field(column, mapping) for column in projected(schema, columns)])


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
