"""bench.collections: a series of collections of up to eight elements and of a user-defined type."""

from __future__ import annotations

import pyarrow as pa

from corpus.columns import Draw
from corpus.elements import (
    Items,
    create_type_cql,
    frozen_int_lists,
    int_field,
    int_lists,
    text_field,
    text_sets,
    text_to_bigint_maps,
    user_types,
)
from corpus.series import Series
from corpus.series_cells import COLUMN_WORDS, MOST_ELEMENTS, Cells

_ROW_WORD = COLUMN_WORDS
_LISTS, _FROZEN, _SETS, _MAPS, _ADDRESSES = range(COLUMN_WORDS + 1, COLUMN_WORDS + 6)
"""Words of elements."""
_LABELS = pa.array([f"label {number:03}" for number in range(256)])
_COUNTERS = pa.array([f"{kind}.{number:02}" for kind in ("cache", "disk", "error", "net") for number in range(64)])
_ADDRESS = (
    text_field("street", *(f"{name} street" for name in ("Brook", "Church", "Elm", "High", "Mill", "Park", "Station"))),
    int_field("number", range(1, 200)),
    text_field("city", "Lisbon", "Nairobi", "Osaka", "Quito", "Utrecht"),
)


def _counted(shift: int) -> Draw:
    """0 to 8 elements."""
    return lambda cells: cells.part(_ROW_WORD, shift, 8) % (MOST_ELEMENTS + 1)


def _nine_of_ten(cells: Cells) -> pa.Array:
    return cells.part(_ROW_WORD, 48, 8) % 10 != 0


SERIES = Series(
    name="collections",
    columns={
        "counts": text_to_bigint_maps(Items(_counted(0), _MAPS), _COUNTERS),
        "fixed": frozen_int_lists(Items(_counted(8), _FROZEN)),
        "home": user_types("address", _ADDRESS, _ADDRESSES, share=0.8),
        "labels": text_sets(Items(_counted(16), _SETS), _LABELS).left_out(_nine_of_ten),
        "samples": int_lists(Items(_counted(24), _LISTS)),
    },
    updated=("counts", "fixed"),
    types_cql=(create_type_cql("address", _ADDRESS),),
)
TABLE, ARROW_SCHEMA = SERIES.table, SERIES.arrow_schema
write, expected_batches, expected_rows = SERIES.write, SERIES.expected_batches, SERIES.expected_rows
