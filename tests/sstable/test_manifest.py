from __future__ import annotations

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.manifest import parse
from tests.reference.fixtures import COPIED

FIRST = COPIED / "cassandra-5.0/nb/node/data/layout/indexed-a904b870ece911f18c12e51b6daaa362/snapshots/first"


def test_it_lists_the_tables_own_sstables_of_all_data_folders() -> None:
    path = FIRST / "manifest.json"
    assert parse(path.read_bytes(), str(path)) == ("nb-1-big-Data.db", "nb-2-big-Data.db")


def test_3_11_writes_nothing_but_files() -> None:
    assert parse(b'{"files":["me-1-big-Data.db"]}', "manifest.json") == ("me-1-big-Data.db",)


@pytest.mark.parametrize("content", [b"{}", b"[]", b"5", b'{"files": 5}', b'{"files": null}', b'{"files": [1, {}]}'])
def test_another_tools_manifest_lists_nothing(content: bytes) -> None:
    assert parse(content, "manifest.json") == ()


@pytest.mark.parametrize("content", [b"", b'{"files":["me-1-b', b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_no_json_is_corrupt(content: bytes) -> None:
    with pytest.raises(CorruptSSTableError, match=r"^manifest\.json: it is no JSON$"):
        parse(content, "/data/manifest.json")
