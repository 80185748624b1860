"""What merge must know of a table and its SSTables."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from flightsrv.cql.comparators import comparators_of, path_type, unordered_type
from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, Partitioner, partitioner_of
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnsupportedRequestError
from flightsrv.kernels.complex import COUNTER, LIST, MAP, SET, SIMPLE, UDT
from flightsrv.kernels.compounds import Orders
from flightsrv.kernels.history import RECORD_KINDS
from flightsrv.kernels.run import RUN_NUMBERS
from flightsrv.kernels.walk import MergeRules
from flightsrv.scan.runs import run_numbers
from flightsrv.scan.sstables import SSTable
from flightsrv.slab import NO_TIMESTAMP, Array

_UNCOMPARED = CqlType("blob")
_COMPLEX_KINDS = {"list": LIST, "set": SET, "map": MAP, "udt": UDT}


def merge_rules(
    table: TableSchema, sstables: tuple[SSTable, ...], now_s: int, with_times_of: Collection[str] | None = None
) -> MergeRules:
    """The rules by which these SSTables of a table are merged, as of `now_s`.

    with_times_of: the columns whose cells' times are told, deleted ones included; None: only what is seen is. Raises
    SchemaError.
    """
    cells = table.static + table.regular
    dropped = [table.dropped.get(column.name) for column in cells]
    fields = [len(column.type.arguments) if _cell_kind(column.type) == UDT else 0 for column in cells]
    numbers = [run_numbers(each) for each in sstables]
    comparators, orders = _comparators(table, sstables)
    clusterings = len(table.clustering)
    partitioner = _partitioner(sstables)
    return MergeRules(
        comparators=comparators[:clusterings],
        reverse=np.array([column.reversed for column in table.clustering], np.int8),
        key_comparator=partitioner.key_comparator(int(comparators[-1])),
        orders=orders,
        cell_kind=np.array([_cell_kind(column.type) for column in cells], np.int8),
        path_comparators=comparators[clusterings:-1],
        field_count=np.array(fields, np.int32),
        dropped_us=np.array([NO_TIMESTAMP if each is None else each.dropped_time_us for each in dropped], np.int64),
        run_numbers=np.array(numbers, np.int64).reshape(-1, RUN_NUMBERS),
        statics=len(table.static),
        now_s=now_s,
        strict_liveness=int(table.strict_liveness),
        wanted=np.array([] if with_times_of is None else [each.name in with_times_of for each in cells], np.int8),
        record_kinds=np.array(RECORD_KINDS, "S16").view(np.uint8).reshape(len(RECORD_KINDS), -1),
    )


def _cell_kind(type_: CqlType) -> int:
    if type_.kind == "counter":
        return COUNTER
    return _COMPLEX_KINDS[type_.kind] if type_.is_multicell else SIMPLE


def _partitioner(sstables: tuple[SSTable, ...]) -> Partitioner:
    """All of them have the same."""
    return partitioner_of(sstables[0].statistics.partitioner) if sstables else MURMUR3_PARTITIONER


def _comparators(table: TableSchema, sstables: tuple[SSTable, ...]) -> tuple[Array, Orders]:
    """Comparators of the clustering columns, of the paths of each static and regular column, and of the partition key,
    as far as a merge needs them. Raises UnsupportedRequestError naming what has an order it needs and nobody knows."""
    compared = [
        (f"column {each.name}", _compared_type(each)) for each in table.clustering + table.static + table.regular
    ]
    compared.append(("partition key", _compared_key_type(sstables)))
    types = []
    for what, type_ in compared:
        unordered = unordered_type(type_)
        if unordered is not None and len(sstables) > 1:
            raise UnsupportedRequestError(
                f"table {table.keyspace}.{table.table} has several SSTables, and its {what} sorts by type {unordered}, "
                "whose order is not known"
            )
        types.append(type_ if unordered is None else _UNCOMPARED)
    return comparators_of(types)


def _compared_key_type(sstables: tuple[SSTable, ...]) -> CqlType:
    if not sstables:
        return _UNCOMPARED
    return _partitioner(sstables).compared_type(sstables[0].statistics.header.key_type)


def _compared_type(column: Column) -> CqlType:
    """The type by which a clustering column sorts, and one of several cells within itself."""
    if column.kind == "clustering":
        return column.type
    return path_type(column.type) if column.type.is_multicell else _UNCOMPARED
