"""The tables that Cassandra is shown, and the rows that it must find in them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from corpus import keyvalue, mixed

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Content:
    """One corpus table and how it is made."""

    shape: ModuleType
    options: Mapping[str, float]

    def __str__(self) -> str:
        return "-".join([self.shape.TABLE.name, *(f"{name}={value}" for name, value in self.options.items())])

    def write(self, folder: Path, version: str) -> Path:
        """Returns the table's folder."""
        written: Path = self.shape.write(folder, version=version, **self.options).folder
        return written

    def expected(self, now_s: int) -> pa.Table:
        rows: pa.Table = self.shape.expected_rows(**self.options, now_s=now_s)
        return rows


DELETIONS = {"ttl_share": 0.3, "deletion_share": 0.2}
CONTENTS = [
    Content(keyvalue, {"partitions": 3000}),
    Content(keyvalue, {"partitions": 3000, "runs": 3}),
    Content(keyvalue, {"partitions": 3000, "runs": 3, **DELETIONS}),
    Content(mixed, {"sensors": 150, "rows_per_sensor": 20}),
    Content(mixed, {"sensors": 3, "rows_per_sensor": 3000}),
    Content(mixed, {"sensors": 150, "rows_per_sensor": 20, "runs": 3}),
    Content(mixed, {"sensors": 300, "rows_per_sensor": 12, **DELETIONS}),
    Content(mixed, {"sensors": 300, "rows_per_sensor": 12, "runs": 3, **DELETIONS}),
    Content(mixed, {"sensors": 4, "rows_per_sensor": 2500, "runs": 2, "ttl_share": 0.1, "deletion_share": 0.5}),
]


def as_driver_rows(table: pa.Table | pa.RecordBatch) -> list[Row]:
    """Arrow rows as the driver gives them, with timestamps in ms."""
    columns = []
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        values = column.to_pylist()
        columns.append([uuid.UUID(bytes=value) if value else None for value in values] if name == "h" else values)
    return list(zip(*columns, strict=True))
