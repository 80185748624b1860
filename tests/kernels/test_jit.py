from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flightsrv.kernels import jit
from flightsrv.kernels.jit import KERNELS, MODE, cache_folder, kernel, source_digest
from flightsrv.kernels.vint import uvint_at
from tests.reference.fixtures import PROJECT

READS_BEYOND = """
import numpy as np
from flightsrv.kernels.vint import byte_at
print(byte_at(np.zeros(4, np.uint8), 5))
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own, for what is decided once a process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FLIGHTSRV_")}
    arguments = [sys.executable, "-c", code]
    return subprocess.run(arguments, env=kept | environment, cwd=PROJECT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernels' sources, whose digest is asked for."""
    folder = tmp_path / "kernels"
    shutil.copytree(Path(jit.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(folder / "jit.py"))
    return folder


def test_the_caches_name_carries_mode_and_digest() -> None:
    assert cache_folder().name == f"kernels-{MODE}-{source_digest()}"


def test_the_same_sources_have_the_same_digest(sources: Path) -> None:
    copied = source_digest()
    (sources / "notes.txt").write_text("no source")
    assert source_digest() == copied
    assert len(copied) == 12


@pytest.mark.parametrize("name", ["vint.py", "native.py", "jit.py", "status.py"])
def test_editing_a_source_changes_the_digest(sources: Path, name: str) -> None:
    before = source_digest()
    (sources / name).write_bytes((sources / name).read_bytes() + b"\n")
    assert source_digest() != before


def test_adding_and_renaming_a_source_change_the_digest(sources: Path) -> None:
    digests = [source_digest()]
    (sources / "new.py").write_text("")
    digests.append(source_digest())
    (sources / "new.py").rename(sources / "newer.py")
    digests.append(source_digest())
    assert len(set(digests)) == 3


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLIGHTSRV_CACHE", str(tmp_path / "own"))
    assert cache_folder().parent == tmp_path / "own"
    monkeypatch.delenv("FLIGHTSRV_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_folder().parent == tmp_path / "user/flightsrv"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder().parent == tmp_path / "home/.cache/flightsrv"


def test_a_kernel_is_known_unless_nothing_is_compiled() -> None:
    def doubled(x: int) -> int:
        return 2 * x

    made = kernel(doubled)
    try:
        assert (made is doubled) == (MODE == "python")
        assert (made in KERNELS) == (MODE != "python")
        assert (uvint_at in KERNELS) == (MODE != "python")
    finally:
        if made in KERNELS:
            KERNELS.remove(made)


def test_compiled_code_lies_below_the_cache(tmp_path: Path) -> None:
    ended = python(READS_BEYOND.replace(", 5)", ", 0)"), FLIGHTSRV_CACHE=str(tmp_path))
    assert (ended.returncode, ended.stdout) == (0, "0\n"), ended.stderr
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"kernels-fast-{source_digest()}"
    assert [path for path in folder.rglob("vint.byte_at*.nbc") if path.stat().st_size]


@pytest.mark.parametrize("mode", ["checked", "python"])
def test_an_index_out_of_bounds_is_an_error_where_bounds_are_checked(mode: str) -> None:
    ended = python(READS_BEYOND, FLIGHTSRV_KERNELS=mode)
    assert ended.returncode == 1
    assert "IndexError" in ended.stderr


def test_an_unknown_mode_is_refused() -> None:
    ended = python("import flightsrv.kernels.jit", FLIGHTSRV_KERNELS="slow")
    assert ended.returncode == 1
    assert ended.stderr == "FLIGHTSRV_KERNELS must be fast, checked or python, not 'slow'\n"
