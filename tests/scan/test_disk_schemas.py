from __future__ import annotations

import numpy as np
import pytest

from flightsrv.cql.ddl import parse_ddl
from flightsrv.errors import SchemaError
from flightsrv.scan.disk_schemas import rows_of
from flightsrv.slab import Selection
from tests.kernels.places import places_of

DDL = "CREATE TABLE ks.t (k text, c int, s frozen<set<text>> static, v int, PRIMARY KEY (k, c))"
TABLE = parse_ddl(DDL, "ks", "t")


def selection_of(*columns: list[bytes | None]) -> tuple[Selection, object]:
    places = [places_of(column) for column in columns]
    at, size = np.stack([each.at for each in places]), np.stack([each.size for each in places])
    return Selection(at, size, 0, len(columns[0])), places


def test_rows_become_python_values() -> None:
    selection, kept = selection_of([b"a", b"b"], [b"\0\0\0\1", None], [None, b"\0\0\0\1\0\0\0\1x"], [None, b"\0\0\0\2"])
    assert rows_of(TABLE, selection) == [
        {"k": "a", "c": 1, "s": None, "v": None},
        {"k": "b", "c": None, "s": ["x"], "v": 2},
    ], kept


def test_a_value_that_is_none_of_its_type_is_an_error() -> None:
    selection, kept = selection_of([b"a"], [b"\0\0\0\1"], [None], [b"\0"])
    with pytest.raises(SchemaError, match="system_schema holds a value that is not a int"):
        rows_of(TABLE, selection)
    assert kept
