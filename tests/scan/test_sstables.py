from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.errors import CorruptSSTableError, SSTableError
from flightsrv.scan.sstables import SSTable, open_data
from tests.reference.fixtures import COPIED
from tests.scan.scanning import open_file

NB = COPIED / "cassandra-5.0/nb"


@pytest.fixture
def lz4(tmp_path: Path) -> Path:
    """The Data.db of a copy of a compressed SSTable."""
    shutil.copytree(NB / "compression_lz4_4k", tmp_path / "t")
    return next((tmp_path / "t").glob("*-Data.db"))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """The Data.db of a copy of an uncompressed SSTable."""
    shutil.copytree(NB / "compression_none", tmp_path / "t")
    return next((tmp_path / "t").glob("*-Data.db"))


def beside(data_file: Path, component: str) -> Path:
    return data_file.with_name(data_file.name.replace("Data.db", component))


def test_a_compressed_sstable_knows_its_chunks(lz4: Path) -> None:
    sstable = open_file(lz4)
    assert sstable.compression is not None
    assert sstable.chunk_length == 4096
    assert sstable.checksums is None
    assert sstable.bounds[-1] == sstable.data_file_bytes == lz4.stat().st_size
    assert sstable.chunks.compressor == "LZ4Compressor"
    assert sstable.bounds.size - 1 == -(-sstable.data_length // 4096)


def test_an_uncompressed_sstable_has_the_chunks_of_its_checksums(plain: Path) -> None:
    sstable = open_file(plain)
    assert sstable.compression is None
    assert sstable.checksums is not None
    assert sstable.checksums.size >= sstable.bounds.size - 1
    assert sstable.data_length == sstable.data_file_bytes == plain.stat().st_size
    assert sstable.chunks.compressor is None


def test_an_uncompressed_sstable_without_checksums_is_read_unchecked(plain: Path) -> None:
    beside(plain, "CRC.db").unlink()
    sstable = open_file(plain)
    assert sstable.checksums is None
    assert sstable.bounds[-1] == plain.stat().st_size


def test_compressed_bytes_are_never_taken_for_rows(lz4: Path) -> None:
    beside(lz4, "CompressionInfo.db").unlink()
    with pytest.raises(CorruptSSTableError, match=r"CompressionInfo\.db: TOC\.txt lists the file, but it is missing"):
        open_file(lz4)


@pytest.mark.parametrize("toc", [None, "", "Data.db\nStatistics.db\n"])
def test_they_are_not_for_want_of_a_whole_toc(lz4: Path, toc: str | None) -> None:
    beside(lz4, "CompressionInfo.db").unlink()
    rewrite_toc(lz4, toc)
    with pytest.raises(
        CorruptSSTableError, match=r"CompressionInfo\.db: the file is missing, and neither a CRC\.db nor TOC"
    ):
        open_file(lz4)


@pytest.mark.parametrize("toc", [None, "", "Data.db\n", "no such thing"])
def test_a_toc_that_is_missing_or_not_whole_costs_nothing(lz4: Path, toc: str | None) -> None:
    rewrite_toc(lz4, toc)
    assert open_file(lz4).compression is not None


@pytest.mark.parametrize("toc", [None, "", "Data.db\n", "no such thing"])
def test_nor_of_an_uncompressed_sstable(plain: Path, toc: str | None) -> None:
    rewrite_toc(plain, toc)
    assert open_file(plain).compression is None


def rewrite_toc(data_file: Path, toc: str | None) -> None:
    beside(data_file, "TOC.txt").unlink()
    if toc is not None:
        beside(data_file, "TOC.txt").write_text(toc)


def test_an_empty_data_file_is_corrupt(lz4: Path) -> None:
    lz4.write_bytes(b"")
    with pytest.raises(CorruptSSTableError, match=r"Data\.db: offset 0: the file is empty"):
        open_file(lz4)


@pytest.mark.parametrize("component", ["Statistics.db", "CompressionInfo.db"])
def test_a_component_that_is_cut_off_is_corrupt_by_its_name(lz4: Path, component: str) -> None:
    path = beside(lz4, component)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptSSTableError, match=f"^{path.name}: "):
        open_file(lz4)


def test_data_that_goes_away_while_an_sstable_is_opened_is_an_error(lz4: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.stat

    def gone(path: object, *arguments: object, **options: object) -> os.stat_result:
        if str(path) == str(lz4):
            raise FileNotFoundError(2, "gone")
        return real(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", gone)
    with pytest.raises(CorruptSSTableError, match=rf"^{lz4.name}: the file is missing$"):
        open_file(lz4)


def test_data_must_be_as_long_as_it_was(lz4: Path) -> None:
    sstable = open_file(lz4)
    with closing(open_data(sstable)) as file:
        assert file.size == sstable.data_file_bytes
    os.truncate(lz4, 100)
    with pytest.raises(CorruptSSTableError, match=f"the file has 100 bytes, it had {sstable.data_file_bytes}"):
        open_data(sstable)
    lz4.unlink()
    with pytest.raises(SSTableError, match="cannot be opened"):
        open_data(sstable)


SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=20)
"""Bytes of stored chunks."""


@given(SIZES, st.integers(1, 40), st.data(), st.integers(1, 200), st.integers(1, 200))
def test_extents_are_all_chunks_of_the_positions_in_order(
    sizes: list[int], chunk_length: int, data: st.DataObject, piece_bytes: int, window_bytes: int
) -> None:
    bounds = np.cumsum([0, *sizes]).astype(np.int64)
    data_length = data.draw(st.integers((len(sizes) - 1) * chunk_length + 1, len(sizes) * chunk_length))
    start = data.draw(st.integers(0, data_length - 1))
    stop = data.draw(st.integers(start + 1, data_length))
    sstable = sstable_of(bounds, chunk_length, data_length)
    found = list(sstable.extents(start, stop, piece_bytes, window_bytes))
    assert found[0].position <= start < found[0].position + chunk_length
    assert found[-1].position + found[-1].length >= stop
    assert [each.first_chunk for each in found[1:]] == [each.last_chunk for each in found[:-1]]
    for each in found:
        assert (each.offset, each.size) == (
            bounds[each.first_chunk],
            bounds[each.last_chunk] - bounds[each.first_chunk],
        )
        assert each.position == each.first_chunk * chunk_length
        assert each.length == min(each.last_chunk * chunk_length, data_length) - each.position
        is_one_chunk = each.last_chunk == each.first_chunk + 1
        assert is_one_chunk or each.length <= window_bytes
        assert is_one_chunk or bounds[each.last_chunk - 1] - bounds[each.first_chunk] < piece_bytes


def sstable_of(bounds: np.ndarray, chunk_length: int, data_length: int) -> SSTable:
    real = open_file(next((NB / "compression_lz4_4k").glob("*-Data.db")))
    return replace(real, bounds=bounds, chunk_length=chunk_length, data_length=data_length)
