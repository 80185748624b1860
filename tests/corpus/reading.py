"""Rows as stored bytes: what the plain reference reader finds in a folder, and what expected Arrow rows come to."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.reference.merge import Table, merged
from tests.reference.model import Cell
from tests.reference.sstables import SSTable

StoredRow = dict[str, bytes]
"""Column name to value, nulls left out."""


def sstables_in(folder: Path) -> list[SSTable]:
    return [SSTable(path) for path in sorted(folder.glob("*-Data.db"))]


def stored_rows(folder: Path, key_names: Sequence[str], now_s: int) -> list[StoredRow]:
    """The rows that the SSTables of a folder show at a second, in order. key_names: partition key, clustering."""
    sstables = sstables_in(folder)
    table = Table(clustering=sstables[0].header.clustering, types=sstables[0].header.regular)
    rows = []
    for row in merged([sstable.partitions() for sstable in sstables], table, now_s):
        key = (row.key, *(value for value in row.clustering or () if value is not None))
        stored = dict(zip(key_names, key, strict=True))
        for name, cell in row.columns.items():
            assert isinstance(cell, Cell)
            stored[name] = cell.value
        rows.append(stored)
    return rows


def expected_rows(table: pa.Table) -> list[StoredRow]:
    """Arrow rows in the same form."""
    columns = {
        name: [_stored(table.schema.field(name).type, value) for value in _plain(table[name])]
        for name in table.schema.names
    }
    return [
        {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        for values in zip(*columns.values(), strict=True)
    ]


def _plain(column: pa.ChunkedArray) -> list[Any]:
    plain: list[Any] = (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
    return plain


def _stored(type_: pa.DataType, value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    form = {"bool": "?", "int32": ">i", "int64": ">q", "float": ">f", "double": ">d"}.get(str(type_), ">q")
    return struct.pack(form, value)
