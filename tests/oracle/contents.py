"""The tables that Cassandra is shown, and the rows that it must find in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pyarrow as pa
from cassandra.util import Date, Duration, OrderedMap, SortedSet, Time

from corpus import collections, keyvalue, mixed, sparse, sparse_80, wide
from tests.reference.arrow_form import json_of_scalar
from tests.reference.types import CqlType, of_class

Row = tuple[Any, ...]
EPOCH = datetime(1970, 1, 1)


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

    def expected(self, now_s: int) -> list[Row]:
        """Its rows at a second, as `as_rows` gives them."""
        return self.as_rows(self.shape.expected_rows(**self.options, now_s=now_s))

    def as_rows(self, table: pa.Table | pa.RecordBatch) -> list[Row]:
        """Arrow rows in plain values, like those of `of_driver`."""
        classes = dict(self.shape.TABLE.columns)
        return list(
            zip(
                *(
                    _of_arrow(column, of_class(classes[name]) if name in classes else None)
                    for name, column in zip(table.schema.names, table.columns, strict=True)
                ),
                strict=True,
            )
        )


def _of_arrow(column: pa.Array | pa.ChunkedArray, type_: CqlType | None) -> list[Any]:
    if type_ and type_.name == "duration":
        return [json_of_scalar(type_, scalar) for scalar in column]
    if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    values: list[Any] = column.to_pylist()
    return values


def of_driver(value: Any) -> Any:
    """A value that the driver gives in plain values: times as numbers, UUIDs as bytes, collections as lists."""
    match value:
        case datetime():
            return (value - EPOCH) // timedelta(milliseconds=1)
        case UUID():
            return value.bytes
        case Date():
            return value.days_from_epoch
        case Time():
            return value.nanosecond_time
        case Duration():
            return {"months": value.months, "days": value.days, "nanoseconds": value.nanoseconds}
        case OrderedMap():
            return list(value.items())
        case SortedSet() | list():
            return list(value)
        case tuple():  # a user-defined type
            return value._asdict()  # type: ignore[attr-defined]
    return value


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
    *(Content(shape, {"sensors": 150, "rows_per_sensor": 20}) for shape in (wide, collections, sparse, sparse_80)),
    *(
        Content(shape, {"sensors": 300, "rows_per_sensor": 12, "runs": 3, **DELETIONS})
        for shape in (wide, collections, sparse, sparse_80)
    ),
    Content(mixed, {"sensors": 4, "rows_per_sensor": 2500, "runs": 2, "ttl_share": 0.1, "deletion_share": 0.5}),
]
