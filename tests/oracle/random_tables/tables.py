"""A table of the node as Cassandra describes it: its schema and rows in the form of expected.json, and its SSTables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.oracle.judge import Judge
from tests.oracle.random_tables.answers import Answer, Asker
from tests.oracle.random_tables.questions import Question
from tests.reference.fixtures import FixtureSet
from tests.reference.merge import merged
from tests.reference.model import Partition
from tests.reference.render import JsonRow, rows_of, sha256_of
from tests.reference.sstables import sstables_of, table_of
from tests.reference.types import CqlType, types_of_schema
from tests.reference.values import json_of

KINDS = ("partition_key", "clustering", "static", "regular")


@dataclass(frozen=True)
class Table:
    keyspace: str
    name: str
    folder: Path
    """Of its SSTables."""
    schema: dict[str, Any]
    """What expected.json says of it: cql, partition_key, clustering, static, columns."""

    @cached_property
    def types(self) -> dict[str, CqlType]:
        return types_of_schema(self.schema)

    @property
    def partition_key(self) -> list[str]:
        return list(self.schema["partition_key"])

    def rows_of(self, answer: Answer) -> list[JsonRow]:
        """An answer in JSON. A counter is sent as a bigint."""
        types = [self.types[name] for name in answer.names]
        sent = [CqlType("bigint") if type_.name == "counter" else type_ for type_ in types]
        return [
            {name: json_of(type_, value) for name, type_, value in zip(answer.names, sent, row, strict=True)}
            for row in answer.rows
        ]

    def expected(self, rows: Sequence[JsonRow], now_s: int) -> dict[str, Any]:
        """All of expected.json."""
        return {
            **self.schema,
            "rows_count": len(rows),
            "rows_known_from": "the Cassandra 5.0.4 node that wrote the SSTables",
            "rows_order": "as SELECT * gives them (token order, then clustering order)",
            "read_at": now_s,
            "rows_sha256": sha256_of(rows, self.types),
            "rows": rows,
        }


def describe(judge: Judge, keyspace: str, name: str) -> Table:
    """The table as it is now."""
    where = f"WHERE keyspace_name = '{keyspace}' AND table_name = '{name}'"
    columns = "column_name, kind, position, clustering_order, type"
    described = judge.select(f"SELECT {columns} FROM system_schema.columns {where}")
    in_order = sorted(described, key=lambda column: (KINDS.index(column[1]), column[2], column[0]))
    of_kind = {kind: [column for column in in_order if column[1] == kind] for kind in KINDS}
    statements = judge.session.execute(f"DESCRIBE KEYSPACE {keyspace} WITH INTERNALS").all()
    cql = [text for _, kind, named, text in statements if kind != "type" and named == name]
    cql += [text for _, kind, _, text in statements if kind == "type"]
    schema = {
        "keyspace": keyspace,
        "table": name,
        "cql": "\n\n".join(cql),
        "partition_key": [column[0] for column in of_kind["partition_key"]],
        "clustering": [[column[0], column[3]] for column in of_kind["clustering"]],
        "static": [column[0] for column in of_kind["static"]],
        "columns": {column[0]: column[4] for column in in_order},
    }
    for (base,) in judge.select(
        f"SELECT base_table_name FROM system_schema.views WHERE keyspace_name = '{keyspace}' AND view_name = '{name}'"
    ):
        of_base = f"FROM system_schema.columns WHERE keyspace_name = '{keyspace}' AND table_name = '{base}'"
        named = judge.select(f"SELECT column_name, kind {of_base}")
        schema["base_key"] = [column for column, kind in named if kind in ("partition_key", "clustering")]
    (folder,) = (judge.home / "data" / keyspace).glob(f"{name}-*")
    return Table(keyspace, name, folder, schema)


@dataclass(frozen=True)
class Reference:
    """The plain reader's view of a table: a third opinion."""

    fixture: FixtureSet

    @classmethod
    def of(cls, table: Table, scratch: Path) -> Reference:
        """scratch: a folder to write to."""
        expected_file = scratch / f"{table.keyspace}.{table.name}.json"
        expected_file.write_text(json.dumps(table.expected([], 0)))
        data_files = tuple(sorted(table.folder.glob("*-Data.db")))
        return cls(FixtureSet(f"{table.keyspace}.{table.name}", table.folder, data_files, expected_file, {}))

    @cached_property
    def runs(self) -> list[list[Partition]]:
        return [sstable.partitions() for sstable in sstables_of(self.fixture)]

    def rows(self, now_s: int) -> list[JsonRow]:
        shown = merged(self.runs, table_of(self.fixture, sstables_of(self.fixture)), now_s)
        return rows_of(shown, self.fixture)


def ask(asker: Asker, table: Table, question: Question) -> list[JsonRow]:
    """What Cassandra answers, as JSON.

    It is asked for all columns: it shows rows that are not there when it is asked for some, as it passes over cells of
    the others whose timestamp is below their row's, tombstones too (SerializationHelper.includes).
    """
    rows = table.rows_of(asker.select(question.cql(table.partition_key), question.now_s))
    return [{name: row[name] for name in question.columns or row} for row in rows]
