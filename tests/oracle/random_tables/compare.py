"""Where a scan differs from what Cassandra answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from random import Random

from flightsrv.config import ArrowTypes
from flightsrv.errors import FlightsrvError, UnsupportedRequestError
from flightsrv.scan.engine import Engine
from tests.oracle.random_tables.answers import Asker
from tests.oracle.random_tables.questions import Question, draw_questions, expiries_of
from tests.oracle.random_tables.scans import arrow_rows, selected_rows
from tests.oracle.random_tables.tables import Reference, Table, ask
from tests.reference.arrow_form import NATIVE_KEEPS, beyond_arrow, comparable
from tests.reference.ordering import murmur3_token
from tests.reference.render import JsonRow, line_of

MAPPINGS: Mapping[ArrowTypes, Collection[str]] = {"compatible": (), "native": NATIVE_KEEPS}
"""Arrow types, and the CQL types that those keep as they are."""


@dataclass(frozen=True, slots=True)
class Difference:
    question: Question
    reader: str
    """selection, compatible, native or reference."""
    row: int
    ours: str
    """The first line that differs, or an error."""
    cassandras: str

    def __str__(self) -> str:
        return (
            f"{self.reader}, row {self.row} of {self.question}\n  ours      {self.ours}\n  Cassandra {self.cassandras}"
        )


@dataclass(slots=True)
class Comparison:
    """Of one table."""

    rows: int = 0
    """Now."""
    sstables: int = 0
    answers: int = 0
    refusal: str | None = None
    """Why we do not serve it."""
    differences: list[Difference] = field(default_factory=list)


def compare(
    engine: Engine, asker: Asker, table: Table, scratch: Path, seed: int, like: Question | None = None
) -> Comparison:
    """Ask both about a table, the whole of it and parts.

    scratch: a folder to write to; seed: of the questions; like: ask this or the whole table, to the first difference.
    """
    reference = Reference.of(table, scratch)
    tokens = sorted({murmur3_token(partition.key) for run in reference.runs for partition in run if partition.key})
    expiries = expiries_of([partition for run in reference.runs for partition in run])
    whole = Question(table.keyspace, table.name, int(time.time()))
    questions = draw_questions(Random(seed), whole, list(table.types), tokens, expiries)
    if like is not None:
        questions = [whole.with_part_of(like, table.types), *(each for each in questions if each.is_whole)]
    made = Comparison(sstables=len(reference.runs))
    for question in questions:
        expected = ask(asker, table, question)
        made.answers += 1
        made.rows = made.rows or len(expected)
        if question.is_whole and reference.runs:
            _judge(made, table, question, "reference", expected, partial(reference.rows, question.now_s))
            _judge(made, table, question, "selection", expected, partial(selected_rows, engine, table, question))
        _judge_arrow(made, engine, table, question, expected)
        if made.differences and like is not None:
            break
    return made


def _judge_arrow(
    made: Comparison, engine: Engine, table: Table, question: Question, expected: Sequence[JsonRow]
) -> None:
    """In either mapping, of the columns whose values it can hold."""
    for types, keeps in MAPPINGS.items():
        beyond = beyond_arrow(expected, table.types, keeps)
        columns = [name for name in question.columns or table.types if name not in beyond]
        if columns:
            kept = [comparable({name: row[name] for name in columns}, table.types, keeps) for row in expected]
            _judge(made, table, question, types, kept, partial(arrow_rows, engine, table, question, columns, types))


def _judge(
    made: Comparison,
    table: Table,
    question: Question,
    reader: str,
    expected: Sequence[JsonRow],
    read: Callable[[], Sequence[JsonRow]],
) -> None:
    try:
        rows = read()
    except UnsupportedRequestError as error:
        made.refusal = str(error)
        return
    except (FlightsrvError, AssertionError) as error:
        made.differences.append(
            Difference(question, reader, 0, f"{type(error).__name__}: {error}", f"{len(expected)} rows")
        )
        return
    lines = [_lines(each, table.types) for each in (rows, expected)]
    for number, (ours, theirs) in enumerate(zip_longest(*lines, fillvalue="no row")):
        if ours != theirs:
            made.differences.append(Difference(question, reader, number, ours, theirs))
            return


def _lines(rows: Sequence[JsonRow], types: Mapping[str, object]) -> list[str]:
    return [line_of(row, [name for name in types if name in row]) for row in rows]
