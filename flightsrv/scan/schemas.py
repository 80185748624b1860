"""Where else than from system_schema a table's schema comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from flightsrv.cql.ddl import parse_ddl
from flightsrv.cql.marshal import misspelt, parse_marshal
from flightsrv.cql.schema import TableSchema, schema_from_header
from flightsrv.cql.schema_file import is_whole, made_whole, parse_schema_file, view_with_types
from flightsrv.errors import HeaderError, SchemaError
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.sstables import SSTable, header_error
from flightsrv.sstable.descriptor import id_order

SCHEMA_FILE: Final = "schema.cql"


def schema_from_files(
    folders: Iterable[Path],
    keyspace: str,
    table: str,
    known: TableSchema | None,
    header: Callable[[], TableSchema | None],
) -> TableSchema | None:
    """The schema that the schema.cql in one of the folders tells, or None where there is none.

    Where Cassandra wrote one that does not tell all, it is `known`, what system_schema says; else `header`, what the
    SSTables tell, makes it whole. Raises SchemaError, SSTableError.
    """
    text = next((text for text in map(_schema_file, folders) if text is not None), None)
    if text is None:
        return None
    try:
        return _schema_told(text, keyspace, table, known, header)
    except HeaderError:
        raise
    except SchemaError as error:
        raise SchemaError(f"{SCHEMA_FILE} of {keyspace}.{table}: {error}") from error


def _schema_told(
    text: str, keyspace: str, table: str, known: TableSchema | None, header: Callable[[], TableSchema | None]
) -> TableSchema:
    try:
        schema = parse_schema_file(text, keyspace, table)
        if is_whole(schema):
            return schema
        told = header() if known is None else None
        return known or (schema if told is None else made_whole(schema, told))
    except SchemaError:
        told = header() if known is None else None
        view = known if told is None else view_with_types(text, keyspace, table, told)
        if view is None:
            raise
        return view


def _schema_file(folder: Path) -> str | None:
    path = folder / SCHEMA_FILE
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{SCHEMA_FILE} of {folder.name} cannot be read") from error


def schema_from_sstables(keyspace: str, table: str, sstables: Sequence[SSTable]) -> TableSchema:
    """The schema that the serialization headers of SSTables, one at least, tell together.

    Each has only the columns that it has values of; the newest that has a column tells its type. Raises SchemaError
    when a type makes no sense, or is damaged by the look of it.
    """
    oldest_first = sorted(sstables, key=lambda each: id_order(each.descriptor.id))
    for each in oldest_first:
        _check_types(each)
    headers = [each.statistics.header for each in oldest_first]
    statics = {name: text for header in headers for name, text in header.static_columns}
    regulars = {name: text for header in headers for name, text in header.regular_columns}
    return schema_from_header(
        keyspace, table, headers[-1].key_type, headers[-1].clustering_types, _with_bytes(statics), _with_bytes(regulars)
    )


def _check_types(sstable: SSTable) -> None:
    """Refuse a header with a type that makes no sense, or is one of Cassandra's but for a bit."""
    header = sstable.statistics.header
    columns = [text for _, text in header.static_columns + header.regular_columns]
    for text in (header.key_type, *header.clustering_types, *columns):
        try:
            marshal = parse_marshal(text)
        except SchemaError as error:
            raise header_error(sstable.descriptor, str(error)) from None
        for type_ in chain.from_iterable(each.parts() for each in (marshal.type, *marshal.components)):
            if (meant := misspelt(type_.class_name)) is not None:
                what = f"there is no type {type_.class_name!r}, but for one bit it is Cassandra's {meant}"
                raise header_error(sstable.descriptor, what)


def _with_bytes(columns: Mapping[str, str]) -> list[tuple[bytes, str]]:
    return [(name.encode("utf-8", "surrogateescape"), text) for name, text in columns.items()]


def schema_from_request(request: ScanRequest) -> TableSchema | None:
    """The schema that the client says it is."""
    return None if request.ddl is None else parse_ddl(request.ddl, request.keyspace, request.table)
