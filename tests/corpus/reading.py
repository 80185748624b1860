"""Rows in the JSON form of the reference: what it finds in a folder, and what expected Arrow rows come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.reference.arrow_form import comparable, json_of_scalar
from tests.reference.merge import Table, merged
from tests.reference.render import json_of_column
from tests.reference.sstables import SSTable
from tests.reference.types import CqlType
from tests.reference.values import json_of

JsonRow = dict[str, Any]
"""Column name to value, nulls left out."""


def sstables_in(folder: Path) -> list[SSTable]:
    return [SSTable(path) for path in sorted(folder.glob("*-Data.db"))]


def types_in(folder: Path, key_names: Sequence[str]) -> dict[str, CqlType]:
    """The types of all columns, as a header says. key_names: partition key, clustering."""
    header = sstables_in(folder)[0].header
    return {**dict(zip(key_names, (header.key, *header.clustering), strict=True)), **header.regular}


def stored_rows(folder: Path, key_names: Sequence[str], now_s: int) -> list[JsonRow]:
    """The rows that the SSTables of a folder show at a second, in order."""
    sstables, types = sstables_in(folder), types_in(folder, key_names)
    table = Table(clustering=sstables[0].header.clustering, types=types)
    rows = []
    for row in merged([sstable.partitions() for sstable in sstables], table, now_s):
        keys = zip(key_names, (row.key, *(row.clustering or ())), strict=True)
        values = {name: json_of(types[name], value) for name, value in keys}
        values |= {name: json_of_column(types[name], shown) for name, shown in row.columns.items()}
        rows.append(comparable(values, types))
    return rows


def json_rows(table: pa.Table, types: Mapping[str, CqlType]) -> list[JsonRow]:
    """Arrow rows in the same form."""
    columns = {name: [json_of_scalar(types[name], scalar) for scalar in table[name]] for name in table.schema.names}
    return [
        {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        for values in zip(*columns.values(), strict=True)
    ]
