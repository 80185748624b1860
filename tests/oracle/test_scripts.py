"""What seeds stand for, and how scripts are shrunk; no node is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from flightsrv.cql.types import CqlType
from tests.oracle.random_tables.scripts import ROUNDS, Script, draw_script
from tests.oracle.random_tables.shrink import parts_of, script_without, shrunk
from tests.oracle.random_tables.values import LITERALS
from tests.oracle.random_tables.written import read_script

SCRIPTS = [draw_script(seed) for seed in range(60)]
WORDS = [
    *("USING TIMESTAMP", "USING TTL", "AND TTL", "BEGIN BATCH", "BEGIN UNLOGGED", "BEGIN COUNTER", "DROP", "ADD"),
    *("ALTER TYPE", "DESC", "static", "MATERIALIZED VIEW", "counter", "-- compact", "gc_grace_seconds = 0"),
    *("Deflate", "Snappy", "Zstd", "Noop", "default_time_to_live", "= null", ", null", "blob_as_"),
    *(r"IN \(", ">=", "<=", r"\) < \(", r"\) > \(", r"\[\d\] = ", r"\[0\] FROM"),
]


def test_a_seed_stands_for_one_script() -> None:
    assert draw_script(17) == draw_script(17)
    assert draw_script(17) != draw_script(18)


def _kinds(type_: CqlType) -> set[str]:
    kind = ("frozen " if type_.frozen and type_.kind != "tuple" else "") + type_.kind
    return {kind}.union(*map(_kinds, type_.arguments))


def test_every_type_is_drawn() -> None:
    drawn = {kind for script in SCRIPTS for column in script.schema.columns for kind in _kinds(column.type)}
    others = {"list", "set", "map", "udt"}
    assert drawn >= {*LITERALS, *others, *(f"frozen {kind}" for kind in others), "tuple", "vector", "counter"}


@pytest.mark.parametrize("word", WORDS)
def test_every_kind_of_statement_and_option_is_drawn(word: str) -> None:
    assert any(re.search(word, script.cql("ks")) for script in SCRIPTS)


def test_each_round_has_statements() -> None:
    assert all(len(script.rounds) == ROUNDS and all(script.rounds) for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS[:10], ids=range(10))
def test_a_script_is_read_as_it_is_printed(script: Script) -> None:
    read = read_script(script.cql("ks"))
    assert read.cql("other") == script.cql("other")
    assert (read.compacted_after, read.schema.tables()) == (script.compacted_after, script.schema.tables())


def _by(differs: Callable[[Script], bool]) -> Callable[[Sequence[Script]], Sequence[bool]]:
    return lambda scripts: [differs(script) for script in scripts]


@pytest.mark.parametrize("script", SCRIPTS[:10], ids=range(10))
def test_shrinking_finds_the_two_statements_that_matter(script: Script) -> None:
    """With the flush between them, and nothing else."""
    first, last = script.rounds[1][0], script.rounds[4][-1]

    def differs(each: Script) -> bool:
        places = [(number, statement) for number, statements in enumerate(each.rounds) for statement in statements]
        of_first, of_last = ([number for number, each in places if each == wanted] for wanted in (first, last))
        return bool(of_first and of_last) and min(of_first) < max(of_last)

    least = shrunk(script, _by(differs))
    assert least.rounds == ((first,), (last,))
    assert least.compacted_after is least.schema.view is None
    assert least.schema.options == ()


def test_without_any_part_a_script_is_itself_and_without_all_it_is_empty() -> None:
    for script in SCRIPTS:
        assert script_without(script, frozenset()) == script
        assert script_without(script, frozenset(parts_of(script))).rounds == ()


def test_a_column_leaves_with_all_that_speaks_of_it() -> None:
    for script in SCRIPTS:
        script = replace(script, schema=replace(script.schema, view=None))
        for column in script.schema.columns:
            left = script_without(script, frozenset({("column", column.name)}))
            names = [
                name.strip('"') for name in re.findall(r'"?\b[A-Za-z]\w*\b"?', re.sub(r"'[^']*'", "", left.cql("ks")))
            ]
            assert column.name not in names
