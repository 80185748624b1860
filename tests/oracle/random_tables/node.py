"""Scripts played on a node: many side by side, a flush of all after each round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from cassandra import AlreadyExists, InvalidRequest
from cassandra.policies import FallthroughRetryPolicy
from cassandra.protocol import ConfigurationException, ServerError, SyntaxException
from cassandra.query import SimpleStatement

from tests.oracle.judge import Judge
from tests.oracle.random_tables.scripts import Script
from tests.oracle.random_tables.statements import Statement

SIDE_BY_SIDE = 6
"""Scripts; the statements of each go one after the other."""
REFUSALS = (InvalidRequest, SyntaxException, ConfigurationException, AlreadyExists, ServerError)
"""Also a ClassCastException, which some statements that make no sense cause before anything is written."""
_KEYSPACE = "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"


@dataclass(slots=True)
class Played:
    """What became of a script's statements."""

    is_created: bool = True
    """Cassandra took the schema. Else nothing was played."""
    accepted: list[tuple[Statement, ...]] = field(default_factory=list)
    """A round each: what Cassandra took. Random statements may be wrong, as an index behind a list's end is."""
    refusals: Counter[str] = field(default_factory=Counter)
    """By reason."""


def play(judge: Judge, scripts: Mapping[str, Script]) -> dict[str, Played]:
    """Run each script in a keyspace of its name."""
    played = {keyspace: _create(judge, keyspace, script) for keyspace, script in scripts.items()}
    created = {keyspace: script for keyspace, script in scripts.items() if played[keyspace].is_created}
    for number in range(max((len(script.rounds) for script in created.values()), default=0)):
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            running = [
                pool.submit(_play_round, judge, keyspace, script.rounds[number], played[keyspace])
                for keyspace, script in created.items()
                if number < len(script.rounds)
            ]
        for each in running:
            each.result()
        judge.nodetool("flush")
        for keyspace, script in created.items():
            if script.compacted_after == number:
                judge.nodetool("compact", keyspace, *script.schema.tables())
    return played


def _create(judge: Judge, keyspace: str, script: Script) -> Played:
    played = Played()
    try:
        for statement in (_KEYSPACE.format(keyspace), *script.schema.cql(keyspace)):
            judge.session.execute(statement)
    except REFUSALS as error:
        played.is_created = False
        played.refusals[_reason(error)] += 1
    return played


def _play_round(judge: Judge, keyspace: str, statements: Sequence[Statement], played: Played) -> None:
    accepted = []
    for statement in statements:
        try:
            judge.session.execute(SimpleStatement(statement.cql(keyspace), retry_policy=FallthroughRetryPolicy()))
            accepted.append(statement)
        except REFUSALS as error:
            played.refusals[_reason(error)] += 1
    played.accepted.append(tuple(accepted))


def _reason(error: Exception) -> str:
    return str(getattr(error, "message", error))[:200]


def drop(judge: Judge, keyspaces: Sequence[str]) -> None:
    for keyspace in keyspaces:
        judge.session.execute(f"DROP KEYSPACE {keyspace}")
