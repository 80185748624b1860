from __future__ import annotations

from collections.abc import Iterator

import pytest

from flightsrv.errors import CorruptSSTableError, UnsupportedSSTableError
from flightsrv.sstable.cursor import Line
from flightsrv.sstable.describe import describe, describe_data
from tests.sstable.components import COPIED_SSTABLES, PARSERS, copied, described
from tests.sstable.golden import FOLDER, PAIRS, file_of, text_of

TTL = copied("cassandra-5.0/nb/ttl/nb-1-big-Data.db")


def until_damage(lines: Iterator[Line]) -> list[Line]:
    found: list[Line] = []
    with pytest.raises(CorruptSSTableError):
        found.extend(lines)
    return found


@pytest.mark.parametrize(("name", "component"), PAIRS)
def test_dumps_are_as_they_were_read_and_found_right(name: str, component: str) -> None:
    assert text_of(name, component) == file_of(name, component).read_text()


def test_no_dump_is_left_over() -> None:
    assert sorted(FOLDER.glob("*")) == sorted(file_of(*pair) for pair in PAIRS)


@pytest.mark.parametrize("component", PARSERS)
def test_lines_cover_every_byte_once(component: str) -> None:
    for sstable in COPIED_SSTABLES:
        if not sstable.file(component).exists():
            continue
        data = sstable.file(component).read_bytes()
        ends = [0]
        for line in described(sstable, component):
            assert line.offset == ends[-1]
            ends.append(line.offset + line.size)
        assert ends[-1] == len(data)


def test_a_damaged_component_is_described_up_to_its_damage() -> None:
    data = TTL.file("Index.db").read_bytes()
    whole = list(describe(str(TTL.file("Index.db")), data))
    assert until_damage(describe(str(TTL.file("Index.db")), data[:-1])) == whole[:-1]


def test_damaged_data_are_described_up_to_their_damage() -> None:
    data = TTL.data()
    whole = list(describe_data(data, TTL.header, TTL.version, "nb-1-big-Data.db"))
    assert until_damage(describe_data(data[:-1], TTL.header, TTL.version, "nb-1-big-Data.db")) == whole[:-1]


def test_large_files_are_described_line_by_line() -> None:
    """The first line comes before the rest is read: what is behind it is no data at all."""
    wide = copied("cassandra-5.0/oa/wide/oa-1-big-Data.db")
    data = wide.data()[:2000] + b"\xff" * 2000
    assert next(describe_data(data, wide.header, wide.version, "oa-1-big-Data.db")).field == "partition 0.key"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("manifest.json", "it does not have the name"),
        ("pa-1-big-Statistics.db", "version pa of format big"),
        ("nb-1-big-Data.db", r"Data\.db is not a component that can be described"),
        ("nb-1-big-SAI+aa+x.db", "is not a component that can be described"),
    ],
)
def test_other_files_are_refused_by_name(name: str, what: str) -> None:
    with pytest.raises(UnsupportedSSTableError, match=what):
        describe(f"/data/{name}", b"")
