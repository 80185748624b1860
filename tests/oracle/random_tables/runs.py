"""Scripts played side by side, and their tables compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flightsrv.config import Settings
from flightsrv.scan.engine import Engine
from tests.oracle.judge import Judge
from tests.oracle.random_tables.answers import Asker
from tests.oracle.random_tables.compare import Comparison, Difference, compare
from tests.oracle.random_tables.node import Played, drop, play
from tests.oracle.random_tables.questions import Question
from tests.oracle.random_tables.scripts import Script
from tests.oracle.random_tables.tables import Table, describe

BATCH_ROWS = 7
"""So that small tables have several batches too."""


@dataclass(frozen=True, slots=True)
class Result:
    """Of one script."""

    played: Played
    comparisons: Mapping[str, Comparison]
    """By table: the table itself, and its view."""

    @property
    def differences(self) -> list[Difference]:
        return [difference for each in self.comparisons.values() for difference in each.differences]


@dataclass(frozen=True)
class Court:
    """A node with what asks it, and a folder to write to."""

    judge: Judge
    asker: Asker
    scratch: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def of(cls, judge: Judge, scratch: Path) -> Court:
        return cls(judge, Asker(judge.cluster), scratch)

    @contextmanager
    def played(self, scripts: Sequence[Script]) -> Iterator[list[tuple[Played, list[Table]]]]:
        """Each script in a keyspace of its own, which is gone afterwards."""
        named = {f"random_{next(self._numbers)}": script for script in scripts}
        played = play(self.judge, named)
        yield [
            (played[keyspace], self._tables(keyspace, script) if played[keyspace].is_created else [])
            for keyspace, script in named.items()
        ]
        drop(self.judge, list(named))

    def _tables(self, keyspace: str, script: Script) -> list[Table]:
        return [describe(self.judge, keyspace, table) for table in script.schema.tables()]

    def results(self, scripts: Sequence[Script], seeds: Sequence[int], like: Question | None = None) -> list[Result]:
        """seeds: of the questions, one a script; like: see `compare`."""
        with self.played(scripts) as all_played, closing(self._engine()) as engine:
            return [
                Result(
                    played,
                    {table.name: compare(engine, self.asker, table, self.scratch, seed, like) for table in tables},
                )
                for seed, (played, tables) in zip(seeds, all_played, strict=True)
            ]

    def _engine(self) -> Engine:
        return Engine(Settings(data=(self.judge.home / "data",), batch_rows=BATCH_ROWS))
