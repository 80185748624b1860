"""Values that a node takes, and that Arrow cannot hold, or holds otherwise: what each setting shows of them.

The node (5.0.4) got them as `blob_as_text(0x4dedb0806c)` and the like. Of the time, the texts and the custom type its
SELECT and the driver give errors; SELECT JSON shows i as 1.2.3.4 and m as {"": "x", "1": "y"}.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from flightsrv.config import Settings
from flightsrv.errors import UnrepresentableError
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from flightsrv.scan.warm import ODD
from tests.scan.scanning import copied

GOOD_CUSTOM, GOOD_TIME = "0x80690004000000050080610003666f6f00", 86_399_999_999_999
BIG = 10**60


def rows(settings: Settings, **request: Any) -> dict[str, dict[str, Any]]:
    """Rows by their key, with plain values."""
    with closing(Engine(settings)) as engine, closing(engine.open_scan(ScanRequest("warm", "odd", **request))) as scan:
        found: dict[str, dict[str, Any]] = {}
        for batch in map(copied, scan.batches()):
            columns = {name: _plain(batch.column(name)) for name in batch.schema.names}
            for i, key in enumerate(columns.pop("k")):
                found[key] = {name: values[i] for name, values in columns.items()}
        return found


def _plain(column: Any) -> list[Any]:
    if str(column.type) == "time64[ns]":
        return list(column.cast("int64").to_pylist())
    if str(column.type).startswith("decimal"):
        return [value and str(value) for value in column.to_pylist()]
    return list(column.to_pylist())


def settings(**chosen: Any) -> Settings:
    return Settings(tables=(ODD,), **chosen)


NULLS = {"c": None, "d": None, "i": None, "l": None, "m": None, "t": None, "ti": None, "v": None}
COMPATIBLE = {
    "good": {
        "c": GOOD_CUSTOM,
        "d": "1.500000000",
        "i": "1.2.3.4",
        "l": ["é", ""],
        "m": [(1, "x")],
        "t": "grüße",
        "ti": GOOD_TIME,
        "v": "-128",
    },
    "empty": NULLS | {"c": "0x", "l": [], "m": [], "t": ""},
    "null": NULLS,
}
NATIVE = COMPATIBLE | {
    "good": COMPATIBLE["good"] | {"c": bytes.fromhex(GOOD_CUSTOM[2:]), "d": "1.50"},
    "empty": COMPATIBLE["empty"] | {"c": b""},
}


def test_or_null() -> None:
    odd = NULLS | {"i": "1.2.3.4", "l": ["a", None]}
    assert rows(settings(on_unrepresentable="null")) == COMPATIBLE | {"odd": odd}


def test_native_or_null() -> None:
    odd = NULLS | {"i": "::ffff:1.2.3.4", "l": ["a", None], "d": "1E-50", "v": str(BIG)}
    found = rows(settings(on_unrepresentable="null", arrow_types="native"))
    assert found == NATIVE | {"odd": odd}
    assert found == rows(settings(on_unrepresentable="null"), types="native")


def test_or_text_of_what_has_a_text() -> None:
    columns = ("k", "d", "l", "t", "v")
    odd = {"d": "1E-50", "l": ["a", "\\xed\\xa0\\x80"], "t": "M\\xed\\xb0\\x80l", "v": str(BIG)}
    found = rows(settings(on_unrepresentable="text"), columns=columns)
    assert found["odd"] == odd
    assert found["good"] == {"d": "1.50", "l": ["é", ""], "t": "grüße", "v": "-128"}


@pytest.mark.parametrize(
    ("column", "what", "chosen"),
    [
        ("d", "a decimal with more than 9 decimals; ask for", {}),
        ("v", "a varint with more than 38 digits before the point; ask for", {}),
        ("t", "a text that is not UTF-8; set --on-unrepresentable", {}),
        ("l", "a text that is not UTF-8; set --on-unrepresentable", {"arrow_types": "native"}),
        ("ti", "a time that is not within a day; set --on-unrepresentable", {"on_unrepresentable": "text"}),
        ("m", "a map with an empty key; set --on-unrepresentable", {"on_unrepresentable": "text"}),
    ],
)
def test_or_an_error_that_names_column_row_and_reason(column: str, what: str, chosen: dict[str, Any]) -> None:
    with pytest.raises(UnrepresentableError, match=f"^column {column} of the row with key 'odd': {what}"):
        rows(settings(**chosen), columns=("k", column))


def test_the_bytes_can_be_had_by_a_ddl_that_says_blob() -> None:
    ddl = Path(ODD.folder, "schema.cql").read_text().replace(" t text", " t blob").replace("ti time", "ti blob")
    found = rows(settings(), ddl=ddl, columns=("k", "t", "ti"))
    assert found["odd"] == {"t": b"M\xed\xb0\x80l", "ti": b"\x7f" + b"\xff" * 7}


def test_each_way_of_asking_tells_the_schema_that_comes() -> None:
    with closing(Engine(settings(arrow_types="native"))) as engine:
        (listed,) = engine.tables()
        for types in (None, "native", "compatible"):
            request = ScanRequest("warm", "odd", columns=("k", "d"), types=types)
            with closing(engine.open_scan(request)) as scan:
                assert scan.schema.equals(engine.arrow_schema(request), check_metadata=True)
                assert str(scan.schema.field("d").type) == ("decimal128(38, 9)" if types == "compatible" else "string")
        assert listed.schema is not None
        assert str(listed.schema.field("d").type) == "string"
        assert listed.schema.field("c").metadata[b"cql:type"].startswith(b"'org.apache.cassandra.db.marshal.Dynamic")
