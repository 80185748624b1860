"""Files of rows: Parquet, Arrow IPC, CSV and JSON lines, chosen by the file's name.

A file appears under its name when it is whole; until then, or when its scan fails, there is FILE.part or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from flightsrv.client.plain import csv_array, csv_type, json_values

Write = Callable[[pa.RecordBatch], None]

ROW_GROUP_BYTES = 64 * 1024 * 1024
"""Arrow bytes that are gathered for one row group of a Parquet file."""


@contextmanager
def writing(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """A function that appends batches to a new file, of the form its suffix says. FORMATS has the suffixes.

    An older file of that name is replaced at the end. Raises OSError.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with FORMATS[path.suffix](part, schema) as write:
            yield write
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def json_lines(stream: TextIO) -> Write:
    """A function that writes a JSON object a row, a line each."""

    def write(batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        columns = [json_values(column) for column in batch.columns]
        for row in zip(*columns, strict=True):
            stream.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")

    return write


@contextmanager
def _parquet(path: Path, schema: pa.Schema) -> Iterator[Write]:
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        gathered: list[pa.RecordBatch] = []

        def write(batch: pa.RecordBatch) -> None:
            gathered.append(batch)
            if sum(each.nbytes for each in gathered) >= ROW_GROUP_BYTES:
                flush()

        def flush() -> None:
            table = pa.Table.from_batches(gathered, schema)
            writer.write_table(table, row_group_size=table.num_rows)
            gathered.clear()

        yield write
        if gathered:
            flush()


@contextmanager
def _arrow(path: Path, schema: pa.Schema) -> Iterator[Write]:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        yield writer.write_batch


@contextmanager
def _csv(path: Path, schema: pa.Schema) -> Iterator[Write]:
    from pyarrow import csv

    flat = pa.schema([pa.field(field.name, csv_type(field.type)) for field in schema])
    with csv.CSVWriter(path, flat) as writer:

        def write(batch: pa.RecordBatch) -> None:
            arrays = [csv_array(column) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=flat))

        yield write


@contextmanager
def _json(path: Path, _schema: pa.Schema) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as stream:
        yield json_lines(stream)


FORMATS: dict[str, Callable[[Path, pa.Schema], AbstractContextManager[Write]]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".csv": _csv,
    ".jsonl": _json,
}
