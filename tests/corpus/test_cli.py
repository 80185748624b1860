"""The commands write what the functions write, and say how much."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from corpus import collections, keyvalue, mixed, sparse, sparse_80, wide
from corpus.cli import corpus


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(corpus, arguments)
    return result.exit_code, result.output


def test_keyvalue(tmp_path: Path) -> None:
    code, output = run(
        "keyvalue", "--partitions", "1000", "--out", str(tmp_path), "--runs", "2", "--version", "oa", "--seed", "3"
    )
    folder = keyvalue.TABLE.folder(tmp_path)
    written = keyvalue.write(tmp_path / "same", 1000, 2, "oa", 3)
    assert code == 0, output
    assert output.splitlines()[-1].startswith(
        f"{folder}: {written.rows:,} rows, {written.data_bytes:,} bytes of Data.db, "
    )
    for path in written.folder.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()


@pytest.mark.parametrize("shape", [mixed, wide, collections, sparse, sparse_80], ids=lambda shape: shape.TABLE.name)
def test_series(tmp_path: Path, shape: ModuleType) -> None:
    command = shape.TABLE.name.replace("_", "-")
    code, output = run(
        command, "--sensors", "10", "--rows-per-sensor", "7", "--out", str(tmp_path), "--deletion-share", "0.5"
    )
    assert code == 0, output
    assert (shape.TABLE.folder(tmp_path) / "nb-1-big-Data.db").exists()
    assert "rows/s" in output.splitlines()[-1]


def test_a_folder_with_sstables_is_an_error_in_one_line(tmp_path: Path) -> None:
    for expected in (0, 1):
        code, output = run("keyvalue", "--partitions", "10", "--out", str(tmp_path))
        assert code == expected
    assert output.splitlines()[-1].endswith("already holds SSTables")


def test_schema_cql_stands_beside_the_sstables(tmp_path: Path) -> None:
    folder = keyvalue.write(tmp_path, 10).folder
    assert (folder / "schema.cql").read_text() == keyvalue.TABLE.cql()
    assert folder.name == f"keyvalue-{keyvalue.TABLE.id.hex}"
