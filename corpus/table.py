"""What a corpus table is: its CQL, and its types as an SSTable's header names them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VERSIONS = ("nb", "oa")
MARSHAL = "org.apache.cassandra.db.marshal."
COMPRESSION_CQL = "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': '16'}"
_NAMESPACE = uuid.UUID("b5d6f2c0-0b1f-5c57-8d0e-6f1f5a9f7c11")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of keyspace bench: a text key, at most one clustering column (8 bytes, descending), regular columns."""

    name: str
    columns_cql: str
    """What stands between the parentheses of CREATE TABLE."""
    options_cql: str
    clustering_classes: Sequence[str]
    columns: Sequence[tuple[str, str]]
    """Name and class of the regular columns, as they are stored: simple before complex, in order of name."""
    types_cql: Sequence[str] = ()
    """CREATE TYPE statements."""
    key_class: str = MARSHAL + "UTF8Type"
    bloom_filter_fp_chance: float = 0.01

    @property
    def clustered(self) -> bool:
        return bool(self.clustering_classes)

    @property
    def id(self) -> uuid.UUID:
        """Always the same for a name, so that a corpus is the same bytes and paths every time."""
        return uuid.uuid5(_NAMESPACE, f"bench.{self.name}")

    def cql(self, with_id: bool = True) -> str:
        """CREATE TABLE, as a snapshot's schema.cql has it, and before it what CREATE TYPE it needs."""
        own = f"ID = {self.id} AND " if with_id else ""
        table = f"CREATE TABLE bench.{self.name} ({self.columns_cql}) WITH {own}{self.options_cql}"
        return "".join(f"{statement};\n" for statement in (*self.types_cql, table))

    def folder(self, data: Path) -> Path:
        """Where this table lies below a data folder."""
        return data / "bench" / f"{self.name}-{self.id.hex}"
