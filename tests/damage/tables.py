"""The tables whose files are damaged: small ones, of every version, compressed and not, of one SSTable and several."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.keyvalue import write
from flightsrv.config import Settings, TableFolder
from flightsrv.cql.partitioners import Partitioner, partitioner_of
from flightsrv.kernels.tokens import NO_TOKENS
from flightsrv.scan.request import ScanRequest
from tests.reference.fixtures import COPIED, FixtureSet, copied_sets
from tests.sstable.components import SSTable
from tests.verify.damaging import copy_of


@dataclass(frozen=True)
class Question:
    """What is asked of a table, whole and damaged."""

    name: str
    request: ScanRequest
    components: tuple[str, ...] = ("",)
    """Asked when a file is damaged whose name ends in one of these."""


@dataclass(frozen=True)
class Damageable:
    """A table in a folder of its own."""

    folder: Path
    settings: Settings
    questions: tuple[Question, ...]
    files: tuple[str, ...]
    """Those that are damaged, by their paths in the folder."""

    def asked_of(self, file: str) -> list[Question]:
        """What is asked when a file is damaged."""
        return [question for question in self.questions if file.endswith(question.components)]


Make = Callable[[Path], Damageable]

READ_FOR_RANGES = ("Data.db", "CompressionInfo.db", "CRC.db", "Index.db", "Summary.db", "Partitions.db", "Rows.db")
COVERING_DATA = ("Data.db", "CRC.db", "CompressionInfo.db", "Digest.crc32", "TOC.txt")


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
        return table if is_compressed else replace(table, files=_only(table.files, COVERING_DATA))

    return make


def _fixture(id: str) -> FixtureSet:
    return next(each for each in copied_sets() if each.id == id)


def _of_folder(folder: Path, fixture: FixtureSet, has_ddl: bool = True) -> Damageable:
    schema = fixture.schema
    keyspace, table = schema.get("keyspace") or "ks", schema.get("table") or "t"
    request = ScanRequest(keyspace, table, ddl=schema["cql"] if has_ddl else None, now_s=fixture.read_at or 0)
    data_file = next(folder.glob("*-Data.db"))
    questions = _questions(request, partitioner_of(SSTable(data_file).parse("Statistics.db").partitioner))
    return Damageable(folder, Settings(tables=(TableFolder(keyspace, table, folder),)), questions, _files(folder))


def _questions(request: ScanRequest, partitioner: Partitioner) -> tuple[Question, ...]:
    questions = [Question("all rows", request)]
    if partitioner.tokens != NO_TOKENS:
        middle = (partitioner.least_token + partitioner.greatest_token) // 2
        questions.append(Question("half the ring", replace(request, token_start=middle), READ_FOR_RANGES))
    if request.ddl is not None:
        by_header = replace(request, ddl=None)
        questions.append(Question("all rows, by the header's schema", by_header, ("Statistics.db",)))
    return tuple(questions)


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))


def _only(files: Iterable[str], ends: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(file for file in files if file.endswith(ends))


def of_all_versions(folder: Path) -> Damageable:
    """One table with an SSTable of each version, as after many upgrades."""
    for generation, version in enumerate(VERSIONS, 1):
        format = "bti" if version == "da" else "big"
        source = COPIED / f"cassandra/{version}/legacy_tables/legacy_{version}_simple"
        for path in source.glob(f"{version}-1-{format}-*"):
            shutil.copy(path, folder / path.name.replace("-1-", f"-{generation}-"))
    return _of_folder(folder, _fixture("cassandra/nb/legacy_tables/legacy_nb_simple"))


def of_many_partitions(folder: Path) -> Damageable:
    """Enough partitions for several samples in Summary.db."""
    written = write(folder, 300, 1).folder
    statistics = SSTable(next(written.glob("*-Data.db"))).parse("Statistics.db")
    questions = _questions(ScanRequest("bench", "keyvalue", now_s=0), partitioner_of(statistics.partitioner))
    return Damageable(folder, Settings(tables=(TableFolder("bench", "keyvalue", written),)), questions, _files(folder))


def of_node(folder: Path) -> Damageable:
    """Two disks of a 3.11 node: a table with columns dropped and added again, its snapshot, and system_schema. Its
    Statistics.db are damaged, which have no checksums.
    """
    roots = _copied_disks(COPIED / "cassandra-3.11/me/node", folder)
    questions = (
        Question("live rows", ScanRequest("snap", "dropped", now_s=0)),
        Question("rows of the snapshot", ScanRequest("snap", "dropped", snapshot="first", now_s=0), SNAPSHOT),
    )
    files = [f"data2/system_schema/{path}-big-Statistics.db" for path in SCHEMA_SSTABLES]
    files += [file for file in _files(folder) if "/snap/dropped-" in file and file.endswith(("-Statistics.db", ".cql"))]
    return Damageable(folder, Settings(data=roots), questions, tuple(files))


SNAPSHOT = ("snapshots/first/schema.cql", "snapshots/first/me-1-big-Statistics.db")
SCHEMA_SSTABLES = (
    "tables-afddfb9dbc1e30688056eed6c302ba09/me-45",
    "columns-24101c25a2ae3af787c1b40ee1aca33f/me-35",
    "dropped_columns-5e7583b5f3f43af19a39b7e1d6f5f11f/me-10",
    "types-5a8b1ca866023f77a0459273d308917a/me-10",
)
"""Those that tell of the table."""


def of_snapshot(folder: Path) -> Damageable:
    """The same snapshot without the node: its schema.cql alone tells the schema."""
    source = COPIED / "cassandra-3.11/me/node"
    for path in source.glob("data*/snap/dropped-*/snapshots/first"):
        shutil.copytree(path, folder / path.relative_to(source))
    request = ScanRequest("snap", "dropped", snapshot="first", now_s=0)
    settings = Settings(data=(folder / "data", folder / "data2"))
    return Damageable(folder, settings, (Question("all rows", request),), _only(_files(folder), (".cql", ".json")))


def of_transaction(table: str) -> Make:
    """A table with a compaction that ended before its old, or its new, SSTables were deleted: its log is damaged."""

    def make(folder: Path) -> Damageable:
        roots = _copied_disks(COPIED / "cassandra-5.0/nb/node", folder, f"layout/{table}-*")
        questions = (Question("all rows", ScanRequest("layout", table, now_s=0)),)
        return Damageable(folder, Settings(data=roots), questions, _only(_files(folder), (".log",)))

    return make


def _copied_disks(node: Path, folder: Path, which: str = "*/*") -> tuple[Path, ...]:
    for disk in ("data", "data2"):
        for path in node.glob(f"{disk}/{which}"):
            shutil.copytree(path, folder / path.relative_to(node))
    return folder / "data", folder / "data2"


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
    "me-node": of_node,
    "me-snapshot": of_snapshot,
    "nb-ttl": of_set("cassandra-5.0/nb/ttl"),
    "nb-deletes-uncompressed": of_set("cassandra-5.0/nb/deletes", is_compressed=False),
    "nb-committed": of_transaction("compaction_committed"),
    "nb-aborted": of_transaction("compaction_aborted"),
    "oa-ttl": of_set("cassandra-5.0/oa/ttl"),
    "oa-schema_changes": of_set("cassandra-5.0/oa/schema_changes"),
    "da-composite_key": of_set("cassandra-5.0/da/composite_key"),
    "da-wide_desc": of_set("cassandra-5.0/da/wide_desc"),
    "da-random": of_set("cassandra-5.0/da/partitioner_random"),
    "all-versions": of_all_versions,
    "many-partitions": of_many_partitions,
}
