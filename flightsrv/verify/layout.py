"""How the rows of an SSTable are read, as far as its own header tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from flightsrv.cql.partitioners import PARTITIONERS
from flightsrv.cql.schema import Column, TableSchema
from flightsrv.cql.types import MARSHAL_PACKAGE
from flightsrv.errors import CorruptSSTableError, HeaderError
from flightsrv.io.buffered import BufferedFile
from flightsrv.kernels.order import ANY_ORDER
from flightsrv.kernels.run import KEY_COMPARATOR, TOKEN_UPTO, TOKENS, RunHeader
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.scan.runs import run_header
from flightsrv.scan.schemas import schema_from_sstables
from flightsrv.scan.sstables import SSTable, open_sstable
from flightsrv.slab import BufferPool
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.statistics import Statistics
from flightsrv.stages import in_turn
from flightsrv.stages.decode import Run
from flightsrv.stages.decompress import Chunks, decompress
from flightsrv.stages.read import read
from flightsrv.telemetry.clocks import Clock
from flightsrv.verify.chunks import extents
from flightsrv.verify.components import Components
from flightsrv.verify.findings import Report
from flightsrv.verify.rows import slabs_for

_GREATEST_HALF = (1 << 63) - 1
CUSTOM_CLASSES = frozenset({"CompositeType", "DynamicCompositeType", "PartitionerDefinedOrder"})
"""Classes of Cassandra's that CQL has no name for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What is needed to decode the rows of one SSTable and to compare their order."""

    sstable: SSTable
    schema: TableSchema
    """As the header has it."""
    header: RunHeader

    @property
    def in_any_order(self) -> RunHeader:
        """The header for decode, which ends where a partition is out of order: the survey tells of all of them."""
        numbers = self.header.numbers.copy()
        numbers[TOKENS], numbers[KEY_COMPARATOR], numbers[TOKEN_UPTO] = NO_TOKENS, ANY_ORDER, _GREATEST_HALF
        return self.header._replace(numbers=numbers)


def layout_of(report: Report, descriptor: Descriptor, present: frozenset[str], components: Components) -> Layout | None:
    """None when a component that is needed is missing or damaged; the report says which."""
    statistics, chunks = components.statistics, components.chunks
    if statistics is None or chunks is None:
        report.note("Data.db", "its rows were not decoded: what tells how is damaged or missing")
        return None
    _check_partitioner(report, statistics)
    # CRC.db may be damaged, and TOC.txt is compared with the files already.
    needed = {"CompressionInfo.db", "TOC.txt"} if chunks.checksums is None else {"CompressionInfo.db", "CRC.db"}
    sstable = open_sstable(descriptor, present & needed)
    try:
        layouts = [Layout(sstable, schema, run_header(sstable, schema)) for schema in _schemas_of(sstable)]
    except HeaderError as error:
        report.error("Statistics.db", error.what, field="HEADER")
        return None
    _check_types(report, layouts[0].schema)
    if layouts[0].header.numbers[KEY_COMPARATOR] == ANY_ORDER and statistics.partitioner in PARTITIONERS:
        report.note("Data.db", "the order of partitions is not checked: their key's type has no known order")
    fitting = next((layout for layout in layouts if len(layouts) == 1 or _fits(layout, chunks)), layouts[0])
    if fitting is not layouts[0]:
        report.note("Statistics.db", "its user-defined types are frozen, which it does not say", field="HEADER")
    return fitting


def _schemas_of(sstable: SSTable) -> Iterator[TableSchema]:
    """What the header says, then what it may mean: 3.0 wrote frozen UDTs as if they were not (CASSANDRA-15035)."""
    schema = schema_from_sstables("ks", "table", [sstable])
    yield schema
    frozen = replace(schema, static=tuple(map(_frozen, schema.static)), regular=tuple(map(_frozen, schema.regular)))
    if frozen != schema and not sstable.descriptor.version.has_metadata_checksum:
        yield frozen


def _frozen(column: Column) -> Column:
    return replace(column, type=column.type.freeze()) if column.type.kind == "udt" else column


def _fits(layout: Layout, chunks: Chunks) -> bool:
    """Whether the first rows are decoded by it without an error."""
    path = layout.sstable.data_path
    slab = slabs_for(layout.schema).of(0)
    with closing(BufferedFile(path)) as file:
        windows = decompress(
            read(islice(extents(chunks), 1), file, BufferPool(), in_turn), chunks, BufferPool(), in_turn
        )
        try:
            for _ in Run(path, layout.in_any_order, slab, Clock("decode")).decode(windows):
                pass
        except CorruptSSTableError as error:
            return error.where.field is None  # of a window's end or a chunk, not of a row
    return True


def _check_types(report: Report, schema: TableSchema) -> None:
    """Say which column types are of no known class: their values can be stepped over, but not be understood."""
    for column in schema.partition_key + schema.clustering + schema.static + schema.regular:
        for type_ in column.type.parts():
            name = type_.class_name.removeprefix(MARSHAL_PACKAGE).partition("(")[0]
            if type_.kind != "custom" or name in CUSTOM_CLASSES:
                continue
            field = f"HEADER.{column.kind}"
            if "." in name:
                what = f"the type of {column.name}, {name}, is not one of Cassandra's own"
                report.note("Statistics.db", what, field)
            else:
                report.error("Statistics.db", f"Cassandra has no type {name}, as column {column.name}", field=field)


def _check_partitioner(report: Report, statistics: Statistics) -> None:
    partitioner = statistics.partitioner
    if partitioner not in PARTITIONERS:
        report.error("Statistics.db", f"{partitioner!r} is none of Cassandra's", field="VALIDATION.partitioner")
