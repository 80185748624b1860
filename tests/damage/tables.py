"""The tables whose files are damaged: small ones, of every version, compressed and not, of one SSTable and several."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.keyvalue import write
from flightsrv.config import Settings, TableFolder
from flightsrv.cql.partitioners import MURMUR3_PARTITIONER
from flightsrv.scan.request import ScanRequest
from tests.reference.fixtures import COPIED, FixtureSet, copied_sets
from tests.sstable.components import SSTable
from tests.verify.damaging import copy_of

HALF = 0
"""A token with others on both sides."""


@dataclass(frozen=True)
class Damageable:
    """A table in a folder of its own."""

    name: str
    folder: Path
    """Of all files that are damaged."""
    settings: Settings
    request: ScanRequest
    """All rows, by the schema that is known beside the SSTables."""
    names: tuple[str, ...]
    """Files that are damaged, by their paths in the folder."""
    has_tokens: bool
    """Token ranges of it are served."""

    def requests(self, component: str) -> dict[str, ScanRequest]:
        """What is asked for when a component is damaged, by what it is called."""
        asked = {"all rows": self.request}
        if self.has_tokens and component in READ_FOR_RANGES:
            asked["half the ring"] = self._like(token_start=HALF)
        if component == "Statistics.db" and self.request.ddl is not None:
            asked["all rows, by the header's schema"] = self._like(ddl=None)
        return asked

    def _like(self, **changed: object) -> ScanRequest:
        fields = {name: getattr(self.request, name) for name in ScanRequest.__slots__}
        return ScanRequest(**{**fields, **changed})


READ_FOR_RANGES = ("Data.db", "CompressionInfo.db", "CRC.db", "Index.db", "Summary.db", "Partitions.db", "Rows.db")

COVERING_DATA = ("Data.db", "CRC.db", "CompressionInfo.db", "Digest.crc32", "TOC.txt")

Make = Callable[[Path], Damageable]


def of_set(id: str, *, is_compressed: bool = True, has_ddl: bool = True) -> Make:
    """A set of tests/data/sstables; uncompressed on request, with the checksums it must have then. What does not
    depend on compression is damaged in the set that is as it was.
    """

    def make(folder: Path) -> Damageable:
        fixture = _fixture(id)
        for data_file in fixture.data_files:
            copy = copy_of(SSTable(data_file), folder)
            if not is_compressed and copy.sstable.file("CompressionInfo.db").exists():
                copy.store_uncompressed()
        table = _of_folder(folder, fixture, has_ddl)
        if is_compressed:
            return table
        return replace(table, names=tuple(each for each in table.names if each.endswith(COVERING_DATA)))

    return make


def _fixture(id: str) -> FixtureSet:
    return next(each for each in copied_sets() if each.id == id)


def _of_folder(folder: Path, fixture: FixtureSet, has_ddl: bool = True) -> Damageable:
    schema = fixture.schema
    keyspace, table = schema.get("keyspace") or "ks", schema.get("table") or "t"
    request = ScanRequest(keyspace, table, ddl=schema["cql"] if has_ddl else None, now_s=fixture.read_at or 0)
    settings = Settings(tables=(TableFolder(keyspace, table, folder),))
    data_files = [SSTable(path) for path in folder.glob("*-Data.db")]
    has_tokens = all(each.parse("Statistics.db").partitioner == MURMUR3_PARTITIONER.class_name for each in data_files)
    return Damageable(folder.name, folder, settings, request, _names(folder), has_tokens)


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))


def of_all_versions(folder: Path) -> Damageable:
    """One table with an SSTable of each version, as after many upgrades."""
    fixture = _fixture("cassandra/nb/legacy_tables/legacy_nb_simple")
    for generation, version in enumerate(VERSIONS, 1):
        format = "bti" if version == "da" else "big"
        source = COPIED / f"cassandra/{version}/legacy_tables/legacy_{version}_simple"
        for path in source.glob(f"{version}-1-{format}-*"):
            shutil.copy(path, folder / path.name.replace("-1-", f"-{generation}-"))
    return _of_folder(folder, fixture)


def of_many_partitions(folder: Path) -> Damageable:
    """Enough partitions for several samples in Summary.db."""
    written = write(folder, 300, 1).folder
    request = ScanRequest("bench", "keyvalue", now_s=0)
    settings = Settings(tables=(TableFolder("bench", "keyvalue", written),))
    return Damageable(folder.name, folder, settings, request, _names(folder), has_tokens=True)


VERSIONS = ("ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa", "da")

TABLES: dict[str, Make] = {
    **{
        f"{version}{'' if is_compressed else '-uncompressed'}": of_set(
            f"cassandra/{version}/legacy_tables/legacy_{version}_simple", is_compressed=is_compressed
        )
        for version in VERSIONS
        for is_compressed in (True, False)
    },
    "mc-ttl": of_set("cassandra-dtest/mc/ks/ttl_table_3_0"),
    "mc-negative": of_set("cassandra/negative-local-expiration/mc/ks/table3"),
    "mc-epoch": of_set("sstable-adaptor/mc/keyspace1/auditlogsbyid", has_ddl=False),
    "me-rich": of_set("cassandra-3.11/me/rich"),
    "nb-ttl": of_set("cassandra-5.0/nb/ttl"),
    "nb-deletes-uncompressed": of_set("cassandra-5.0/nb/deletes", is_compressed=False),
    "oa-ttl": of_set("cassandra-5.0/oa/ttl"),
    "oa-schema_changes": of_set("cassandra-5.0/oa/schema_changes"),
    "all-versions": of_all_versions,
    "many-partitions": of_many_partitions,
}
