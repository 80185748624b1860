from __future__ import annotations

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.deletion_time import DeletionTime, parse
from flightsrv.sstable.version import version_of


def parsed(text: str, letters: str) -> DeletionTime | None:
    cursor = Cursor(bytes.fromhex(text), f"{letters}-1-big-Data.db", uncompressed=True)
    deletion = parse(cursor, version_of("big", letters, "x"))
    cursor.end()
    return deletion


@pytest.mark.parametrize(
    ("letters", "stored", "deletion"),
    [
        ("nb", "7fffffff 8000000000000000", None),
        ("nb", "7fffffff 8000000000000001", DeletionTime(-(2**63) + 1, 2**31 - 1)),
        ("nc", "00000005 0000000000000003", DeletionTime(3, 5)),
        ("ma", "ffffffff ffffffffffffffff", DeletionTime(-1, -1)),
        ("oa", "80", None),
        ("oa", "0000000000000003 00000005", DeletionTime(3, 5)),
        ("oa", "7fffffffffffffff fffffffe", DeletionTime(2**63 - 1, 2**32 - 2)),
    ],
)
def test_from_oa_on_the_order_is_another_and_nothing_is_one_byte(
    letters: str, stored: str, deletion: DeletionTime | None
) -> None:
    assert parsed(stored, letters) == deletion


@pytest.mark.parametrize("stored", ["81", "ff", "c0 00000000000000 00000000"])
def test_from_oa_on_no_deletion_is_before_1970(stored: str) -> None:
    with pytest.raises(CorruptSSTableError, match="position 0, flags: "):
        parsed(stored, "oa")
