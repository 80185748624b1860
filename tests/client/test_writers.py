"""Files of rows: whole or not there."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from flightsrv.client.writers import FORMATS, json_lines, writing

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int64())])


def batch(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch([[f"k{number}" for number in numbers], list(numbers)], schema=SCHEMA)


def read(path: Path) -> pa.Table:
    match path.suffix:
        case ".parquet":
            return parquet.read_table(path)
        case ".arrow":
            return pa.ipc.open_file(path).read_all()
        case ".csv":
            return csv.read_csv(path)
        case _:
            return pa.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()], SCHEMA)


@pytest.mark.parametrize("suffix", FORMATS)
def test_batches_read_back_in_their_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    with writing(path, SCHEMA) as write:
        for numbers in ((1, 2), (), (3,)):
            write(batch(*numbers))
    assert read(path).to_pydict() == {"k": ["k1", "k2", "k3"], "v": [1, 2, 3]}


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_a_file_without_rows_has_its_columns(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    with writing(path, SCHEMA):
        pass
    assert read(path).column_names == ["k", "v"]
    assert read(path).num_rows == 0


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_ends_early_leaves_the_older_file_and_nothing_else(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    path.write_text("older")
    with pytest.raises(KeyError), writing(path, SCHEMA) as write:
        write(batch(1).select(["nothing"]))
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_many_batches_make_few_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with writing(path, SCHEMA) as write:
        for _ in range(100):
            write(batch(*range(10)))
    assert parquet.ParquetFile(path).num_row_groups == 1


def test_json_lines_are_utf_8_as_it_is() -> None:
    out = StringIO()
    json_lines(out)(pa.record_batch([["é"], [None]], schema=SCHEMA))
    assert out.getvalue() == '{"k": "é", "v": null}\n'
