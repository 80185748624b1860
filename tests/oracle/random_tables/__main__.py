"""The command line: play seeds, and print the least script of each that differs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from tests.oracle.judge import FORMATS, Judge
from tests.oracle.random_tables.runs import Court, Result
from tests.oracle.random_tables.scripts import Script, draw_script
from tests.oracle.random_tables.shrink import shrunk

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
def main(version: str, seed: int, count: int, shrink: bool) -> None:
    began, tally = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory(prefix="random-tables-") as folder:
        home, scratch = Path(folder, "node"), Path(folder, "scratch")
        home.mkdir()
        scratch.mkdir()
        with Judge.started(version, home) as judge:
            court = Court.of(judge, scratch)
            for first in range(seed, seed + count, SEEDS_AT_ONCE):
                _some(court, range(first, min(first + SEEDS_AT_ONCE, seed + count)), tally, shrink)
                click.echo(f"{version}, seeds {seed} to {first + SEEDS_AT_ONCE - 1}: {tally}", err=True)
    for kind in (tally.refusals, tally.not_served):
        for reason, times in kind.most_common(12):
            click.echo(f"{times:6} {reason}", err=True)
    click.echo(f"{version}, seeds {seed} to {seed + count - 1}: {tally}, {time.monotonic() - began:.0f} s")
    sys.exit(bool(tally.counts["different"]))


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
