"""What a table looks like: its columns, in Cassandra's order, and what was dropped from it.

Static and regular columns are in storage order, the order of the bitmaps in Data.db: simple before multi-cell, then
by the bytes of their names.

Sources: org.apache.cassandra.schema.TableMetadata, ColumnMetadata and Columns; db.SerializationHeader.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from uuid import UUID

from flightsrv.cql.marshal import MarshalType, parse_marshal
from flightsrv.cql.types import CqlType

ColumnKind = Literal["partition_key", "clustering", "static", "regular"]

COMPOUND: Final = "compound"
DENSE: Final = "dense"
SUPER: Final = "super"
COUNTER: Final = "counter"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: CqlType
    kind: ColumnKind
    position: int = -1
    """Place within the partition key or the clustering; -1 for others."""
    reversed: bool = False
    """Clustering in descending order."""
    stored_name: bytes | None = None
    """The name as headers have it, where that is not `name` in UTF-8 (tables made by Thrift)."""

    @property
    def name_bytes(self) -> bytes:
        return self.name.encode() if self.stored_name is None else self.stored_name

    @property
    def storage_order(self) -> tuple[bool, bytes]:
        return self.type.is_multicell, self.name_bytes


@dataclass(frozen=True, slots=True)
class DroppedColumn:
    """A column that was dropped, perhaps added again since: its cells up to `dropped_time_us` do not count."""

    name: str
    type: CqlType
    kind: ColumnKind
    dropped_time_us: int


@dataclass(frozen=True, slots=True)
class TableSchema:
    keyspace: str
    table: str
    id: UUID | None
    partition_key: tuple[Column, ...]
    clustering: tuple[Column, ...] = ()
    static: tuple[Column, ...] = ()
    """In storage order."""
    regular: tuple[Column, ...] = ()
    """In storage order."""
    dropped: Mapping[str, DroppedColumn] = field(default_factory=dict, hash=False)
    flags: frozenset[str] = frozenset({COMPOUND})
    """As system_schema.tables has them: a table made by CQL is `compound`, other sets mean COMPACT STORAGE."""
    knows_dropped: bool = False
    """`dropped` holds every column that ever was: the schema comes from Cassandra itself."""
    is_view: bool = False
    strict_liveness: bool = False
    """A row is there only while its liveness is: of views whose key has a column that is none of their table's key."""
    column_order: tuple[str, ...] = ()
    """Names of the static and regular columns that CQL shows, in the order of the DDL or of SELECT *."""

    @property
    def is_static_compact(self) -> bool:
        """COMPACT STORAGE without clustering: CQL shows its static columns and hides clustering and regular ones."""
        return not self.flags & {COMPOUND, DENSE, SUPER}

    @property
    def visible(self) -> tuple[Column, ...]:
        """The columns that CQL shows: partition key, clustering, then the rest in `column_order`."""
        rest = {column.name: column for column in self.static + self.regular}
        clustering = () if self.is_static_compact else self.clustering
        return self.partition_key + clustering + tuple(rest[name] for name in self.column_order)

    def column(self, name: str) -> Column | None:
        """The column that CQL shows under this name."""
        return next((column for column in self.visible if column.name == name), None)


def has_strict_liveness(view: TableSchema, base_key: Container[str]) -> bool:
    """Whether a column of a view's key is none of its table's (org.apache.cassandra.db.view.View)."""
    return not all(column.name in base_key for column in view.partition_key + view.clustering)


def in_storage_order(columns: Iterable[Column]) -> tuple[Column, ...]:
    return tuple(sorted(columns, key=lambda column: column.storage_order))


def select_order(static: Iterable[Column], regular: Iterable[Column]) -> tuple[str, ...]:
    """Names as SELECT * orders them: static columns, then regular ones, each by the bytes of their names."""
    by_name = [sorted(columns, key=lambda column: column.name_bytes) for columns in (static, regular)]
    return tuple(column.name for column in by_name[0] + by_name[1])


HeaderColumns = Iterable[tuple[bytes, str]]
"""Name and class text of each column, as a serialization header lists them."""


def schema_from_header(
    keyspace: str,
    table: str,
    key_type: str,
    clustering_types: Iterable[str],
    static_columns: HeaderColumns,
    regular_columns: HeaderColumns,
) -> TableSchema:
    """The schema that serialization headers tell, when there is no other.

    A header has no names for key columns. They get those Cassandra itself gives where nobody chose any: the partition
    key is `key`, `key2`, `key3` ..., the clustering `column1`, `column2` ...; a name that another column has already is
    passed over. Columns of type `empty` are not shown: compact tables have them, and CQL hides them. Raises SchemaError
    when a type's text makes no sense.
    """
    static = tuple(header_column(name, text, "static") for name, text in static_columns)
    regular = tuple(header_column(name, text, "regular") for name, text in regular_columns)
    taken = [column.name for column in static + regular]
    key_types = parse_marshal(key_type).key_types
    key_names = default_names("key", taken, len(key_types))
    partition_key = tuple(
        Column(name, type_, "partition_key", position)
        for position, (name, type_) in enumerate(zip(key_names, key_types, strict=True))
    )
    marshals = [parse_marshal(text) for text in clustering_types]
    clustering_names = default_names("column", taken, len(marshals))
    clustering = tuple(
        Column(name, marshal.type, "clustering", position, marshal.reversed)
        for position, (name, marshal) in enumerate(zip(clustering_names, marshals, strict=True))
    )
    counter = {COUNTER} if any(column.type.kind == "counter" for column in static + regular) else set()
    return TableSchema(
        keyspace,
        table,
        None,
        partition_key,
        clustering,
        in_storage_order(static),
        in_storage_order(regular),
        flags=frozenset({COMPOUND} | counter),
        column_order=select_order(static, (column for column in regular if column.type.kind != "empty")),
    )


def header_column(name: bytes, text: str, kind: ColumnKind) -> Column:
    """A column of a header. A name that is not UTF-8 is shown as a CQL blob."""
    marshal: MarshalType = parse_marshal(text)
    try:
        return Column(name.decode(), marshal.type, kind)
    except UnicodeDecodeError:
        return Column(f"0x{name.hex()}", marshal.type, kind, stored_name=name)


def default_names(prefix: str, taken: Iterable[str], count: int) -> list[str]:
    """Names Cassandra gives to `count` columns that have none: `column1`, `column2` ...; `key` and `value` without a
    number first, then `key2` or `value1`. Names already taken are passed over."""
    numbered = (f"{prefix}{number}" for number in itertools.count(2 if prefix == "key" else 1))
    names = numbered if prefix == "column" else itertools.chain([prefix], numbered)
    used = set(taken)
    return list(itertools.islice((name for name in names if name not in used), count))
