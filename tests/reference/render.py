"""Rows in the JSON form of expected.json, from the reference's merge; from Arrow batches see `arrow_form`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.reference.arrow_form import comparable, rows_of_arrow
from tests.reference.fixtures import FixtureSet
from tests.reference.merge import Shown, ShownRow
from tests.reference.model import Cell
from tests.reference.reader import Reader
from tests.reference.types import CqlType
from tests.reference.values import json_of

__all__ = ["comparable", "key_columns", "line_of", "rows_of", "rows_of_arrow", "sha256_of"]

JsonRow = dict[str, Any]


def rows_of(shown: Iterable[ShownRow], fixture: FixtureSet) -> list[JsonRow]:
    """Rows of the reference, every column of the schema in each, null where it is not set."""
    return [_row(row, fixture) for row in shown]


def _row(row: ShownRow, fixture: FixtureSet) -> JsonRow:
    keys = key_columns(row.key, fixture.schema["partition_key"])
    clustering_names = [name for name, _ in fixture.schema["clustering"]]
    keys |= dict(zip(clustering_names, row.clustering or (), strict=False))
    return {
        name: json_of(type_, keys[name]) if name in keys else json_of_column(type_, row.columns.get(name))
        for name, type_ in fixture.types.items()
    }


def key_columns(key: bytes, names: list[str]) -> dict[str, bytes | None]:
    """A partition key cut into its columns."""
    if len(names) == 1:
        return {names[0]: key}
    reader = Reader(key, "a composite key")
    columns: dict[str, bytes | None] = {}
    for name in names:
        columns[name] = reader.short_bytes()
        reader.u8()  # end of component
    return columns


def json_of_column(type_: CqlType, shown: Shown | None) -> Any:
    if shown is None or isinstance(shown, Cell):
        return json_of(type_, shown.value if shown else None)
    match type_.name:
        case "list":
            return [json_of(type_.args[0], cell.value) for cell in shown]
        case "set":
            return [json_of(type_.args[0], cell.path) for cell in shown]
        case "map":
            return [[json_of(type_.args[0], cell.path), json_of(type_.args[1], cell.value)] for cell in shown]
        case _:
            by_index = {int.from_bytes(cell.path or b"", "big"): cell.value for cell in shown}
            fields = enumerate(zip(type_.fields, type_.args, strict=True))
            return {name: json_of(arg, by_index.get(i)) for i, (name, arg) in fields}


def line_of(row: JsonRow, columns: Iterable[str]) -> str:
    """The row's line of `rows_sha256` and of `rows_file`."""
    return json.dumps([row[name] for name in columns], separators=(",", ":"), ensure_ascii=False)


def sha256_of(rows: Iterable[JsonRow], columns: Mapping[str, Any]) -> str:
    """`rows_sha256` of these rows."""
    return hashlib.sha256("\n".join(line_of(row, columns) for row in rows).encode()).hexdigest()
