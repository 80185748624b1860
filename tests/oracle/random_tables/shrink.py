"""The least script that still differs.

A script is taken for a set of parts; what can be left away is found by delta debugging: halves of the parts first, then
ever fewer at once, in the end each alone. Candidates are played side by side, some at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tests.oracle.random_tables.scripts import Script
from tests.oracle.random_tables.statements import Batch, Delete, Insert, Statement, Update, without

AT_ONCE = 12

Part: TypeAlias = tuple[object, ...]
"""What it is, and which: ("statement", round, place), ("term", round, place, which), ("flush", round), …"""
Differ: TypeAlias = Callable[[Sequence[Script]], Sequence[bool]]


def shrunk(script: Script, differ: Differ) -> Script:
    """The script without all that it differs without too. differ: says of each script whether it differs."""
    parts = list(parts_of(script))
    gone: frozenset[Part] = frozenset()
    size = len(parts) // 2
    while size:
        before = gone
        left = [part for part in parts if part not in gone]
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        for start in range(0, len(chunks), AT_ONCE):
            gone = _with_more_gone(script, gone, chunks[start : start + AT_ONCE], differ)
        if gone == before or size > 1:
            size //= 2
    return script_without(script, gone)


def _with_more_gone(script: Script, gone: frozenset[Part], chunks: list[list[Part]], differ: Differ) -> frozenset[Part]:
    """All of the chunks that may go one by one, if they may go together, else the first of them."""
    candidates = [gone.union(chunk) for chunk in chunks]
    differing = differ([script_without(script, each) for each in candidates])
    fit = [each for each, is_different in zip(candidates, differing, strict=True) if is_different]
    together = gone.union(*fit)
    if len(fit) > 1 and differ([script_without(script, together)])[0]:
        return together
    return fit[0] if fit else gone


def parts_of(script: Script) -> Iterator[Part]:
    """Large ones first: parts of a part that is gone do not matter."""
    if script.schema.view:
        yield ("view",)
    if script.compacted_after is not None:
        yield ("compaction",)
    for number, statements in enumerate(script.rounds):
        yield from (("statement", number, place) for place in range(len(statements)))
    yield from (("flush", number) for number in range(len(script.rounds) - 1))
    yield from (("column", column.name) for column in script.schema.columns)
    yield from (("type", type_.name) for type_ in script.schema.user_types)
    yield from (("option", option) for option in script.schema.options)
    for number, statements in enumerate(script.rounds):
        for place, statement in enumerate(statements):
            yield from (("term", number, place, which) for which in range(len(_terms(statement))))


def script_without(script: Script, gone: frozenset[Part]) -> Script:
    """What remains. Whether it makes sense, Cassandra will say."""
    schema = script.schema
    columns = [column for column in schema.columns if ("column", column.name) in gone]
    rounds: list[tuple[Statement, ...]] = [()]
    after = None
    for number, statements in enumerate(script.rounds):
        for place, statement in enumerate(statements):
            kept = None if ("statement", number, place) in gone else _without_terms(statement, number, place, gone)
            for column in columns:
                kept = None if kept is None else without(kept, column.name)
            rounds[-1] += () if kept is None else (kept,)
        if number == script.compacted_after and ("compaction",) not in gone and rounds[-1]:
            after = len(rounds) - 1
        if ("flush", number) not in gone and rounds[-1]:
            rounds.append(())
    schema = replace(
        schema,
        columns=tuple(column for column in schema.columns if column not in columns),
        user_types=tuple(type_ for type_ in schema.user_types if ("type", type_.name) not in gone),
        options=tuple(option for option in schema.options if ("option", option) not in gone),
        view=None if ("view",) in gone else schema.view,
    )
    return Script(schema, tuple(statements for statements in rounds if statements), after)


def _terms(statement: Statement) -> Sequence[object]:
    """What a statement can lose."""
    match statement:
        case Insert(values=terms) | Update(assignments=terms) | Delete(targets=terms) | Batch(writes=terms):
            return terms
        case _:
            return ()


def _without_terms(statement: Statement, number: int, place: int, gone: frozenset[Part]) -> Statement | None:
    terms = _terms(statement)
    kept = tuple(term for which, term in enumerate(terms) if ("term", number, place, which) not in gone)
    if len(kept) == len(terms):
        return statement
    match statement:
        case Insert() if kept:
            return replace(statement, values=kept)
        case Update() if kept:
            return replace(statement, assignments=kept)
        case Delete() if kept:
            return replace(statement, targets=kept)
        case Batch() if kept:
            return replace(statement, writes=kept)
        case _:
            return None
