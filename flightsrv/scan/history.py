"""The columns that tell when rows and cells were written and deleted, for requests with tombstones.

    $row     what the record is, and the times of the row, partition or range
    $cells   for each static and regular column of the result: the times of its cells, deleted ones included

kernels/history.py makes them, as frozen UDTs; to Arrow they are structs.
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from flightsrv.arrow.types import COMPATIBLE, TypeMapping, arrow_field, arrow_schema
from flightsrv.cql.comparators import path_type
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.cql.types import CqlType
from flightsrv.errors import RequestError
from flightsrv.scan.request import ScanRequest

ROW, CELLS = "$row", "$cells"


def _struct(name: str, **fields: CqlType) -> CqlType:
    return CqlType("udt", tuple(fields.values()), tuple(fields), name=name, frozen=True)


_BIGINT, _INT = CqlType("bigint"), CqlType("int")
_TIMES = {"writetime": _BIGINT, "ttl": _INT, "expires": _BIGINT, "deleted_at": _BIGINT}
_ROW_TYPE = _struct(
    ROW,
    kind=CqlType("text"),
    inclusive=CqlType("boolean"),
    writetime=_BIGINT,
    ttl=_INT,
    expires=_BIGINT,
    deleted=_BIGINT,
    deleted_at=_BIGINT,
)


def result_schema(table: TableSchema, request: ScanRequest, mapping: TypeMapping = COMPATIBLE) -> pa.Schema:
    """The schema of what a request is answered with. Raises RequestError."""
    schema = arrow_schema(table, request.columns, mapping)
    if request.tombstones:
        for column in history_columns(table, schema.names):
            schema = schema.append(arrow_field(column, mapping))
    return schema


def history_columns(table: TableSchema, projected: Collection[str]) -> tuple[Column, ...]:
    """The two columns, `$cells` with a field for each of the projected columns that is no key.

    Raises RequestError when the table has a column of such a name.
    """
    taken = {ROW, CELLS} & {column.name for column in table.visible}
    if taken:
        raise RequestError(
            f"table {table.keyspace}.{table.table} has a column {taken.pop()}: its tombstones cannot be told"
        )
    columns = [column for column in table.static + table.regular if column.name in projected]
    cells = _struct(CELLS, **{column.name: _times_type(column.type) for column in columns})
    return Column(ROW, _ROW_TYPE, "regular"), Column(CELLS, cells, "regular")


def _times_type(type_: CqlType) -> CqlType:
    if not type_.is_multicell:
        return _struct("times", **_TIMES)
    path = CqlType("smallint") if type_.kind == "udt" else path_type(type_)
    element = _struct("element", path=path, **_TIMES)
    return _struct("complex", deleted=_BIGINT, deleted_at=_BIGINT, cells=CqlType("list", (element,), frozen=True))
