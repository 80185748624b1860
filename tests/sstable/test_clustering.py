from __future__ import annotations

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.clustering import (
    CLUSTERING,
    EXCL_START_BOUND,
    INCL_END_BOUND,
    Prefix,
    bound,
    fixed_sizes,
    prefix,
    values,
)
from flightsrv.sstable.cursor import Cursor

TEXT, INT = -1, 4


def cursor(text: str) -> Cursor:
    return Cursor(bytes.fromhex(text), "nb-1-big-Data.db", uncompressed=True)


@pytest.mark.parametrize(
    ("stored", "sizes", "read"),
    [
        ("", (), ()),
        ("00 02 6869", (TEXT,), (b"hi",)),
        ("00 00000007 01 61", (INT, TEXT), (b"\0\0\0\x07", b"a")),
        ("01 01 61", (INT, TEXT), (b"", b"a")),
        ("08 00000007", (INT, TEXT), (b"\0\0\0\x07", None)),
        ("09", (INT, TEXT), (b"", None)),
        ("00 00", (TEXT,), (b"",)),
    ],
)
def test_a_header_says_which_values_are_empty_or_null(
    stored: str, sizes: tuple[int, ...], read: tuple[bytes | None, ...]
) -> None:
    at = cursor(stored)
    assert values(at, sizes) == read
    at.end()


def test_the_33rd_value_has_a_header_of_its_own() -> None:
    at = cursor("00" + "0161" * 32 + "01")
    assert values(at, (TEXT,) * 33) == (b"a",) * 32 + (b"",)
    at.end()


@pytest.mark.parametrize("header", ["04", "03", "ffffffffffffffffff"])
def test_a_header_of_more_values_or_of_two_minds_is_corrupt(header: str) -> None:
    with pytest.raises(CorruptSSTableError, match="position 0, values header"):
        values(cursor(header), (TEXT,))


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("06 0000", Prefix(INCL_END_BOUND, ())),
        ("07 0001 00 00000007", Prefix(EXCL_START_BOUND, (b"\0\0\0\x07",))),
        ("07 0002 00 00000007 01 61", Prefix(EXCL_START_BOUND, (b"\0\0\0\x07", b"a"))),
    ],
)
def test_a_bound_has_the_first_values(stored: str, read: Prefix) -> None:
    assert bound(cursor(stored), (INT, TEXT)) == read
    assert prefix(cursor(stored), (INT, TEXT)) == read


def test_a_row_has_all_values() -> None:
    assert prefix(cursor("04 00 00000007 01 61"), (INT, TEXT)) == Prefix(CLUSTERING, (b"\0\0\0\x07", b"a"))


@pytest.mark.parametrize("kind", ["03", "04", "08", "09", "ff"])
def test_other_kinds_are_no_bounds(kind: str) -> None:
    with pytest.raises(CorruptSSTableError, match=r"kind: \d+ is not that of a bound"):
        bound(cursor(f"{kind} 0000"), (INT, TEXT))


def test_a_bound_cannot_have_more_values_than_there_are_columns() -> None:
    with pytest.raises(CorruptSSTableError, match="value count: 3 is more than the 2 clustering columns"):
        bound(cursor("06 0003 00"), (INT, TEXT))


def test_the_type_decides_whether_a_value_has_a_length() -> None:
    types = ["Int32Type", "ReversedType(UUIDType)", "UTF8Type", "SimpleDateType", "ByteType", "org.example.Mine", ""]
    assert fixed_sizes(cursor(""), "types", types) == (4, 16, -1, -1, -1, -1, -1)


def test_what_is_no_type_is_corrupt() -> None:
    with pytest.raises(CorruptSSTableError, match="types: type 'ListType"):
        fixed_sizes(cursor(""), "types", ["ListType("])
