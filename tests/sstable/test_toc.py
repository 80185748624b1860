from __future__ import annotations

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.toc import parse
from tests.sstable.components import SSTable, every_sstable


def test_a_component_stands_on_each_line() -> None:
    names = ("Data.db", "TOC.txt", "SAI+aa+x.db")
    for end in (b"\n", b"\r\n"):
        for last in (b"", end):
            data = end.join(name.encode() for name in names) + last
            assert parse(Cursor(data, "nb-1-big-TOC.txt")) == names


def test_empty_lines_are_skipped() -> None:
    assert parse(Cursor(b"", "nb-1-big-TOC.txt")) == ()
    assert parse(Cursor(b"\n\nData.db\n\n", "nb-1-big-TOC.txt")) == ("Data.db",)


def test_other_bytes_are_corrupt() -> None:
    with pytest.raises(CorruptSSTableError, match="offset 8, component: it is not UTF-8"):
        parse(Cursor(b"Data.db\n\xff\n", "nb-1-big-TOC.txt"))


@pytest.mark.parametrize("sstables", every_sstable())
def test_real_files_list_the_data(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        if sstable.file("TOC.txt").exists():
            assert {"Data.db", "Statistics.db", "TOC.txt"} <= set(sstable.parse("TOC.txt"))
