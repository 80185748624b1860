"""What a scan of the node's files gives: the bytes that merge selects, and the Arrow batches made of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from flightsrv.config import ArrowTypes
from flightsrv.scan.engine import Engine
from flightsrv.stages.encode import OutputColumn
from tests.oracle.random_tables.questions import Question
from tests.oracle.random_tables.tables import Table
from tests.reference.arrow_form import rows_of_arrow
from tests.reference.render import JsonRow, key_columns
from tests.reference.types import CqlType
from tests.reference.values import json_of
from tests.scan.scanning import SelectedRow, copied, selected


def selected_rows(engine: Engine, table: Table, question: Question) -> list[JsonRow]:
    """A whole table as merge selects it: nothing is lost that Arrow could not hold. Raises FlightsrvError."""
    with closing(engine.open_scan(question.request())) as scan:
        return [_row(values, scan.plan.outputs, table) for values in selected(scan)]


def _row(values: SelectedRow, outputs: Sequence[OutputColumn], table: Table) -> JsonRow:
    keys = key_columns(values[0] or b"", table.partition_key)
    places = {output.column.name: output.value for output in outputs}
    sent = {name: CqlType("bigint") if type_.name == "counter" else type_ for name, type_ in table.types.items()}
    return {name: json_of(sent[name], keys[name] if name in keys else values[place]) for name, place in places.items()}


def arrow_rows(
    engine: Engine, table: Table, question: Question, columns: Sequence[str], types: ArrowTypes
) -> list[JsonRow]:
    """These columns of the batches. Raises FlightsrvError."""
    request = question.request(columns, types)
    with closing(engine.open_scan(request)) as scan, closing(scan.batches()) as batches:
        return rows_of_arrow((copied(batch) for batch in batches), table.schema)
