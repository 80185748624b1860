"""One node and the questions that tests ask it."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cassandra.cluster import Cluster, Session
from cassandra.query import tuple_factory

from corpus.table import Table
from tests.oracle.cassandra import node
from tests.oracle.cassandra.tools import dump_all_command, tool_command

FORMATS = {"nb": ("cassandra_4", "big"), "oa": ("none", "big"), "da": ("none", "bti")}
"""storage_compatibility_mode and sstable format of a node that writes SSTables of a version."""
_KEYSPACE = "CREATE KEYSPACE bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
_FETCH_ROWS = 2000
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Judge:
    """A node of one version, a CQL session and a nodetool that is kept running."""

    version: str
    home: Path
    cluster: Cluster
    session: Session
    _nodetool: subprocess.Popen[str]

    @classmethod
    @contextmanager
    def started(cls, version: str, home: Path, *lines: str) -> Iterator[Judge]:
        """Start the node, and end it in the end. lines: KEY=VALUE of cassandra.yaml."""
        compat, sstable_format = FORMATS[version]
        ports = node.start(home, node.Settings(compat=compat, sstable_format=sstable_format, lines=lines))
        try:
            with (
                Cluster(
                    ["127.0.0.1"], port=ports.native_port, protocol_version=5, schema_metadata_enabled=False
                ) as cluster,
                cluster.connect() as session,
                subprocess.Popen(
                    node.nodetool_command(home, "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                ) as nodetool,
            ):
                session.row_factory = tuple_factory
                session.execute(_KEYSPACE)
                yield cls(version, home, cluster, session, nodetool)
                nodetool.communicate()
        finally:
            node.stop(home)

    def nodetool(self, *command: str) -> str:
        """What nodetool says; AssertionError when it fails."""
        assert self._nodetool.stdin
        assert self._nodetool.stdout
        self._nodetool.stdin.write(" ".join(command) + "\n")
        self._nodetool.stdin.flush()
        said = ""
        for line in self._nodetool.stdout:
            if line.startswith("rc "):
                assert line == "rc 0\n", f"nodetool {' '.join(command)}: {said}"
                return said
            said += line
        raise AssertionError(f"nodetool ended: {said}")

    def take_in(self, table: Table, folder: Path) -> None:
        """Make the table anew, with an id of its own, and import copies of the SSTables of a folder, verified first."""
        self.session.execute(f"DROP TABLE IF EXISTS bench.{table.name}")
        *types, create_table = table.cql(with_id=False).removesuffix(";\n").split(";\n")
        for create_type in types:
            self.session.execute(create_type.replace("CREATE TYPE", "CREATE TYPE IF NOT EXISTS"))
        self.session.execute(create_table + _WITHOUT_COMPACTION)
        said = self.nodetool("import", "--copy-data", "--extended-verify", "bench", table.name, str(folder))
        assert "Failed" not in said, said
        self.nodetool("verify", "--force", "--extended-verify", "bench", table.name)

    def folder(self, table: Table) -> Path:
        """Where the node keeps the table now."""
        statement = "SELECT id FROM system_schema.tables WHERE keyspace_name = 'bench' AND table_name = ?"
        ((table_id,),) = self.select(statement, table.name)
        return self.home / "data" / "bench" / f"{table.name}-{table_id.hex}"

    def select(self, statement: str, *values: Any) -> list[Row]:
        """All rows of an answer, in order."""
        prepared = self.session.prepare(statement)
        prepared.fetch_size = _FETCH_ROWS
        return list(self.session.execute(prepared, values))

    def sstableverify(self, table: Table) -> str:
        """Cassandra's offline sstableverify on the node's own copies."""
        command = tool_command("sstableverify", ["--extended", "--force", "bench", table.name], self.home)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def sstabledump(self, data_files: Sequence[Path], into: Path) -> list[list[Any]]:
        """Cassandra's dump of each SSTable."""
        dumps = [into / f"{index}.json.gz" for index in range(len(data_files))]
        command = dump_all_command(list(zip(data_files, dumps, strict=True)))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(gzip.decompress(dump.read_bytes())) for dump in dumps]


_WITHOUT_COMPACTION = " AND compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}"
