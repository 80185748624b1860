"""What a scan of the node's files gives: the bytes that merge selects, and the Arrow batches made of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from flightsrv.scan.engine import Engine
from flightsrv.slab import ABSENT, Selection
from flightsrv.stages.encode import OutputColumn
from tests.oracle.random_tables.questions import Question
from tests.oracle.random_tables.tables import Table
from tests.reference.arrow_form import rows_of_arrow
from tests.reference.render import JsonRow, key_columns
from tests.reference.types import CqlType
from tests.reference.values import json_of
from tests.scan.scanning import copied


def selected_rows(engine: Engine, table: Table, question: Question) -> list[JsonRow]:
    """A whole table as merge selects it: nothing is lost that Arrow could not hold. Raises FlightsrvError."""
    with closing(engine.open_scan(question.request(None))) as scan, closing(scan.selections()) as selections:
        return [row for selection in selections for row in _rows(selection, scan.plan.outputs, table)]


def _rows(selection: Selection, outputs: Sequence[OutputColumn], table: Table) -> Iterator[JsonRow]:
    for row in range(selection.start, selection.stop):
        keys = key_columns(_value(selection, 0, row) or b"", table.partition_key)
        yield {
            name: json_of(_sent(table.types, name), keys[name] if name in keys else _value(selection, value, row))
            for name, value in ((output.column.name, output.value) for output in outputs)
        }


def _value(selection: Selection, value: int, row: int) -> bytes | None:
    size = int(selection.size[value, row])
    return None if size == ABSENT else ctypes.string_at(int(selection.at[value, row]), size)


def _sent(types: Mapping[str, CqlType], name: str) -> CqlType:
    return CqlType("bigint") if types[name].name == "counter" else types[name]


def arrow_rows(engine: Engine, table: Table, question: Question, columns: Sequence[str] | None) -> list[JsonRow]:
    """Rows of the batches; columns: None for all. Raises FlightsrvError."""
    with closing(engine.open_scan(question.request(columns))) as scan, closing(scan.batches()) as batches:
        return rows_of_arrow((copied(batch) for batch in batches), table.schema)
