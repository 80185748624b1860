"""What one scan will do: which SSTables, which token ranges, which columns of what the runs hold."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa

from flightsrv.arrow.types import COMPATIBLE, TypeMapping
from flightsrv.cql.schema import TableSchema
from flightsrv.errors import RequestError, UnsupportedRequestError
from flightsrv.kernels.walk import MergeRules
from flightsrv.scan.history import history_columns, result_schema
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.rules import merge_rules
from flightsrv.scan.runs import GREATEST_TOKEN, LEAST_TOKEN, MURMUR3
from flightsrv.scan.sstables import SSTable
from flightsrv.stages.encode import OutputColumn

RANDOM = "org.apache.cassandra.dht.RandomPartitioner"


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens above `after` up to `upto`."""

    after: int
    upto: int

    @property
    def is_whole_ring(self) -> bool:
        return self.after == LEAST_TOKEN and self.upto == GREATEST_TOKEN


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
    """Plan the scan of a table. Raises RequestError, UnsupportedRequestError."""
    ranges = token_ranges(request.token_start, request.token_end)
    _check_partitioners(table, sstables, ranges)
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


def token_ranges(start: int | None, end: int | None) -> tuple[TokenRange, ...]:
    """The range (start, end], which wraps round the ring if start is not below end; equal bounds are all of it."""
    after = LEAST_TOKEN if start is None else start
    upto = GREATEST_TOKEN if end is None else end
    if after == upto:
        return (TokenRange(LEAST_TOKEN, GREATEST_TOKEN),)
    if after < upto:
        return (TokenRange(after, upto),)
    return tuple(
        each for each in (TokenRange(LEAST_TOKEN, upto), TokenRange(after, GREATEST_TOKEN)) if each.after < each.upto
    )


def _check_partitioners(table: TableSchema, sstables: tuple[SSTable, ...], ranges: tuple[TokenRange, ...]) -> None:
    partitioners = {each.statistics.partitioner for each in sstables}
    name = f"table {table.keyspace}.{table.table}"
    if len(partitioners) > 1:
        raise UnsupportedRequestError(f"{name} has SSTables of several partitioners: {', '.join(sorted(partitioners))}")
    if partitioners <= {MURMUR3}:
        return
    if not all(each.is_whole_ring for each in ranges):
        raise RequestError(f"{name} is not of Murmur3Partitioner: token ranges are not served")
    if RANDOM in partitioners and len(sstables) > 1:
        raise UnsupportedRequestError(f"{name} has several SSTables of RandomPartitioner, which are not merged yet")


def _outputs(table: TableSchema, schema: pa.Schema, request: ScanRequest) -> list[OutputColumn]:
    """The wanted columns, in the order of the Arrow schema, as values of a selection."""
    places: dict[str, OutputColumn] = {}
    for position, column in enumerate(table.partition_key):
        places[column.name] = OutputColumn(column, 0, position if len(table.partition_key) > 1 else -1)
    made = history_columns(table, schema.names) if request.tombstones else ()
    for value, column in enumerate(table.clustering + table.static + table.regular + made, 1):
        places[column.name] = OutputColumn(column, value)
    return [places[name] for name in schema.names]
