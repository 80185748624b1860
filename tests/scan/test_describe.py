"""Dumps of files that lie in a folder, whatever component they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flightsrv.errors import CorruptSSTableError, LimitError, SSTableError, UnsupportedSSTableError
from flightsrv.scan import describe
from flightsrv.scan.describe import describe_file
from tests.reference.fixtures import COPIED
from tests.sstable.components import copied
from tests.sstable.golden import CASES, PAIRS, file_of

TTL = COPIED / "cassandra-5.0/nb/ttl"


@pytest.mark.parametrize(("name", "component"), PAIRS)
def test_a_dump_is_what_the_parsers_traced(name: str, component: str) -> None:
    path = copied(CASES[name][0]).file(component)
    assert "".join(f"{line}\n" for line in describe_file(path)) == file_of(name, component).read_text()


def test_uncompressed_data_are_described() -> None:
    data = COPIED / "cassandra-5.0/nb/compression_none/nb-1-big-Data.db"
    assert next(describe_file(data)).split()[0] == "0"


@pytest.mark.parametrize("codec", ["deflate", "snappy", "zstd_default", "noop", "lz4_4k"])
def test_data_are_described_whatever_compressed_them(codec: str) -> None:
    data = COPIED / f"cassandra-5.0/nb/compression_{codec}/nb-1-big-Data.db"
    assert sum(1 for _ in describe_file(data)) > 10


def test_an_index_is_described_without_its_statistics(tmp_path: Path) -> None:
    shutil.copy(TTL / "nb-1-big-Index.db", tmp_path)
    assert list(describe_file(tmp_path / "nb-1-big-Index.db")) == list(describe_file(TTL / "nb-1-big-Index.db"))


def test_data_cannot_be_described_without_their_statistics(tmp_path: Path) -> None:
    shutil.copy(TTL / "nb-1-big-Data.db", tmp_path)
    with pytest.raises(SSTableError, match=r"nb-1-big-Statistics\.db: the file is missing"):
        next(describe_file(tmp_path / "nb-1-big-Data.db"))


def test_the_lines_before_a_damaged_chunk_come_before_the_error() -> None:
    seen = []
    with pytest.raises(CorruptSSTableError, match="chunk 7 checksum"):
        seen.extend(describe_file(COPIED / "corrupt/derived/nb_chunk_bitflip/nb-1-big-Data.db"))
    assert len(seen) > 10


def test_more_than_fits_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "MAX_DATA_BYTES", 10)
    with pytest.raises(LimitError, match=r"nb-1-big-Data\.db: \d+ bytes uncompressed are more than the 10"):
        next(describe_file(TTL / "nb-1-big-Data.db"))


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedSSTableError, match=r"notes\.txt: it does not have the name"):
        next(describe_file(tmp_path / "notes.txt"))
