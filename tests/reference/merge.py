"""What SELECT * shows at a second of all SSTables together: collect everything, then decide row by row, cell by cell.

The rules are those of Cassandra 4.0 to 5.0, in plain words:

- A deletion deletes what was written at or before its time. Of two deletions the later counts; at the same time the
  one with the later local deletion time.
- Of two cells of the same place the later wins. At the same time a cell that expires or is a tombstone beats one that
  is neither, a tombstone beats one that expires, then the later local deletion time wins, then the greater bytes.
- None of this looks at the clock. Only at the very end, what is dead at `now_s` is taken away: an expired cell that
  won still hides the older value.
- A row is shown when its liveness is alive or any of its cells is; with strict liveness (some views) only by the first.

Source: org.apache.cassandra.db.rows.Row.Merger, Cells, org.apache.cassandra.db.LivenessInfo,
org.apache.cassandra.db.context.CounterContext.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from tests.reference.counters import merged_context
from tests.reference.model import (
    EXPIRED_LIVENESS_TTL_S,
    LIVE,
    MIN_I64,
    Cell,
    Clustering,
    Complex,
    Deletion,
    Liveness,
    Marker,
    Partition,
    Row,
)
from tests.reference.ordering import clustering_key, is_above, token, value_key
from tests.reference.types import CqlType

Shown = Cell | tuple[Cell, ...]
"""The live cell of a simple column; the live cells of a complex one, in the order of their paths."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a merge must know beside the partitions themselves."""

    partitioner: str = "Murmur3Partitioner"
    key_type: CqlType | None = None
    clustering: tuple[CqlType, ...] = ()
    types: Mapping[str, CqlType] = field(default_factory=dict)
    """Static and regular columns."""
    dropped_us: Mapping[str, int] = field(default_factory=dict)
    """Column to the time of its DROP: what was written at or before it is ignored."""
    has_strict_liveness: bool = False


@dataclass(frozen=True, slots=True)
class ShownRow:
    key: bytes
    clustering: Clustering | None
    """None for the one row of a partition that has nothing but static content."""
    columns: dict[str, Shown]
    """Static and regular columns that are not null."""


def merged(runs: Sequence[Iterable[Partition]], table: Table, now_s: int) -> list[ShownRow]:
    """Rows of all runs at `now_s`, by token, key and clustering. 0 is "as if nothing had expired"."""
    versions: dict[bytes, list[Partition]] = defaultdict(list)
    for run in runs:
        for partition in run:
            versions[partition.key].append(partition)
    keys = sorted(versions, key=lambda key: (token(table.partitioner, key, table.key_type), key))
    return [row for key in keys for row in _partition(key, versions[key], table, now_s)]


def _partition(key: bytes, versions: list[Partition], table: Table, now_s: int) -> Iterator[ShownRow]:
    deletion = max(version.deletion for version in versions)
    static_rows = [version.static for version in versions if version.static]
    _, static = _row(static_rows, deletion, table, now_s)
    ranges = [range_ for version in versions for range_ in ranges_of(version, table.clustering)]
    all_rows = [row for version in versions for row in version.unfiltered if isinstance(row, Row)]

    def place(row: Row) -> tuple[Any, ...]:
        return clustering_key(table.clustering, row.clustering)

    is_shown = False
    for row_key, group in groupby(sorted(all_rows, key=place), key=place):
        rows = list(group)
        covering = [range_.deletion for range_ in ranges if range_.covers(row_key)]
        is_alive, columns = _row(rows, max([deletion, *covering]), table, now_s)
        if is_alive or (columns and not table.has_strict_liveness):
            is_shown = True
            yield ShownRow(key, rows[0].clustering, {**static, **columns})
    if static and not is_shown:
        yield ShownRow(key, None, static)


@dataclass(frozen=True, slots=True)
class Range:
    """A range deletion of one SSTable: from one bound to another, as keys of `clustering_key`."""

    start_kind: int
    start_key: tuple[Any, ...]
    end_kind: int
    end_key: tuple[Any, ...]
    deletion: Deletion

    def covers(self, row_key: tuple[Any, ...]) -> bool:
        is_after_start = is_above(row_key, self.start_kind, self.start_key)
        return is_after_start and not is_above(row_key, self.end_kind, self.end_key)


def ranges_of(partition: Partition, clustering: Sequence[CqlType]) -> list[Range]:
    """The range deletions that a partition's markers open and close; they never nest in one SSTable."""
    ranges = []
    opened: Marker | None = None
    for marker in partition.unfiltered:
        if isinstance(marker, Row):
            continue
        key = clustering_key(clustering, marker.values)
        if opened and opened.starts:
            start_key = clustering_key(clustering, opened.values)
            ranges.append(Range(opened.kind, start_key, marker.kind, key, opened.starts))
        opened = marker if marker.starts else None
    return ranges


def _row(versions: list[Row], above: Deletion, table: Table, now_s: int) -> tuple[bool, dict[str, Shown]]:
    """Whether the row's liveness is alive, and its live columns. `above`: the deletion of its partition or ranges."""
    versions = [_without_own_shadow(version) for version in versions]
    liveness = max((version.liveness for version in versions if version.liveness), key=_liveness_rank, default=None)
    deletion, is_shadowable = max(
        ((version.deletion, version.is_shadowable) for version in versions), default=(LIVE, False)
    )
    if is_shadowable and liveness and liveness.timestamp_us > deletion.marked_at_us:
        deletion = LIVE
    active = max(above, deletion)
    is_alive = liveness is not None and not active.deletes(liveness.timestamp_us) and _is_live_liveness(liveness, now_s)
    columns: dict[str, Shown] = {}
    for name in {name: None for version in versions for name in version.columns}:
        parts = [version.columns[name] for version in versions if name in version.columns]
        shown = _column(parts, name, active, table, now_s, is_only_version=len(versions) == 1)
        if shown:
            columns[name] = shown
    return is_alive, columns


def _without_own_shadow(row: Row) -> Row:
    """A shadowable deletion ends with a newer liveness of its own row already while the row is read."""
    is_ended = row.is_shadowable and row.liveness and row.liveness.timestamp_us > row.deletion.marked_at_us
    return replace(row, deletion=LIVE, is_shadowable=False) if is_ended else row


def _column(
    parts: Sequence[Cell | Complex], name: str, active: Deletion, table: Table, now_s: int, is_only_version: bool
) -> Shown | None:
    dropped_us = table.dropped_us.get(name, MIN_I64)
    simple = [part for part in parts if isinstance(part, Cell)]
    if simple:
        cell = _reconciled(simple, active, dropped_us, table.types[name])
        return cell if cell and is_live(cell, now_s) else None
    return _complex(
        [part for part in parts if isinstance(part, Complex)],
        active,
        dropped_us,
        table.types[name],
        now_s,
        is_only_version,
    )


def _complex(
    parts: list[Complex], active: Deletion, dropped_us: int, type_: CqlType, now_s: int, is_only_version: bool
) -> tuple[Cell, ...]:
    deletion = max(part.deletion if part.deletion.marked_at_us > dropped_us else LIVE for part in parts)
    if is_only_version and active == LIVE:
        # One row of one SSTable is shown as it was read, and reading keeps cells as old as the deletion.
        deletion = Deletion(deletion.marked_at_us - 1, deletion.local_s)
    by_path: dict[bytes | None, list[Cell]] = defaultdict(list)
    for part in parts:
        for cell in part.cells:
            by_path[cell.path].append(cell)
    winners = [_reconciled(cells, max(active, deletion), dropped_us, type_) for cells in by_path.values()]
    live = [cell for cell in winners if cell and is_live(cell, now_s)]
    return tuple(sorted(live, key=lambda cell: path_key(type_, cell.path)))


def _reconciled(cells: list[Cell], active: Deletion, dropped_us: int, type_: CqlType) -> Cell | None:
    left = [cell for cell in cells if not active.deletes(cell.timestamp_us) and cell.timestamp_us > dropped_us]
    if not left:
        return None
    if type_.name == "counter":
        return _reconciled_counter(left)
    return max(left, key=cell_rank)


def cell_rank(cell: Cell) -> tuple[int, bool, bool, int, bytes]:
    """Of two cells of the same place, the one that ranks higher wins."""
    return cell.timestamp_us, cell.local_s is not None, cell.is_tombstone, cell.local_s or 0, cell.value


def _reconciled_counter(cells: list[Cell]) -> Cell:
    """A tombstone beats any count, whatever the timestamps; counts are added up by who counted."""
    tombstones = [cell for cell in cells if cell.is_tombstone]
    if tombstones:
        return max(tombstones, key=cell_rank)
    timestamp_us = max(cell.timestamp_us for cell in cells)
    return Cell(timestamp_us, merged_context([cell.value for cell in cells]))


def _liveness_rank(liveness: Liveness) -> tuple[int, bool, bool, int]:
    is_tombstone = liveness.ttl_s == EXPIRED_LIVENESS_TTL_S
    return liveness.timestamp_us, is_tombstone, liveness.ttl_s > 0, liveness.expires_s or 0


def _is_live_liveness(liveness: Liveness, now_s: int) -> bool:
    if liveness.ttl_s == EXPIRED_LIVENESS_TTL_S or liveness.timestamp_us == MIN_I64:
        return False
    return liveness.expires_s is None or now_s < liveness.expires_s


def is_live(cell: Cell, now_s: int) -> bool:
    return not cell.is_tombstone and (cell.local_s is None or now_s < cell.local_s)


def path_key(type_: CqlType, path: bytes | None) -> tuple[Any, ...]:
    """Sorts the cells of a complex column: lists by time, sets and maps by element and key, UDTs by field."""
    if type_.name == "list":
        return value_key(CqlType("timeuuid"), path)
    return value_key(CqlType("smallint") if type_.name == "udt" else type_.args[0], path)
