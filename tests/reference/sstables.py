"""From the files of a fixture set to its rows, by the reference alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.reference import statistics_header
from tests.reference.chunks import uncompressed
from tests.reference.decoder import decode
from tests.reference.fixtures import FixtureSet, version_of
from tests.reference.merge import ShownRow, Table, merged
from tests.reference.model import Partition
from tests.reference.statistics_header import Header


@dataclass(frozen=True)
class SSTable:
    data_file: Path
    frozen: frozenset[str] = frozenset()
    """Columns that the schema says are frozen, whatever the header says."""

    def component(self, name: str) -> Path:
        return self.data_file.with_name(self.data_file.name.replace("Data.db", name))

    @cached_property
    def header(self) -> Header:
        header = statistics_header.parse(self.component("Statistics.db").read_bytes(), version_of(self.data_file))
        return header.with_frozen(set(self.frozen))

    def data(self) -> bytes:
        """Uncompressed bytes of Data.db."""
        compression_info = self.component("CompressionInfo.db")
        info = compression_info.read_bytes() if compression_info.exists() else None
        return uncompressed(self.data_file.read_bytes(), info, version_of(self.data_file))

    def partitions(self) -> list[Partition]:
        return decode(self.data(), self.header)


def sstables_of(fixture: FixtureSet) -> list[SSTable]:
    frozen = {name for name, type_ in fixture.types.items() if type_.is_frozen} if fixture.has_expected_rows else set()
    return [SSTable(data_file, frozenset(frozen)) for data_file in fixture.data_files]


def read(fixture: FixtureSet) -> list[ShownRow]:
    """The set's rows at its `read_at`, else as if nothing had expired."""
    sstables = sstables_of(fixture)
    return merged([sstable.partitions() for sstable in sstables], table_of(fixture, sstables), fixture.read_at or 0)


def table_of(fixture: FixtureSet, sstables: list[SSTable]) -> Table:
    """What the merge must know, by the headers and by the table's CQL."""
    headers = [sstable.header for sstable in sstables]
    cql, base_key = fixture.schema.get("cql") or "", fixture.schema.get("base_key")
    key = {*fixture.schema.get("partition_key", ()), *(name for name, _ in fixture.schema.get("clustering", ()))}
    return Table(
        partitioner=headers[0].partitioner,
        key_type=headers[0].key,
        clustering=headers[0].clustering,
        types={name: type_ for header in headers for name, type_ in {**header.static, **header.regular}.items()},
        dropped_us={name: int(at) for name, at in re.findall(r'DROP "?(\w+)"? USING TIMESTAMP (-?\d+)', cql)},
        has_strict_liveness=cql.startswith("CREATE MATERIALIZED VIEW")
        and (base_key is None or not key <= set(base_key)),
    )
