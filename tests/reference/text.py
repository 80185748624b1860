"""Tiny SSTables as text: a run is what one SSTable holds, items stand in any order between ` ; ` or line ends.

    k1: a=1@10 b=x@10             a row of a table without clustering columns; its cells at timestamp 10
    k1/2: @10 a=1@10              a row of clustering 2; the lone @10 is its liveness
    k1/2,x: a=1@10                ... of two clustering columns
    k1/2: @10!150~60 a=1@10!150   what expires at second 150; its ttl is 60 s, or 10 s when nothing is said
    k1/2: a=del@10!50             a tombstone, written at second 50; also when nothing is said
    k1/2: del@9 a=''@10           the row was deleted at timestamp 9 (and !50); then an empty value
    k1/2: shadow@9 @10            the row was deleted, but only until a newer liveness comes (old views)
    k1/static: s=1@10             the static row
    k1 del@5                      the partition was deleted
    k1/[1..3) del@20              a range was deleted: [] with, () without the bound; [..3] and (1..] are open to a side
    k1/2: m[k]=1@10 m[]=del@9     an element of a map; a deletion of the whole map
    k1/2: l[0]=1@10 u[1]=x@10     the same for element 0 of a list, field 1 of a UDT; s[k]=''@10 for a set

Texts are read by a schema; without one, every column is text (a map where an element is set), as many clustering
columns as the longest clustering has values, and static what stands in static rows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tests.reference.markers import Bound, RangeDeletion, markers_of, unfiltered_key
from tests.reference.merge import path_key
from tests.reference.model import LIVE, Cell, Clustering, Complex, Deletion, Liveness, Marker, Partition, Row
from tests.reference.ordering import murmur3_token
from tests.reference.schema import Schema
from tests.reference.types import CqlType

NOW_S = 100
DEFAULT_TTL_S = 10
DEFAULT_LOCAL_S = 50
ITEM = re.compile(r"(?P<key>[^/\s:]+)(?:/(?P<place>[^:\s]*))?(?P<colon>:)?(?:\s+(?P<rest>.*))?")
RANGE = re.compile(r"(?P<open>[\[(])(?P<start>.*)\.\.(?P<end>.*)(?P<close>[\])])")
TIME = re.compile(r"@(?P<timestamp>-?\d+)(?:!(?P<local>\d+))?(?:~(?P<ttl>\d+))?")
CELL = re.compile(r"(?P<name>\w+)(?P<element>\[(?P<path>.*)\])?=(?P<value>.*)(?P<time>@[^@]*)")


@dataclass
class _Draft:
    """A partition of which not all items have been read."""

    deletion: Deletion = LIVE
    static: Row | None = None
    rows: dict[Clustering, Row] = field(default_factory=dict)
    ranges: list[RangeDeletion] = field(default_factory=list)


def parse_run(text: str, schema: Schema) -> list[Partition]:
    """The partitions of a run as they would lie in its SSTable: sorted, range deletions as markers."""
    drafts: dict[bytes, _Draft] = defaultdict(_Draft)
    for key, place, is_row, rest in _items(text):
        draft = drafts[bytes_of(schema.key_type, key)]
        if not is_row and place is None:
            draft.deletion = _deletion(rest)
        elif not is_row:
            draft.ranges.append(_range(place or "", rest, schema))
        elif place == "static":
            draft.static = _row((), rest, schema.static_types)
        else:
            clustering = _clustering(place or "", schema)
            assert clustering not in draft.rows, f"{key}/{place} stands twice in one run"
            draft.rows[clustering] = _row(clustering, rest, schema.regular_types)
    keys = sorted(drafts, key=lambda key: (murmur3_token(key), key))
    partitions = [_partition(key, drafts[key], schema) for key in keys]
    return [each for each in partitions if each.deletion != LIVE or each.unfiltered or _has_static(each)]


def _has_static(partition: Partition) -> bool:
    return partition.static is not None and bool(partition.static.columns)


def _items(text: str) -> Iterator[tuple[str, str | None, bool, str]]:
    for item in re.split(r"[;\n]", text):
        if item.strip():
            match = ITEM.fullmatch(item.strip())
            assert match, f"not an item of a run: {item}"
            yield match["key"], match["place"], match["colon"] is not None, match["rest"] or ""


def _partition(key: bytes, draft: _Draft, schema: Schema) -> Partition:
    types = schema.clustering_types
    unfiltered: list[Row | Marker] = [*draft.rows.values(), *markers_of(draft.ranges, types)]
    unfiltered.sort(key=lambda each: unfiltered_key(types, each))
    static = (draft.static or Row(())) if schema.static else None
    return Partition(key, draft.deletion, static, tuple(unfiltered))


def _row(clustering: Clustering, rest: str, types: dict[str, CqlType]) -> Row:
    row = Row(clustering)
    columns: dict[str, Cell | Complex] = {}
    for word in rest.split():
        if word.startswith("@"):
            row = replace(row, liveness=_liveness(word))
        elif word.startswith(("del@", "shadow@")):
            deletion = _deletion(word.replace("shadow", "del"))
            row = replace(row, deletion=deletion, is_shadowable=word.startswith("shadow@"))
        else:
            _add_cell(columns, word, types)
    return replace(row, columns={name: columns[name] for name in types if name in columns})


def _add_cell(columns: dict[str, Cell | Complex], word: str, types: dict[str, CqlType]) -> None:
    match = CELL.fullmatch(word)
    assert match, f"not a cell: {word}"
    name, type_ = match["name"], types[match["name"]]
    if not type_.is_multi_cell:
        columns[name] = _cell(type_, match["value"], match["time"])
        return
    column = columns.get(name, Complex())
    assert isinstance(column, Complex)
    if not match["path"]:
        columns[name] = replace(column, deletion=_deletion(match["value"] + match["time"]))
        return
    path = path_bytes(type_, match["path"])
    cell = replace(_cell(type_.args[-1], match["value"], match["time"]), path=path)
    cells = sorted([*column.cells, cell], key=lambda cell: path_key(type_, cell.path))
    columns[name] = replace(column, cells=tuple(cells))


def _cell(type_: CqlType, value: str, time: str) -> Cell:
    timestamp_us, local_s, ttl_s = _time(time)
    if value == "del":
        return Cell(timestamp_us, local_s=DEFAULT_LOCAL_S if local_s is None else local_s)
    return Cell(timestamp_us, bytes_of(type_, value), ttl_s, local_s)


def _liveness(word: str) -> Liveness:
    timestamp_us, expires_s, ttl_s = _time(word)
    return Liveness(timestamp_us, ttl_s, expires_s)


def _deletion(word: str) -> Deletion:
    assert word.startswith("del@"), f"not a deletion: {word}"
    timestamp_us, local_s, _ = _time(word.removeprefix("del"))
    return Deletion(timestamp_us, DEFAULT_LOCAL_S if local_s is None else local_s)


def _time(text: str) -> tuple[int, int | None, int]:
    """Timestamp, second of expiry or deletion, and ttl."""
    match = TIME.fullmatch(text)
    assert match, f"not a time: {text}"
    local_s = int(match["local"]) if match["local"] else None
    ttl_s = int(match["ttl"] or DEFAULT_TTL_S) if local_s is not None else 0
    return int(match["timestamp"]), local_s, ttl_s


def _range(place: str, rest: str, schema: Schema) -> RangeDeletion:
    match = RANGE.fullmatch(place)
    assert match, f"not a range: {place}"
    start, end = _clustering(match["start"], schema), _clustering(match["end"], schema)
    start_side = -1 if match["open"] == "[" or not start else 1
    end_side = 1 if match["close"] == "]" or not end else -1
    return RangeDeletion(Bound(start, start_side), Bound(end, end_side), _deletion(rest))


def _clustering(text: str, schema: Schema) -> Clustering:
    values = text.split(",") if text else []
    return tuple(bytes_of(type_, value) for type_, value in zip(schema.clustering_types, values, strict=False))


def bytes_of(type_: CqlType, text: str) -> bytes:
    if text == "''":
        return b""
    if type_.name in ("text", "ascii"):
        return text.encode()
    if type_.name == "blob":
        return bytes.fromhex(text)
    return int(text).to_bytes({"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[type_.name], "big", signed=True)


def path_bytes(type_: CqlType, text: str) -> bytes:
    """The path of an element: a key, an element of a set, the n-th timeuuid for a list, a UDT's field by number."""
    match type_.name:
        case "list":
            return int(text).to_bytes(4, "big") + bytes.fromhex("00001000") + bytes(8)
        case "udt":
            return int(text).to_bytes(2, "big")
        case _:
            return bytes_of(type_.args[0], text)


def schema_of(*texts: str) -> Schema:
    """The schema of runs that need no other types than text."""
    columns: dict[bool, dict[str, str]] = {True: {}, False: {}}
    clustering = 0
    for text in texts:
        for _, place, is_row, rest in _items(text):
            is_static = place == "static"
            bounds = [place] if is_row else re.split(r"\.\.", (place or "").strip("[()]"))
            clustering = max([clustering] + [bound.count(",") + 1 for bound in bounds if bound and not is_static])
            for match in map(CELL.fullmatch, rest.split()):
                if match:
                    columns[is_static][match["name"]] = "map<text, text>" if match["element"] else "text"
    return Schema(dict(sorted(columns[False].items())), ("text",) * clustering, dict(sorted(columns[True].items())))
