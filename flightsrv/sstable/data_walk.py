"""Data.db, field by field: for eyes, not for speed.

    partition    sbytes key, deletion time, static row if there are static columns, unfiltereds, u8 1
    row          u8 flags, u8 extended flags if any, clustering unless static
                 uvint size of what follows, uvint size of the unfiltered before
                 liveness: uvint timestamp; if expiring uvint ttl, uvint local deletion time
                 deletion: uvint timestamp, uvint local deletion time
                 columns that are there, unless all are; cells of each column
    marker       u8 2, bound, uvint size of what follows, uvint size of the unfiltered before
                 deletion that ends here, deletion that starts here: a boundary has both
    column       simple: one cell; complex: deletion if the row has any such, uvint cell count, cells
    cell         u8 flags, uvint timestamp; uvint local deletion time, then uvint ttl; vbytes path if complex; value

Times are counted from the minima of the serialization header.

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, Cell.Serializer, db.Columns.Serializer (3.0 to 5.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import STRICT, IntFlag

from flightsrv.cql.marshal import parse_marshal
from flightsrv.errors import SchemaError
from flightsrv.sstable import clustering, deletion_time
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.header import Column, SerializationHeader
from flightsrv.sstable.version import Version

_BITMAP_COLUMNS = 64
"""From so many columns on, those of a row are listed instead of marked in a bitmap."""


class Unfiltered(IntFlag, boundary=STRICT):
    """The first byte of a row or marker."""

    END_OF_PARTITION = 0x01
    IS_MARKER = 0x02
    HAS_TIMESTAMP = 0x04
    HAS_TTL = 0x08
    HAS_DELETION = 0x10
    HAS_ALL_COLUMNS = 0x20
    HAS_COMPLEX_DELETION = 0x40
    EXTENSION_FLAG = 0x80


class Extended(IntFlag, boundary=STRICT):
    """The second byte of some rows."""

    IS_STATIC = 0x01
    HAS_SHADOWABLE_DELETION = 0x02


class Cell(IntFlag, boundary=STRICT):
    """The first byte of a cell."""

    IS_DELETED = 0x01
    IS_EXPIRING = 0x02
    HAS_EMPTY_VALUE = 0x04
    USE_ROW_TIMESTAMP = 0x08
    USE_ROW_TTL = 0x10


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column as rows store it."""

    name: str
    fixed_size: int
    """Bytes of values stored without a length, else -1."""
    is_complex: bool
    """Every element is a cell of its own."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the rows of one SSTable are read with."""

    version: Version
    header: SerializationHeader
    clustering_sizes: tuple[int, ...]
    static_columns: tuple[StoredColumn, ...]
    regular_columns: tuple[StoredColumn, ...]


def walk(cursor: Cursor, version: Version, header: SerializationHeader) -> Iterator[None]:
    """Read an uncompressed Data.db to its end; stop after the start of each partition and each unfiltered.

    Raises CorruptSSTableError where the data are not what the header says.
    """
    layout = Layout(
        version,
        header,
        clustering.fixed_sizes(cursor, "clustering types", header.clustering_types),
        _stored_columns(cursor, header.static_columns),
        _stored_columns(cursor, header.regular_columns),
    )
    partition = 0
    while cursor.left:
        with cursor.section(f"partition {partition}"):
            key = cursor.sbytes("key")
            cursor.require(bool(key) or partition == 0, "key", "it is empty, and not the first")
            yield from _partition(cursor, layout)
        partition += 1


def _partition(cursor: Cursor, layout: Layout) -> Iterator[None]:
    """A partition behind its key."""
    with cursor.section("deletion"):
        deletion_time.parse(cursor, layout.version)
    if layout.static_columns:
        with cursor.section("static row"):
            _static_row(cursor, layout)
    yield
    index = 0
    while _unfiltered(cursor, layout, index):
        yield
        index += 1


def _stored_columns(cursor: Cursor, columns: Sequence[Column]) -> tuple[StoredColumn, ...]:
    try:
        types = [parse_marshal(type).type for _, type in columns]
    except SchemaError as error:
        cursor.fail("column types", str(error))
    return tuple(
        StoredColumn(name, type.fixed_size, type.is_multicell) for (name, _), type in zip(columns, types, strict=True)
    )


def _static_row(cursor: Cursor, layout: Layout) -> None:
    flags = cursor.flags("flags", Unfiltered)
    cursor.require(Unfiltered.EXTENSION_FLAG in flags, "flags", "a static row comes first, but this is none")
    extended = cursor.flags("extended flags", Extended)
    cursor.require(Extended.IS_STATIC in extended, "extended flags", "a static row comes first, but this is none")
    _row_body(cursor, layout, flags, layout.static_columns)


def _unfiltered(cursor: Cursor, layout: Layout, index: int) -> bool:
    """Read a row, a marker or the partition's end, which is False."""
    first = Unfiltered(cursor.ahead("flags", 1)[0])
    if Unfiltered.END_OF_PARTITION in first:
        flags = cursor.flags("end", Unfiltered)
        cursor.require(flags == Unfiltered.END_OF_PARTITION, "end", f"{flags:#04x} is neither an end nor a row")
        return False
    if Unfiltered.IS_MARKER in first:
        with cursor.section(f"marker {index}"):
            _marker(cursor, layout)
        return True
    with cursor.section(f"row {index}"):
        flags = cursor.flags("flags", Unfiltered)
        if Unfiltered.EXTENSION_FLAG in flags:
            extended = cursor.flags("extended flags", Extended)
            cursor.require(Extended.IS_STATIC not in extended, "extended flags", "a static row is not the first")
        with cursor.section("clustering"):
            clustering.values(cursor, layout.clustering_sizes)
        _row_body(cursor, layout, flags, layout.regular_columns)
    return True


def _marker(cursor: Cursor, layout: Layout) -> None:
    flags = cursor.flags("flags", Unfiltered)
    cursor.require(flags == Unfiltered.IS_MARKER, "flags", f"{flags:#04x} is neither a marker nor a row")
    with cursor.section("bound"):
        bound = clustering.bound(cursor, layout.clustering_sizes)
    size = cursor.uvint("size")
    with cursor.section("", size):
        cursor.uvint("previous size")
        if bound.kind in clustering.BOUNDARY_KINDS:
            _deletion(cursor, layout, "end deletion")
            _deletion(cursor, layout, "start deletion")
        else:
            _deletion(cursor, layout, "deletion")
        cursor.end()


def _deletion(cursor: Cursor, layout: Layout, field: str) -> None:
    with cursor.section(field):
        cursor.delta("marked_for_delete_at_us", layout.header.min_timestamp_us)
        cursor.delta("local_deletion_time_s", layout.header.min_local_deletion_time_s)


def _row_body(cursor: Cursor, layout: Layout, flags: Unfiltered, columns: Sequence[StoredColumn]) -> None:
    header = layout.header
    size = cursor.uvint("size")
    with cursor.section("", size):
        cursor.uvint("previous size")
        with cursor.section("liveness"):
            if Unfiltered.HAS_TIMESTAMP in flags:
                cursor.delta("timestamp_us", header.min_timestamp_us)
            if Unfiltered.HAS_TTL in flags:
                cursor.delta("ttl_s", header.min_ttl_s)
                cursor.delta("local_deletion_time_s", header.min_local_deletion_time_s)
        if Unfiltered.HAS_DELETION in flags:
            _deletion(cursor, layout, "deletion")
        present = columns if Unfiltered.HAS_ALL_COLUMNS in flags else _present(cursor, columns)
        for column in present:
            with cursor.section(column.name):
                if column.is_complex:
                    _complex_column(cursor, layout, column, Unfiltered.HAS_COMPLEX_DELETION in flags)
                else:
                    _cell(cursor, layout, column)
        cursor.end()


def _present(cursor: Cursor, columns: Sequence[StoredColumn]) -> Sequence[StoredColumn]:
    """The columns of a row that has not all of them."""
    if len(columns) < _BITMAP_COLUMNS:
        missing = cursor.uvint("missing columns")
        cursor.require(
            missing >> len(columns) == 0, "missing columns", f"{missing:#b} is of more than {len(columns)} columns"
        )
        return [column for i, column in enumerate(columns) if not missing >> i & 1]
    missing_count = cursor.uvint("missing column count")
    cursor.require(missing_count <= len(columns), "missing column count", f"{missing_count} of {len(columns)}")
    present_count = len(columns) - missing_count
    if missing_count and present_count < len(columns) // 2:
        return [columns[i] for i in _column_indexes(cursor, "present column", present_count, len(columns))]
    absent = set(_column_indexes(cursor, "missing column", missing_count, len(columns)))
    return [column for i, column in enumerate(columns) if i not in absent]


def _column_indexes(cursor: Cursor, field: str, count: int, column_count: int) -> list[int]:
    indexes: list[int] = []
    for _ in range(count):
        index = cursor.uvint(field)
        after = indexes[-1] if indexes else -1
        cursor.require(after < index < column_count, field, f"{index} comes after {after} of {column_count} columns")
        indexes.append(index)
    return indexes


def _complex_column(cursor: Cursor, layout: Layout, column: StoredColumn, has_deletion: bool) -> None:
    if has_deletion:
        _deletion(cursor, layout, "deletion")
    for i in cursor.count("cell count", "uvint", at_least=2):
        with cursor.section(f"cell {i}"):
            _cell(cursor, layout, column)


def _cell(cursor: Cursor, layout: Layout, column: StoredColumn) -> None:
    header = layout.header
    flags = cursor.flags("flags", Cell)
    if Cell.USE_ROW_TIMESTAMP not in flags:
        cursor.delta("timestamp_us", header.min_timestamp_us)
    if Cell.USE_ROW_TTL not in flags and flags & (Cell.IS_DELETED | Cell.IS_EXPIRING):
        cursor.delta("local_deletion_time_s", header.min_local_deletion_time_s)
        if Cell.IS_EXPIRING in flags:
            cursor.delta("ttl_s", header.min_ttl_s)
    if column.is_complex:
        cursor.vbytes("path")
    if Cell.HAS_EMPTY_VALUE in flags:
        return
    if column.fixed_size < 0 or column.is_complex:
        cursor.vbytes("value")
    else:
        cursor.raw("value", column.fixed_size)
