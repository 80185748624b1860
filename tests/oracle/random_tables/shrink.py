"""The least script that still differs: statements, flushes, columns, options and terms are left away, one or many at once.

Candidates are played side by side, some at a time; the first that differs is shrunk further.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from tests.oracle.random_tables.scripts import Script
from tests.oracle.random_tables.statements import Batch, Delete, Insert, Statement, Update, Using, without

T = TypeVar("T")

AT_ONCE = 12
MOST_TRIALS = 1200

Rounds = tuple[tuple[Statement, ...], ...]
StillDiffer = Callable[[Sequence[Script]], Sequence[bool]]


def shrunk(script: Script, differ: StillDiffer) -> Script:
    """The script, or a smaller one of which `differ` says that it differs too."""
    trials = 0
    candidates = smaller(script)
    while trials < MOST_TRIALS and (some := list(itertools.islice(candidates, AT_ONCE))):
        trials += len(some)
        found = next((each for each, is_different in zip(some, differ(some), strict=True) if is_different), None)
        if found is not None:
            script, candidates = found, smaller(found)
    return script


def smaller(script: Script) -> Iterator[Script]:
    """All that is a step smaller, the largest steps first."""
    if script.schema.view:
        yield replace(script, schema=replace(script.schema, view=None))
    yield from _with_less_statements(script)
    yield from _with_less_flushes(script)
    yield from _with_less_columns(script)
    for options in _without_one(script.schema.options):
        yield replace(script, schema=replace(script.schema, options=options))
    yield from _with_less_in_statements(script)


def _with_less_statements(script: Script) -> Iterator[Script]:
    """Without a stretch of them, of half of all down to one. Rounds stay, empty ones go."""
    places = [(number, i) for number, statements in enumerate(script.rounds) for i in range(len(statements))]
    size = len(places) // 2
    while size:
        for start in range(0, len(places), size):
            gone = set(places[start : start + size])
            rounds = tuple(
                tuple(statement for i, statement in enumerate(statements) if (number, i) not in gone)
                for number, statements in enumerate(script.rounds)
            )
            yield _with_rounds(script, rounds)
        size //= 2


def _with_less_flushes(script: Script) -> Iterator[Script]:
    if script.compacted_after is not None:
        yield replace(script, compacted_after=None)
    for number in range(len(script.rounds) - 1):
        joined = script.rounds[number] + script.rounds[number + 1]
        yield _with_rounds(script, (*script.rounds[:number], joined, *script.rounds[number + 2 :]))


def _with_less_columns(script: Script) -> Iterator[Script]:
    """Of the key too: of which something must remain is Cassandra's to say."""
    for column in script.schema.columns:
        columns = tuple(each for each in script.schema.columns if each is not column)
        rounds = tuple(
            tuple(kept for each in statements if (kept := without(each, column.name)) is not None)
            for statements in script.rounds
        )
        yield _with_rounds(replace(script, schema=replace(script.schema, columns=columns)), rounds)
    for types in _without_one(script.schema.user_types):
        yield replace(script, schema=replace(script.schema, user_types=types))


def _with_less_in_statements(script: Script) -> Iterator[Script]:
    for number, statements in enumerate(script.rounds):
        for i, statement in enumerate(statements):
            for simpler in _simpler(statement):
                changed = (*statements[:i], *simpler, *statements[i + 1 :])
                yield _with_rounds(script, (*script.rounds[:number], changed, *script.rounds[number + 1 :]))


def _simpler(statement: Statement) -> Iterator[tuple[Statement, ...]]:
    """Statements that may stand for one."""
    match statement:
        case Batch(_, writes):
            yield writes
            yield from ((replace(statement, writes=kept),) for kept in _without_one(writes) if kept)
        case Insert(values):
            yield from ((replace(statement, values=kept),) for kept in _without_one(values))
        case Update(assignments) if len(assignments) > 1:
            yield from ((replace(statement, assignments=kept),) for kept in _without_one(assignments))
        case Delete(targets) if len(targets) > 1:
            yield from ((replace(statement, targets=kept),) for kept in _without_one(targets))
    if isinstance(statement, Insert | Update) and statement.using.ttl_s is not None:
        yield (replace(statement, using=Using(statement.using.timestamp_us)),)


def _without_one(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    for i in range(len(items)):
        yield items[:i] + items[i + 1 :]


def _with_rounds(script: Script, rounds: Rounds) -> Script:
    """Empty rounds go; a compaction that has lost its round does too."""
    kept = [number for number, statements in enumerate(rounds) if statements]
    after = script.compacted_after
    return replace(
        script,
        rounds=tuple(rounds[number] for number in kept),
        compacted_after=kept.index(after) if after in kept else None,
    )
