"""The command line: play seeds, and print the least script of each that differs."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

import click

from tests.oracle.judge import FORMATS, Judge
from tests.oracle.random_tables.runs import Court, Result
from tests.oracle.random_tables.saving import save
from tests.oracle.random_tables.scripts import Script, draw_script
from tests.oracle.random_tables.shrink import shrunk
from tests.oracle.random_tables.written import read_script

SEEDS_AT_ONCE = 12


@dataclass(slots=True)
class Tally:
    """What a run has seen."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    """Of statements, by Cassandra."""
    not_served: Counter[str] = field(default_factory=Counter)
    """Tables, by us."""

    def add(self, seed: int, result: Result) -> None:
        self.counts["schemas"] += 1
        self.counts["statements"] += sum(map(len, result.played.accepted))
        self.counts["different"] += bool(result.differences)
        self.refusals += result.played.refusals
        for comparison in result.comparisons.values():
            self.counts["tables"] += 1
            self.counts["fewest SSTables"] = min(self.counts["fewest SSTables"] or 99, comparison.sstables)
            self.counts["SSTables"] += comparison.sstables
            self.counts["answers"] += comparison.answers
            self.counts["rows"] += comparison.rows
            if comparison.refusal:
                self.not_served[comparison.refusal.split(" is ")[-1]] += 1
        if not result.played.is_created:
            click.echo(f"seed {seed}: Cassandra does not take the schema: {result.played.refusals}", err=True)

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {what}" for what, count in self.counts.items())
        refused, not_served = sum(self.refusals.values()), sum(self.not_served.values())
        return f"{counts}, {refused} statements refused by Cassandra, {not_served} tables not served"


@click.command(help=__doc__)
@click.option("--format", "version", type=click.Choice(list(FORMATS)), default="nb", show_default=True)
@click.option("--seed", default=0, help="The first one.", show_default=True)
@click.option("--count", default=1, help="Seeds.", show_default=True)
@click.option("--shrink/--no-shrink", default=True, show_default=True)
@click.option("--cql", type=click.File(), help="A script as it is printed, instead of seeds.")
@click.option("--save", "name", help="Add the tables of --cql to tests/data, under this name.")
@click.option("--notes", default="", help="What the saved set shows.")
def main(version: str, seed: int, count: int, shrink: bool, cql: TextIO | None, name: str | None, notes: str) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the node ends too
    with tempfile.TemporaryDirectory(prefix="random-tables-") as folder:
        home, scratch = Path(folder, "node"), Path(folder, "scratch")
        home.mkdir()
        scratch.mkdir()
        with Judge.started(version, home) as judge:
            court = Court.of(judge, scratch)
            if cql is None:
                is_different = _play_seeds(court, range(seed, seed + count), shrink)
            else:
                is_different = _play_script(court, read_script(cql.read()), name, notes)
    sys.exit(is_different)


def _play_seeds(court: Court, seeds: range, shrink: bool) -> bool:
    began, tally = time.monotonic(), Tally()
    for start in range(0, len(seeds), SEEDS_AT_ONCE):
        some = seeds[start : start + SEEDS_AT_ONCE]
        _some(court, some, tally, shrink)
        click.echo(f"seeds {seeds[0]} to {some[-1]}: {tally}", err=True)
    for kind in (tally.refusals, tally.not_served):
        for reason, times in kind.most_common(12):
            click.echo(f"{times:6} {reason}", err=True)
    spent_s = time.monotonic() - began
    click.echo(f"{court.judge.version}, seeds {seeds[0]} to {seeds[-1]}: {tally}, {spent_s:.0f} s")
    return tally.counts["different"] > 0


def _play_script(court: Court, script: Script, name: str | None, notes: str) -> bool:
    (result,) = court.results([script], [0])
    click.echo("\n".join(map(str, [*result.played.refusals, *result.differences])) or "no difference")
    if name:
        click.echo("\n".join(map(str, save(court, script, name, notes))))
    return bool(result.differences)


def _some(court: Court, seeds: range, tally: Tally, shrink: bool) -> None:
    scripts = [draw_script(seed) for seed in seeds]
    for seed, script, result in zip(seeds, scripts, court.results(scripts, seeds), strict=True):
        tally.add(seed, result)
        if result.differences:
            click.echo(f"seed {seed} differs\n" + "\n".join(map(str, result.differences)))
            script = replace(script, rounds=tuple(result.played.accepted))
            click.echo(_least(court, script, seed, result) if shrink else script.cql("ks"))


def _least(court: Court, script: Script, seed: int, result: Result) -> str:
    """The shrunk script, and how it differs."""
    like = result.differences[0].question

    def differ(scripts: Sequence[Script]) -> list[bool]:
        found = [bool(each.differences) for each in court.results(scripts, [seed] * len(scripts), like)]
        sizes = ", ".join(
            f"{sum(map(len, each.rounds))}{'!' * is_it}" for each, is_it in zip(scripts, found, strict=True)
        )
        click.echo(f"shrinking: statements {sizes}", err=True)
        return found

    least = shrunk(script, differ)
    (result,) = court.results([least], [seed], like)
    return "\n".join([least.cql("ks"), *map(str, result.differences)])


if __name__ == "__main__":
    main()
