from __future__ import annotations

from enum import IntFlag
from typing import Any

import numpy as np
import pytest

from flightsrv.sstable.cursor import Line
from flightsrv.sstable.dump import dump


class Colour(IntFlag):
    RED = 1
    BLUE = 4


def value_text(value: Any, field: str = "f") -> str:
    (text,) = dump([Line(0, 1, field, value)], b"\x00")
    return text.split(maxsplit=3)[-1]


def test_offset_bytes_field_and_value_stand_in_columns() -> None:
    data = bytes(range(64))
    lines = [Line(0, 4, "first", 66051), Line(4, 20, "second.part", "text"), Line(24, 0, "third", b"")]
    assert list(dump(lines, data)) == [
        "       0  00010203                     first                                                 66051",
        "       4  04050607 08090a0b 0c0d0e0f…  second.part                                           text",
        "      24                               third                                                 ''",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (-5, "-5"),
        (0.5, "0.5"),
        ("0x0000abcd", "0x0000abcd"),
        (b"key", "'key'"),
        (b"it's", '"it\'s"'),
        (b"\x00\x01", "0x0001"),
        (b"\xc3\xa9", "0xc3a9"),
        (Colour(0), "none"),
        (Colour.RED | Colour.BLUE, "RED|BLUE"),
        (np.arange(3), "3 of [0, 1, 2]"),
        (np.arange(20), "20 of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …]"),
        (np.array([(10, 0), (20, 3), (30, 0)], [("offset", "i8"), ("count", "i8")]), "3 of [20: 3]"),
        ("x" * 200, "x" * 160 + "…"),
    ],
)
def test_a_value_is_written_by_its_kind(value: Any, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("STATS.min_timestamp_us", 1671550812169654, "1671550812169654 = 2022-12-20T15:40:12.169654Z"),
        ("a.deletion.marked_for_delete_at_us", -1, "-1 = 1969-12-31T23:59:59.999999Z"),
        ("a.local_deletion_time_s", 2**31, "2147483648 = 2038-01-19T03:14:08Z"),
        ("STATS.repaired_at_ms", 1000, "1000 = 1970-01-01T00:00:01Z"),
        ("STATS.repaired_at_ms", 0, "0"),
        ("a.local_deletion_time_s", 2**31 - 1, "2147483647"),
        ("timestamp_us", 2**63 - 1, "9223372036854775807"),
        ("ttl_s", 86400, "86400"),
    ],
)
def test_a_time_is_written_as_a_date_too(field: str, value: int, text: str) -> None:
    assert value_text(value, field) == text
