"""Runs in the reference's notation through stages 3 and 4: bytes in windows of any size, decoded, merged, as text.

Rows are shown as the reference shows them but without times: `k1/2,x: s=1 a=2`. Whoever reads a window or a slab after
its time reads nonsense: memory that is given back is overwritten at once.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flightsrv.cql.elements import collection_elements, join_collection
from flightsrv.kernels.run import RunHeader
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import BufferPool, Selection, SlabPart, Slabs, Window, allocate_slabs
from flightsrv.stages.decode import Run
from flightsrv.stages.merge import merge
from flightsrv.telemetry.clocks import Clock
from tests.reference.encoder import encode
from tests.reference.merge import Shown, ShownRow, merged
from tests.reference.model import Cell, Partition
from tests.reference.printing import text_of
from tests.reference.schema import Schema
from tests.reference.text import NOW_S, parse_run
from tests.reference.types import CqlType
from tests.stages.tables import prepared, rules_of


@dataclass(frozen=True)
class Sizes:
    """How small everything is cut."""

    slab_rows: int = 64
    window_bytes: int = 1 << 20
    head_room: int = 0


LARGE = Sizes()


class PoisonPool(BufferPool):
    """Memory that is given back turns to nonsense."""

    def give(self, buffer: np.ndarray) -> None:
        buffer[:] = 0xEE


POOL = PoisonPool()


def window_of(data: bytes, position: int, head_room: int = 0) -> Window:
    """A window that ends where its memory does, SLACK bytes of ones behind it."""
    memory = np.full(head_room + len(data) + SLACK, 0xFF, np.uint8)
    memory[head_room : head_room + len(data)] = np.frombuffer(data, np.uint8)
    return Window(memory, head_room, head_room + len(data), position, POOL)


def windows_cut_at(data: bytes, cuts: Iterable[int], head_room: int = 0) -> Iterator[Window]:
    """The data in windows that end at these positions."""
    start = 0
    for cut in [*cuts, len(data)]:
        if cut > start:
            yield window_of(data[start:cut], start, head_room)
            start = cut


def windows_of(data: bytes, sizes: Sizes) -> Iterator[Window]:
    return windows_cut_at(data, range(sizes.window_bytes, len(data), sizes.window_bytes), sizes.head_room)


def encoded(run: str | Sequence[Partition], schema: Schema, version: str = "nb") -> bytes:
    """A run's uncompressed Data.db."""
    return encode(parse_run(run, schema) if isinstance(run, str) else run, schema.header(version))


def scanned(runs: Sequence[bytes], schema: Schema, now_s: int = NOW_S, **how: Any) -> list[str]:
    """The rows that stages 3 and 4 show of runs of Data.db; `how` is that of `selections`."""
    found = selections(runs, schema, now_s, **how)
    return [line for selection in found for line in lines_of(selection, how.get("table") or schema)]


def selections(
    runs: Sequence[bytes],
    schema: Schema,
    now_s: int = NOW_S,
    sizes: Sizes = LARGE,
    version: str = "nb",
    table: Schema | None = None,
    partitioner: str = "Murmur3Partitioner",
    with_times: bool = False,
    **options: Any,
) -> Iterator[Selection]:
    """What merge yields for runs of Data.db.

    `table`: the table's schema where it is not that of the files; with_times: as for a scan with tombstones; `options`
    are those of the reference's merge.Table.
    """
    stored = replace(schema.header(version), partitioner=partitioner)
    engine, header = prepared(schema, stored, table, options)
    slabs = allocate_slabs(len(runs), len(engine.clustering), len(engine.static + engine.regular), sizes.slab_rows)
    parts = [_parts(windows_of(run, sizes), header, slabs.of(i)) for i, run in enumerate(runs)]
    return merge(parts, slabs, rules_of(engine, schema, stored, len(runs), now_s, with_times), Clock("merge"))


def _parts(windows: Iterator[Window], header: RunHeader, slab: Slabs) -> Iterator[SlabPart]:
    for part in Run("nb-1-big-Data.db", header, slab, Clock("decode")).decode(windows):
        yield part
        for array in (slab.at, slab.rows, slab.cell_us, slab.partitions):
            array[:] = 1  # whatever still reads this slab falls over


def lines_of(selection: Selection, schema: Schema) -> Iterator[str]:
    """A selection's rows as text."""
    clusterings = len(schema.clustering)
    for values in rows_of(selection):
        clustering = values[1 : 1 + clusterings]
        is_static = clusterings > 0 and all(value is None for value in clustering)
        cells = dict(zip(schema.column_types, values[1 + clusterings :], strict=True))
        yield line(values[0] or b"", None if is_static else clustering, cells, schema)


def rows_of(selection: Selection) -> Iterator[list[bytes | None]]:
    """A selection's values, row by row."""
    for row in range(selection.start, selection.stop):
        places = zip(selection.at[:, row].tolist(), selection.size[:, row].tolist(), strict=True)
        yield [None if size < 0 else ctypes.string_at(at, size) for at, size in places]


def line(key: bytes, clustering: Sequence[bytes | None] | None, cells: dict[str, bytes | None], schema: Schema) -> str:
    """A row as text; a clustering of None is that of a row of nothing but static values."""
    place = text_of(schema.key_type, key)
    if clustering is None:
        place += "/static"
    elif clustering:
        values = zip(schema.clustering_types, clustering, strict=True)
        place += "/" + ",".join("null" if value is None else text_of(type_, value) for type_, value in values)
    shown = [(name, schema.column_types[name], value) for name, value in cells.items() if value is not None]
    return " ".join([f"{place}:", *(word for each in shown for word in _words(*each))])


def _words(name: str, type_: CqlType, value: bytes) -> Iterator[str]:
    """`a=1`; `m[x]=1 m[y]=2` of a non-frozen collection; places in a list are not told by its value."""
    if not type_.is_multi_cell:
        yield f"{name}={text_of(type_, value)}"
        return
    parts = iter(collection_elements(value, 2 if type_.name == "map" else 1))
    for part in parts:
        path = "" if type_.name == "list" else text_of(type_.args[0], part or b"")
        element = {"list": part, "set": b""}.get(type_.name) if type_.name != "map" else next(parts)
        yield f"{name}[{path}]={text_of(type_.args[-1], element or b'')}"


def shown(runs: Sequence[Sequence[Partition]], schema: Schema, now_s: int = NOW_S, **options: Any) -> list[str]:
    """What the reference shows of the same runs."""
    return [_line_of_shown(row, schema) for row in merged(runs, schema.table(**options), now_s)]


def _line_of_shown(row: ShownRow, schema: Schema) -> str:
    values = {name: _value_of(schema.column_types[name], shown) for name, shown in row.columns.items()}
    ordered: dict[str, bytes | None] = {name: values.get(name) for name in schema.column_types}
    return line(row.key, row.clustering, ordered, schema)


def _value_of(type_: CqlType, shown: Shown) -> bytes:
    """The bytes of a cell, or the frozen form of a collection's cells."""
    if isinstance(shown, Cell):
        return shown.value
    parts = {"list": "v", "set": "p", "map": "pv"}[type_.name]
    elements = [(cell.path or b"") if part == "p" else cell.value for cell in shown for part in parts]
    return join_collection(elements, len(parts))


def without_times(text: str) -> str:
    """`k: a=2@11!101` as `k: a=2`."""
    return re.sub(r"@\S*", "", text)
