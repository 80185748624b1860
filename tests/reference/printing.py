"""Runs and results in the notation of `text`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tests.reference.markers import Bound, ranges_of_markers
from tests.reference.merge import Shown, ShownRow, merged
from tests.reference.model import LIVE, Cell, Clustering, Complex, Deletion, Marker, Partition, Row
from tests.reference.schema import Schema
from tests.reference.text import DEFAULT_LOCAL_S, DEFAULT_TTL_S, NOW_S, parse_run, schema_of
from tests.reference.types import CqlType


def merged_texts(*runs: str, schema: Schema | None = None, now_s: int = NOW_S, **options: object) -> list[str]:
    """What a SELECT * of the runs shows at `now_s`, a line a row; `options` are those of merge.Table."""
    schema = schema or schema_of(*runs)
    rows = merged([parse_run(run, schema) for run in runs], schema.table(**options), now_s)
    return [line_of_row(row, schema) for row in rows]


def line_of_row(row: ShownRow, schema: Schema) -> str:
    """`k1/c1: s=1@10 a=2@10`; a partition of nothing but static content is `k1/static: s=1@10`."""
    types = schema.column_types
    words = [word for name in types if name in row.columns for word in _shown(name, types[name], row.columns[name])]
    return " ".join([_place(row.key, row.clustering, schema), *words])


def text_of_run(partitions: Iterable[Partition], schema: Schema) -> str:
    """The text that `parse_run` reads as these partitions, items between ` ; `."""
    return " ; ".join(item for partition in partitions for item in _items(partition, schema))


def _items(partition: Partition, schema: Schema) -> Iterator[str]:
    key = text_of(schema.key_type, partition.key)
    if partition.deletion != LIVE:
        yield f"{key} {_deletion(partition.deletion)}"
    if partition.static and partition.static.columns:
        yield " ".join([_place(partition.key, None, schema), *_columns(partition.static, schema.static_types)])
    markers = [each for each in partition.unfiltered if isinstance(each, Marker)]
    for range_ in ranges_of_markers(markers):
        opening = "[" if range_.start.side < 0 else "("
        closing = "]" if range_.end.side > 0 else ")"
        place = f"{opening}{_bound(range_.start, schema)}..{_bound(range_.end, schema)}{closing}"
        yield f"{key}/{place} {_deletion(range_.deletion)}"
    for row in partition.unfiltered:
        if isinstance(row, Row):
            yield " ".join([_place(partition.key, row.clustering, schema), *_row(row, schema.regular_types)])


def _place(key: bytes, clustering: Clustering | None, schema: Schema) -> str:
    """`k1:`, `k1/1,x:`, or `k1/static:` when there is no clustering to tell."""
    place = text_of(schema.key_type, key)
    if clustering is None:
        return f"{place}/static:"
    return f"{place}/{_values(clustering, schema)}:" if clustering else f"{place}:"


def _bound(bound: Bound, schema: Schema) -> str:
    return _values(bound.values, schema)


def _values(clustering: Clustering, schema: Schema) -> str:
    values = zip(schema.clustering_types, clustering, strict=False)
    return ",".join(text_of(type_, value or b"") for type_, value in values)


def _row(row: Row, types: Mapping[str, CqlType]) -> Iterator[str]:
    if row.deletion != LIVE:
        yield _deletion(row.deletion).replace("del", "shadow" if row.is_shadowable else "del")
    if row.liveness:
        yield _time(row.liveness.timestamp_us, row.liveness.expires_s, row.liveness.ttl_s)
    yield from _columns(row, types)


def _columns(row: Row, types: Mapping[str, CqlType]) -> Iterator[str]:
    for name, column in row.columns.items():
        if isinstance(column, Complex) and column.deletion != LIVE:
            yield f"{name}[]={_deletion(column.deletion)}"
        yield from _shown(name, types[name], column if isinstance(column, Cell) else column.cells)


def _shown(name: str, type_: CqlType, shown: Shown) -> Iterator[str]:
    if isinstance(shown, Cell):
        yield f"{name}={_cell(type_, shown)}"
        return
    for cell in shown:
        yield f"{name}[{path_text(type_, cell.path or b'')}]={_cell(type_.args[-1], cell)}"


def _cell(type_: CqlType, cell: Cell) -> str:
    if cell.is_tombstone:
        return _deletion(Deletion(cell.timestamp_us, cell.local_s or 0))
    return text_of(type_, cell.value) + _time(cell.timestamp_us, cell.local_s, cell.ttl_s)


def _time(timestamp_us: int, expires_s: int | None, ttl_s: int) -> str:
    expiry = "" if expires_s is None else f"!{expires_s}"
    return f"@{timestamp_us}{expiry}" + ("" if ttl_s in (0, DEFAULT_TTL_S) else f"~{ttl_s}")


def _deletion(deletion: Deletion) -> str:
    local = "" if deletion.local_s == DEFAULT_LOCAL_S else f"!{deletion.local_s}"
    return f"del@{deletion.marked_at_us}{local}"


def text_of(type_: CqlType, value: bytes) -> str:
    if value == b"":
        return "''"
    if type_.name in ("text", "ascii"):
        return value.decode()
    return value.hex() if type_.name == "blob" else str(int.from_bytes(value, "big", signed=True))


def path_text(type_: CqlType, path: bytes) -> str:
    match type_.name:
        case "list":
            return str(int.from_bytes(path[:4], "big"))
        case "udt":
            return str(int.from_bytes(path, "big"))
        case _:
            return text_of(type_.args[0], path)
