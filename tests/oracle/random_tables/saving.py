"""A table that once differed, as a set of tests/data: its SSTables and what Cassandra reads in them."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from tests.oracle.cassandra.jvm import cassandra_version
from tests.oracle.random_tables.questions import Question
from tests.oracle.random_tables.runs import Court
from tests.oracle.random_tables.scripts import Script
from tests.oracle.random_tables.tables import Table, ask
from tests.reference.fixtures import COPIED

TIMES_EXPIRE_S = 40
"""How long the short TTLs of scripts last, and some: a saved set is read when they are over."""


def save(court: Court, script: Script, name: str, notes: str) -> list[Path]:
    """Play a script and add each of its tables to tests/data/sstables. Returns their folders."""
    with court.played([script]) as ((_, tables),):
        now_s = int(time.time()) + TIMES_EXPIRE_S
        names = [f"{name}_{table.name}" if len(tables) > 1 else name for table in tables]
        return [_save(court, table, now_s, script, name, notes) for table, name in zip(tables, names, strict=True)]


def _save(court: Court, table: Table, now_s: int, script: Script, name: str, notes: str) -> Path:
    version = court.judge.version
    folder = COPIED / "cassandra-5.0" / version / name
    folder.mkdir(parents=True)
    for component in table.folder.glob(f"{version}-*"):
        shutil.copy(component, folder)
    rows = ask(court.asker, table, Question(table.keyspace, table.name, now_s))
    expected = table.expected(rows, now_s)
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "statements.cql").write_text(script.cql(table.keyspace) + "\n")
    _add_to_manifest(_entry(folder, expected, notes))
    return folder


def _entry(folder: Path, expected: dict[str, Any], notes: str) -> dict[str, Any]:
    path = str(folder.relative_to(COPIED))
    version = cassandra_version()
    return {
        "id": path,
        "path": path,
        "source": {
            "made_with": f"org.apache.cassandra:cassandra-all:{version}, tests/oracle/random_tables",
            "license": "Apache-2.0 (the writer; the data was made here)",
        },
        "writer": f"Cassandra {version}",
        "keyspace": expected["keyspace"],
        "table": expected["table"],
        "notes": notes,
        "expected": "expected.json",
        "expected_source": expected["rows_known_from"],
        "rows_count": expected["rows_count"],
        "rows_provenance": "node",
        "sstables": [_sstable(data_file.name) for data_file in sorted(folder.glob("*-Data.db"))],
    }


def _sstable(file_name: str) -> dict[str, str]:
    name = file_name.removesuffix("-Data.db")
    version, _, sstable_format = name.split("-")
    return {"name": name, "version": version, "format": sstable_format}


def _add_to_manifest(entry: dict[str, Any]) -> None:
    """As its last line: an entry a line."""
    manifest = COPIED / "MANIFEST.json"
    text = manifest.read_text().removesuffix("\n]}\n")
    manifest.write_text(f"{text},\n{json.dumps(entry)}\n]}}\n")
