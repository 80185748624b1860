"""After `warm` no scan compiles anything."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from flightsrv.arrow.types import NATIVE, TypeMapping
from flightsrv.errors import FlightsrvError
from flightsrv.kernels.jit import KERNELS, MODE
from flightsrv.scan.folders import find_table_folders
from flightsrv.scan.warm import TABLES, warm
from tests.reference.fixtures import copied_sets
from tests.scan.scanning import batches_of

OR_TEXT = TypeMapping(on_unrepresentable="text")

pytestmark = pytest.mark.skipif(MODE == "python", reason="nothing is compiled")


def compiled() -> set[tuple[str, str]]:
    """Every kernel that has machine code, and for which types of arguments."""
    return {(kernel.__name__, str(signature)) for kernel in KERNELS for signature in kernel.signatures}


def scan_everything() -> None:
    """Every copied fixture, in this order: whole, then what a token range, columns and small batches add."""
    for fixture in copied_sets():
        for request in ({}, {"token_start": 0}, {"limit": 3}, {"mapping": NATIVE}, {"mapping": OR_TEXT}):
            with suppress(FlightsrvError):  # damaged, or not served
                batches_of(fixture, **request)


def main() -> None:
    warm()
    before = compiled()
    scan_everything()
    for name, signature in sorted(compiled() - before):
        print(name, signature)


def test_scans_of_all_that_there_is_compile_nothing_after_warm() -> None:
    """In a process of its own: in this one other tests have compiled things before."""
    done = subprocess.run([sys.executable, "-m", "tests.scan.test_warm"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_progress_ends_with_all_kernels() -> None:
    told: list[tuple[int, int]] = []
    warm(lambda done, total: told.append((done, total)))
    assert told[-1] == (len(KERNELS), len(KERNELS))
    assert told == sorted(told)


def test_the_tables_are_served_by_their_own_schema() -> None:
    folders = find_table_folders(TABLES)
    assert [folder.table for folder in folders] == ["indexed", "kinds", "old", "uncompressed"]
    assert all(Path(folder.path, "schema.cql").is_file() for folder in folders)


if __name__ == "__main__":
    main()
