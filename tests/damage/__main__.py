"""Damage the components of SSTables, and count what scans make of it.

python -m tests.damage [--all] [--table NAME] [--component NAME]
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from tests.damage.damages import Damage, every, some
from tests.damage.outcomes import ERROR, SAME, UNNOTICED, WRONG, bounded_memory, peak_bytes
from tests.damage.tables import TABLES
from tests.damage.trial import Trial

KINDS = (SAME, ERROR, UNNOTICED, WRONG)


@click.command()
@click.option("--all", "is_all", is_flag=True, help="Every prefix and every bit; else some of them.")
@click.option("--table", "tables", multiple=True, type=click.Choice(list(TABLES)))
@click.option("--component", "components", multiple=True, help="Such as Index.db; else all.")
@click.option("--field", default="", help="A regular expression: only damage that begins in such a field.")
@click.option("--show", default=2, help="Of each field, how many wrong outcomes are shown.")
def main(is_all: bool, tables: tuple[str, ...], components: tuple[str, ...], field: str, show: int) -> None:
    wrong = 0
    for name in tables or TABLES:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).mkdir()
            trial = Trial(TABLES[name](Path(folder) / name))
            for file in trial.files():
                if not components or file.endswith(components):
                    wrong += _try(trial, file, _chosen(trial, file, is_all, field), show)
    raise SystemExit(1 if wrong else 0)


def _chosen(trial: Trial, file: str, is_all: bool, field: str) -> Iterator[Damage]:
    size = trial.size_of(file)
    for damage in every(size) if is_all else some(size, 500):
        if not field or re.match(field, trial.field(file, damage)):
            yield damage


def _try(trial: Trial, file: str, damages: Iterable[Damage], show: int) -> int:
    """Two lines of counts. Returns how many outcomes were wrong."""
    counts: Counter[tuple[bool, str]] = Counter()
    wrong_fields: Counter[str] = Counter()
    before, started = peak_bytes(), time.process_time()
    with bounded_memory():
        for damage in damages:
            for question, found in trial.outcomes(file, damage):
                counts[damage.is_cut, found.kind] += 1
                if found.kind != WRONG:
                    continue
                field = trial.field(file, damage)
                wrong_fields[field] += 1
                if wrong_fields[field] <= show:
                    click.echo(f"  {damage}, {field}: {question}: {found.text[:300]}")
    took_s, grown = time.process_time() - started, peak_bytes() - before
    for is_cut in (True, False):
        text = ", ".join(f"{counts[is_cut, kind]} {kind}" for kind in KINDS)
        click.echo(f"{trial.name} {file} {'cuts' if is_cut else 'flips'}: {text}")
    click.echo(f"  {trial.size_of(file)} bytes, {took_s:.1f} CPU-s, memory grew by {grown >> 20} MiB")
    for field, count in wrong_fields.items():
        click.echo(f"  {count} wrong: {field}")
    return wrong_fields.total()


if __name__ == "__main__":
    main()
