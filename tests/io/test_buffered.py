from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flightsrv.errors import CorruptSSTableError, SSTableError
from flightsrv.io import buffered
from flightsrv.io.buffered import BufferedFile, file_size, read_component

CONTENT = bytes(range(256)) * 4


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    path = tmp_path / "nb-1-big-Data.db"
    path.write_bytes(CONTENT)
    return path


def read(path: Path, offset: int, size: int) -> bytes:
    file = BufferedFile(str(path))
    target = np.full(size, 0x5A, np.uint8)
    try:
        file.read_into(offset, target)
    finally:
        file.close()
    return target.tobytes()


def preadv_that(answers: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let preadv do something else: `answers` gets its arguments behind the real one."""
    real = os.preadv
    monkeypatch.setattr(buffered.os, "preadv", lambda *arguments: answers(real, *arguments))


@pytest.mark.parametrize(("offset", "size"), [(0, 1024), (0, 1), (7, 100), (1023, 1), (1024, 0), (5000, 0)])
def test_a_read_fills_its_target(data_file: Path, offset: int, size: int) -> None:
    assert read(data_file, offset, size) == CONTENT[offset : offset + size]


def test_a_file_knows_its_size_and_is_closed_once(data_file: Path) -> None:
    file = BufferedFile(str(data_file))
    assert file.size == 1024
    file.close()
    file.close()


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_a_read_that_gives_less_is_gone_on_with(data_file: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    def short(real: Any, descriptor: int, buffers: list[memoryview], offset: int) -> int:
        return real(descriptor, [buffers[0][:most]], offset)

    preadv_that(short, monkeypatch)
    assert read(data_file, 5, 200) == CONTENT[5:205]


def test_an_interrupted_read_is_tried_again(data_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interruptions = [InterruptedError(errno.EINTR, "interrupted")] * 3

    def interrupted(real: Any, *arguments: Any) -> int:
        if interruptions:
            raise interruptions.pop()
        return real(*arguments)

    preadv_that(interrupted, monkeypatch)
    assert read(data_file, 0, 1024) == CONTENT


@pytest.mark.parametrize(("offset", "size", "early"), [(0, 1025, 1), (1000, 100, 76), (1024, 1, 1), (9999, 5, 5)])
def test_a_file_that_ends_early_is_corrupt(data_file: Path, offset: int, size: int, early: int) -> None:
    end = max(offset, 1024)
    with pytest.raises(
        CorruptSSTableError, match=f"^nb-1-big-Data.db: offset {end}: the file ends, {early} bytes early$"
    ):
        read(data_file, offset, size)


@pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE, errno.EBADF])
@pytest.mark.parametrize("failing", [1, 2, 5])
def test_an_error_of_the_nth_read_says_file_and_offset(
    data_file: Path, monkeypatch: pytest.MonkeyPatch, code: int, failing: int
) -> None:
    reads = 0

    def fails(real: Any, descriptor: int, buffers: list[memoryview], offset: int) -> int:
        nonlocal reads
        reads += 1
        if reads == failing:
            raise OSError(code, "whatever")
        return real(descriptor, [buffers[0][:100]], offset)

    preadv_that(fails, monkeypatch)
    where = f"nb-1-big-Data.db: offset {7 + 100 * (failing - 1)}"
    with pytest.raises(SSTableError, match=f"^{where}: cannot be read: {os.strerror(code)}$"):
        read(data_file, 7, 900)


def test_a_file_that_cannot_be_opened_is_an_error_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(SSTableError, match=r"^nb-1-big-Data\.db: cannot be opened: No such file or directory$"):
        BufferedFile(str(tmp_path / "nb-1-big-Data.db"))


def test_a_component_is_read_whole(data_file: Path) -> None:
    assert read_component(str(data_file)) == CONTENT


def test_a_component_that_is_missing_is_corruption(tmp_path: Path) -> None:
    with pytest.raises(CorruptSSTableError, match=r"^nb-1-big-Statistics\.db: the file is missing$"):
        read_component(str(tmp_path / "nb-1-big-Statistics.db"))


def test_a_component_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SSTableError, match="cannot be read: Is a directory"):
        read_component(str(tmp_path))


def test_a_component_larger_than_the_limit_is_refused(data_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffered, "MAX_COMPONENT_BYTES", 1023)
    with pytest.raises(SSTableError, match="1024 bytes are more than 1023"):
        read_component(str(data_file))


def test_the_size_of_a_file(data_file: Path, tmp_path: Path) -> None:
    assert file_size(str(data_file)) == 1024
    with pytest.raises(CorruptSSTableError, match=r"^nb-2-big-Data\.db: the file is missing$"):
        file_size(str(tmp_path / "nb-2-big-Data.db"))
    with pytest.raises(SSTableError, match=r"^nb-2-big-Data\.db: cannot be read: Not a directory$"):
        file_size(str(data_file / "nb-2-big-Data.db"))
