"""Whether the serialization header of an SSTable agrees with the table's schema.

A file is decoded by its own header, so types may differ as long as each value of the header's type is one of the
schema's: what ALTER TABLE and ALTER TYPE ever allowed.

Sources: org.apache.cassandra.db.SerializationHeader.Component.toHeader; AbstractType.isValueCompatibleWith.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from flightsrv.cql.marshal import parse_marshal
from flightsrv.cql.schema import Column, HeaderColumns, TableSchema, header_column
from flightsrv.cql.schema_file import is_left_out
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError

READABLE_AS: Final = {
    "bigint": {"timestamp"},
    "date": {"int"},
    "text": {"ascii"},
    "time": {"bigint"},
    "timestamp": {"bigint"},
    "uuid": {"timeuuid"},
    "varint": {"int", "bigint", "timestamp"},
}
"""A kind in the schema, and other kinds whose values it can be read from."""


def check_against_header(
    schema: TableSchema,
    key_type: str,
    clustering_types: Iterable[str],
    static_columns: HeaderColumns,
    regular_columns: HeaderColumns,
) -> tuple[str, ...]:
    """Compare a schema with one SSTable's serialization header.

    Returns the names of header columns that neither the schema nor its dropped columns know, which Cassandra would
    refuse and a reader may step over. Columns that the header lacks are null there, and no conflict. Raises SchemaError
    naming all columns that conflict, and both types of each.
    """
    conflicts = [
        *key_conflicts("partition key", schema.partition_key, parse_marshal(key_type).key_types),
        *clustering_conflicts(schema, list(clustering_types)),
    ]
    unknown = []
    headers = [header_column(name, text, "static") for name, text in static_columns]
    headers += [header_column(name, text, "regular") for name, text in regular_columns]
    by_name = {column.name_bytes: column for column in schema.static + schema.regular}
    for column in headers:
        known = by_name.get(column.name_bytes)
        if column.name in schema.dropped:
            continue
        if known is None:
            unknown.append(column.name)
        elif known.kind != column.kind or not readable_as(known.type, column.type):
            conflicts.append(f"column {column.name} is {column.kind} {column.type}, not {known.kind} {known.type}")
    if conflicts:
        table = f"{schema.keyspace}.{schema.table}"
        raise SchemaError(f"does not fit the schema of {table}: {'; '.join(conflicts)}")
    return tuple(unknown)


def key_conflicts(part: str, columns: tuple[Column, ...], types: tuple[CqlType, ...]) -> Iterator[str]:
    if len(columns) != len(types):
        yield f"the {part} has {len(types)} columns, not {len(columns)}"
        return
    for column, type_ in zip(columns, types, strict=True):
        if not readable_as(column.type, type_):
            yield f"{part} column {column.name} is {type_}, not {column.type}"


def clustering_conflicts(schema: TableSchema, texts: list[str]) -> Iterator[str]:
    marshals = [parse_marshal(text) for text in texts]
    yield from key_conflicts("clustering", schema.clustering, tuple(marshal.type for marshal in marshals))
    for column, marshal in zip(schema.clustering, marshals, strict=False):
        if column.reversed != marshal.reversed:
            found, wanted = ("descending", "ascending") if marshal.reversed else ("ascending", "descending")
            yield f"clustering column {column.name} is {found}, not {wanted}"


def readable_as(wanted: CqlType, stored: CqlType) -> bool:
    """Whether every value of type `stored` can be read as one of type `wanted`.

    Whether a udt is frozen does not count: 3.0 wrote frozen ones as if they were not (CASSANDRA-15035). Nor does its
    name or keyspace; a tuple or udt may have got more fields since. A custom type is opaque, so it can be anything; but
    nothing can be read as a type that a schema.cql only has the name of.
    """
    if is_left_out(wanted):
        return False
    if wanted.kind in ("blob", "custom"):
        return not stored.is_multicell and stored.kind != "counter"
    if wanted.kind != stored.kind:
        return stored.kind in READABLE_AS.get(wanted.kind, ())
    if wanted.kind in ("udt", "tuple"):
        pairs = zip(wanted.arguments, stored.arguments, strict=False)
        return len(stored.arguments) <= len(wanted.arguments) and all(readable_as(*pair) for pair in pairs)
    if wanted.frozen != stored.frozen or wanted.dimension != stored.dimension:
        return False
    return all(readable_as(*pair) for pair in zip(wanted.arguments, stored.arguments, strict=True))
