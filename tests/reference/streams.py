"""Random runs as text, with few keys, clusterings and timestamps, so that ties and overlaps are the rule."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.reference.schema import Schema
from tests.reference.text import DEFAULT_LOCAL_S, NOW_S
from tests.reference.types import CqlType

NO_CLUSTERING = Schema({"a": "text", "b": "int"})
CLUSTERED = Schema({"a": "text", "b": "int"}, ("int", "text desc"), {"s": "text", "t": "bigint"})
DESCENDING = Schema({"a": "text", "b": "int"}, ("int desc",))
COLLECTIONS = Schema(
    {"a": "int", "m": "map<text, int>", "st": "set<int>", "l": "list<text>"}, ("int",), {"sm": "map<int, text>"}
)
SCHEMAS = [NO_CLUSTERING, CLUSTERED, DESCENDING, COLLECTIONS]

KEYS = st.sampled_from(["k1", "k2", "k3"])
TIMESTAMPS = st.integers(1, 4).map(lambda n: 2 * n)
"""Even, so that the deletion of a whole collection, at an odd one, never ties with its elements: what Cassandra shows
then depends on whether the row has one version or more."""
LOCALS = st.sampled_from([f"!{DEFAULT_LOCAL_S}", "!40", "!60"])
EXPIRIES = st.sampled_from([f"!{NOW_S - 1}", f"!{NOW_S}", f"!{NOW_S + 1}", f"!{NOW_S + 1}~20", f"!{NOW_S}~20"])
DEAD_LIVENESS = f"!{NOW_S + 1}~{2**31 - 1}"
VALUES: dict[str, SearchStrategy[str]] = {
    "text": st.sampled_from(["x", "y", "xx", "''"]),
    "int": st.sampled_from(["1", "2", "-1", "''"]),
    "bigint": st.sampled_from(["1", "-1"]),
}
PLACES = st.sampled_from(["1", "2", "3"])
"""Of a list's elements."""


def runs(schema: Schema, count: int = 3) -> SearchStrategy[list[str]]:
    """Up to `count` runs of one table, each a text that `text.parse_run` reads."""
    return st.lists(run(schema), min_size=1, max_size=count)


@st.composite
def run(draw: DrawFn, schema: Schema) -> str:
    items: list[str] = []
    for key in draw(st.lists(KEYS, unique=True, max_size=3)):
        items += draw(_partition(key, schema))
    return " ; ".join(items)


@st.composite
def _partition(draw: DrawFn, key: str, schema: Schema) -> list[str]:
    items = [f"{key} {deletion}" for deletion in draw(_seldom(_deletions()))]
    if schema.static:
        items += [f"{key}/static: {cells}" for cells in draw(_seldom(_cells(schema.static_types).filter(bool)))]
    if schema.clustering:
        ranges = st.lists(st.builds("{}/{} {}".format, st.just(key), _ranges(schema), _deletions()), max_size=2)
        items += draw(ranges)
    for place in draw(st.lists(_clusterings(schema), unique=True, max_size=4)):
        items.append(f"{key}/{place}: {draw(_rows(schema))}" if place else f"{key}: {draw(_rows(schema))}")
    return items


@st.composite
def _rows(draw: DrawFn, schema: Schema) -> str:
    words = draw(_seldom(st.one_of(_deletions(), _deletions().map(lambda word: word.replace("del", "shadow")))))
    for timestamp in draw(_often(TIMESTAMPS)):
        words.append(f"@{timestamp}" + draw(st.one_of(st.just(""), EXPIRIES, st.just(DEAD_LIVENESS))))
    words.append(draw(_cells(schema.regular_types)))
    return " ".join(words)


@st.composite
def _cells(draw: DrawFn, types: dict[str, CqlType]) -> str:
    words: list[str] = []
    for name, type_ in types.items():
        if not type_.is_multi_cell:
            words += [f"{name}={cell}" for cell in draw(_often(_cell(type_.name)))]
            continue
        for odd in draw(_seldom(TIMESTAMPS.map(lambda even: even - 1))):
            words.append(f"{name}[]=del@{odd}")
        paths = PLACES if type_.name == "list" else VALUES[type_.args[0].name].filter(lambda path: path != "''")
        elements = draw(st.lists(paths, unique=True, max_size=2))
        value = "''" if type_.name == "set" else None
        words += [f"{name}[{path}]={draw(_cell(type_.args[-1].name, value))}" for path in elements]
    return " ".join(words)


@st.composite
def _cell(draw: DrawFn, type_name: str, value: str | None = None) -> str:
    timestamp = draw(TIMESTAMPS)
    if draw(st.integers(0, 3)) == 0:
        return f"del@{timestamp}{draw(LOCALS)}"
    expiry = draw(st.one_of(st.just(""), EXPIRIES))
    return f"{draw(VALUES[type_name]) if value is None else value}@{timestamp}{expiry}"


def _deletions() -> SearchStrategy[str]:
    return st.builds("del@{}{}".format, TIMESTAMPS, LOCALS)


@st.composite
def _ranges(draw: DrawFn, schema: Schema) -> str:
    start, end = draw(_prefixes(schema)), draw(_prefixes(schema))
    return f"{draw(st.sampled_from('[('))}{start}..{end}{draw(st.sampled_from('])'))}"


@st.composite
def _prefixes(draw: DrawFn, schema: Schema) -> str:
    values = draw(_clusterings(schema)).split(",")
    return ",".join(values[: draw(st.integers(0, len(values)))])


def _clusterings(schema: Schema) -> SearchStrategy[str]:
    by_type = {"int": st.sampled_from(["1", "2", "3"]), "text": st.sampled_from(["x", "y"])}
    return st.tuples(*(by_type[type_.name] for type_ in schema.clustering_types)).map(",".join)


def _seldom(strategy: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    return st.one_of(st.just([]), st.just([]), st.lists(strategy, min_size=1, max_size=1))


def _often(strategy: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    return st.one_of(st.lists(strategy, min_size=1, max_size=1), st.lists(strategy, max_size=1))
