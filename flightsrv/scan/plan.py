"""What one scan will do: which SSTables, which token ranges, which columns of what the runs hold."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa

from flightsrv.arrow.types import COMPATIBLE, TypeMapping
from flightsrv.cql.partitioners import PARTITIONERS, Partitioner
from flightsrv.cql.schema import TableSchema
from flightsrv.errors import RequestError, UnsupportedRequestError, UnsupportedSSTableError, Where
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.kernels.walk import MergeRules
from flightsrv.scan.history import history_columns, result_schema
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.rules import merge_rules
from flightsrv.scan.sstables import SSTable
from flightsrv.scan.token_ranges import TokenRange, token_ranges
from flightsrv.stages.encode import OutputColumn


@dataclass(frozen=True, slots=True)
class Plan:
    """A scan, ready to run."""

    table: TableSchema
    sstables: tuple[SSTable, ...]
    ranges: tuple[TokenRange, ...]
    """In token order; runs of one range are merged, then those of the next."""
    schema: pa.Schema
    outputs: tuple[OutputColumn, ...]
    rules: MergeRules
    limit: int | None
    mapping: TypeMapping

    @property
    def value_count(self) -> int:
        """How many values a row of its selections has."""
        columns = self.table.clustering + self.table.static + self.table.regular
        return 1 + len(columns) + (2 if self.rules.wanted.size else 0)


def plan_scan(
    table: TableSchema, sstables: tuple[SSTable, ...], request: ScanRequest, mapping: TypeMapping = COMPATIBLE
) -> Plan:
    """Plan the scan of a table. Raises RequestError, UnsupportedRequestError, UnsupportedSSTableError."""
    ranges = _ranges(table, sstables, request)
    schema = result_schema(table, request, mapping)
    return Plan(
        table,
        sstables,
        ranges,
        schema,
        tuple(_outputs(table, schema, request)),
        merge_rules(
            table,
            sstables,
            int(time.time()) if request.now_s is None else request.now_s,
            schema.names if request.tombstones else None,
        ),
        request.limit,
        mapping,
    )


def _ranges(table: TableSchema, sstables: tuple[SSTable, ...], request: ScanRequest) -> tuple[TokenRange, ...]:
    """The token ranges that are asked for, in the tokens of the table's partitioner."""
    name = f"table {table.keyspace}.{table.table}"
    partitioners = {each.statistics.partitioner: _partitioner(each) for each in sstables}
    if len(partitioners) > 1:
        named = {each.statistics.partitioner: each.descriptor.name for each in sstables}
        each_one = ", ".join(f"{file}-Statistics.db says {partitioner}" for partitioner, file in sorted(named.items()))
        raise UnsupportedRequestError(f"{name} has SSTables of several partitioners: {each_one}")
    if not partitioners:
        return ()
    (partitioner,) = partitioners.values()
    for field, bound in (("token_start", request.token_start), ("token_end", request.token_end)):
        if bound is not None and not partitioner.least_token <= bound <= partitioner.greatest_token:
            raise RequestError(
                f"{name} is of {partitioner.class_name}, and {field} is none of its tokens: {bound} is not a whole "
                f"number from {partitioner.least_token} to {partitioner.greatest_token}"
            )
    ranges = token_ranges(request.token_start, request.token_end, partitioner)
    if partitioner.tokens == NO_TOKENS and not all(each.is_whole_ring for each in ranges):
        raise RequestError(f"{name} is of {partitioner.class_name}: token ranges are not served")
    return ranges


def _partitioner(sstable: SSTable) -> Partitioner:
    name = sstable.statistics.partitioner
    if name not in PARTITIONERS:
        where = Where(sstable.descriptor.path("Statistics.db"), field="partitioner")
        raise UnsupportedSSTableError(f"{name}, whose order of partitions is not known", where)
    return PARTITIONERS[name]


def _outputs(table: TableSchema, schema: pa.Schema, request: ScanRequest) -> list[OutputColumn]:
    """The wanted columns, in the order of the Arrow schema, as values of a selection."""
    places: dict[str, OutputColumn] = {}
    for position, column in enumerate(table.partition_key):
        places[column.name] = OutputColumn(column, 0, position if len(table.partition_key) > 1 else -1)
    made = history_columns(table, schema.names) if request.tombstones else ()
    for value, column in enumerate(table.clustering + table.static + table.regular + made, 1):
        places[column.name] = OutputColumn(column, value)
    return [places[name] for name in schema.names]
