"""Corpus tables, read and written anew by a Cassandra node: the same rows in SSTables of its own.

    python -m tests.oracle.rewrite DATA INTO --version da

DATA and INTO are data folders; the tables of the corpus that DATA has are in INTO then, in that version.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import click

from corpus import collections, keyvalue, mixed, sparse, sparse_80, wide
from tests.oracle.judge import FORMATS, Judge

SHAPES = (keyvalue, mixed, wide, collections, sparse, sparse_80)
FOLDER = click.Path(path_type=Path, file_okay=False, resolve_path=True)


def rewrite(judge: Judge, shape: ModuleType, data: Path, into: Path) -> Path:
    """Returns the table's folder below `into`."""
    table = shape.TABLE
    judge.take_in(table, table.folder(data))
    judge.nodetool("upgradesstables", "--include-all-sstables", "bench", table.name)
    judge.nodetool("snapshot", "--tag", "rewritten", "--table", table.name, "bench")
    folder: Path = table.folder(into)
    shutil.copytree(judge.folder(table) / "snapshots" / "rewritten", folder)
    (folder / "schema.cql").write_text(table.cql())
    return folder


@click.command(help=__doc__)
@click.argument("data", type=FOLDER)
@click.argument("into", type=FOLDER)
@click.option("--version", type=click.Choice(list(FORMATS)), default="da", show_default=True)
def main(data: Path, into: Path, version: str) -> None:
    shapes = [shape for shape in SHAPES if shape.TABLE.folder(data).exists()]
    with TemporaryDirectory() as home, Judge.started(version, Path(home)) as judge:
        for shape in shapes:
            click.echo(rewrite(judge, shape, data, into))


if __name__ == "__main__":
    main()
