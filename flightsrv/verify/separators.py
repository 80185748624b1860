"""What Rows.db has between two blocks of rows, against the rows before and behind it.

A lookup begins with the last block whose separator is not above what is looked for. So each must be above the last row
of the block before, or that row would be looked for in the wrong block, and not above the first row of its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np

from flightsrv.cql.byte_comparable import clustering_form
from flightsrv.cql.marshal import parse_marshal
from flightsrv.errors import SchemaError
from flightsrv.kernels.partitions import NOTHING, TO_FIND, Boundaries
from flightsrv.sstable import clustering
from flightsrv.sstable.clustering import CLUSTERING
from flightsrv.sstable.cursor import Cursor
from flightsrv.verify.findings import Report


class SeparatorCheck:
    """Compares the separators of boundaries with what survey has found around them."""

    def __init__(self, report: Report, path: str, clustering_types: Sequence[str]) -> None:
        """path: of Data.db. clustering_types: marshal strings, as the header has them."""
        self._report = report
        self._path = path
        self._types = [parse_marshal(text) for text in clustering_types]
        self._sizes = [each.type.fixed_size for each in self._types]
        self._is_possible = True

    def wrong(self, boundaries: Boundaries) -> Iterator[int]:
        """The places of those whose separators are in the wrong place, those that survey found to be wrong left out."""
        if not boundaries.separator_at.any():
            return
        for i in np.flatnonzero(boundaries.wrong == 0).tolist():
            kinds = boundaries.first_kind[i], boundaries.last_kind[i]
            if self._is_possible and TO_FIND not in kinds and not self._is_between(boundaries, i):
                yield i

    def _is_between(self, boundaries: Boundaries, i: int) -> bool:
        separator = ctypes.string_at(int(boundaries.separator_at[i]), int(boundaries.separator_size[i]))
        last = boundaries.last_kind[i], boundaries.last_at[i], boundaries.last_size[i]
        first = boundaries.first_kind[i], boundaries.first_at[i], boundaries.first_size[i]
        try:
            if last[0] == NOTHING:
                return separator == b""
            return self._form(*last) < separator and (first[0] == NOTHING or separator <= self._form(*first))
        except (SchemaError, ValueError) as error:
            self._is_possible = False
            self._report.note("Rows.db", f"its separators are not compared with the rows: {error}", field="separator")
            return True

    def _form(self, kind: int, at: int, size: int) -> bytes:
        """The form of a clustering or bound as Data.db has it, behind its kind."""
        cursor = Cursor(ctypes.string_at(int(at), int(size)), self._path)
        count = len(self._sizes) if kind == CLUSTERING else cursor.u16("value count")
        return clustering_form(self._types, int(kind), clustering.values(cursor, self._sizes[:count]))
