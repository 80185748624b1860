"""The SSTables of real nodes that tests may use, with what they must read as.

A selection lies in tests/data/sstables and is always there; the whole collection lies beside the project, or not.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.reference.types import CqlType, types_of_schema

PROJECT = Path(__file__).parents[2]
COPIED = PROJECT / "tests/data/sstables"
COLLECTION = PROJECT.parent / "shared/sstables"
SERVED_VERSIONS = ("ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa", "da")


@dataclass(frozen=True)
class FixtureSet:
    """The SSTables of one table, and what they read as when that is known."""

    id: str
    folder: Path
    """For a table of a node: its first folder."""
    data_files: tuple[Path, ...]
    """Data.db of every live SSTable, of all folders."""
    expected_file: Path | None
    manifest_entry: dict[str, Any]

    @cached_property
    def expected(self) -> dict[str, Any] | None:
        return json.loads(self.expected_file.read_text()) if self.expected_file else None

    @property
    def schema(self) -> dict[str, Any]:
        """`expected`, which holds the schema too, of a set that is known to have it."""
        assert self.expected, f"{self.id} has no expected.json"
        return self.expected

    @property
    def has_expected_rows(self) -> bool:
        return self.expected is not None and "rows_sha256" in self.expected

    @property
    def read_at(self) -> int | None:
        """Seconds since 1970 when the node was asked; None: as if nothing had expired."""
        return self.expected.get("read_at") if self.expected else None

    @cached_property
    def types(self) -> dict[str, CqlType]:
        """Every column of the schema, by name, in the order of the expected rows."""
        return types_of_schema(self.schema)

    def expected_rows(self) -> list[dict[str, Any]] | None:
        """All rows, or None when the set tells only their sha256."""
        if "rows_file" in self.schema:
            return [dict(zip(self.types, line, strict=True)) for line in self._lines(self.schema["rows_file"])]
        return self.schema.get("rows")

    def expected_times(self) -> list[dict[str, Any]] | None:
        """For each row the write times and expiries of its values, or None when nobody says."""
        if "times_file" in self.schema:
            return self._lines(self.schema["times_file"])
        return self.schema.get("times")

    def _lines(self, name: str) -> list[Any]:
        assert self.expected_file
        text = gzip.decompress(self.expected_file.with_name(name).read_bytes()).decode()
        return [json.loads(line) for line in text.split("\n") if line]


def version_of(data_file: Path) -> str:
    return data_file.name.split("-")[0]


def refusal(fixture: FixtureSet) -> str | None:
    """Why this set is not among those that are served by now; None when it is."""
    damage = fixture.manifest_entry.get("damage") or fixture.manifest_entry.get("expect_error")
    if damage and not fixture.manifest_entry.get("still_readable"):
        return f"damaged: {damage}"
    if not fixture.data_files:
        return "it has no SSTable"
    for data_file in fixture.data_files:
        version = version_of(data_file)
        if version not in SERVED_VERSIONS:
            return f"version {version}"
    return None


@cache
def copied_sets() -> tuple[FixtureSet, ...]:
    """The sets in tests/data/sstables."""
    return tuple(_sets(COPIED))


@cache
def all_sets() -> tuple[FixtureSet, ...]:
    """The whole collection when it is there, else the copied sets."""
    return tuple(_sets(COLLECTION)) if COLLECTION.exists() else copied_sets()


def params(fits: Callable[[FixtureSet], object] = lambda _: True) -> list[Any]:
    """pytest parameters, one a set that `fits`: those that are not copied carry the mark `shared`."""
    copied = {fixture.id for fixture in copied_sets()}
    others = [
        pytest.param(fixture, id=fixture.id, marks=pytest.mark.shared)
        for fixture in all_sets()
        if fixture.id not in copied and fits(fixture)
    ]
    if not COLLECTION.exists():
        skip = pytest.mark.skip(reason=f"the whole collection is not at {COLLECTION}")
        others = [pytest.param(None, id="whole-collection", marks=[pytest.mark.shared, skip])]
    return [pytest.param(fixture, id=fixture.id) for fixture in copied_sets() if fits(fixture)] + others


def _sets(root: Path) -> Iterator[FixtureSet]:
    for entry in json.loads((root / "MANIFEST.json").read_text())["sets"]:
        folder = root / entry["path"]
        if entry.get("kind") == "data directories":
            yield from _tables_of_node(folder, entry)
            continue
        expected = (folder / entry["expected"]).resolve() if entry.get("expected") else None
        yield FixtureSet(entry["id"], folder, tuple(sorted(folder.glob("*-Data.db"))), expected, entry)


def _tables_of_node(node: Path, entry: dict[str, Any]) -> Iterator[FixtureSet]:
    """The tables of a copied data directory, without the SSTables that its transaction logs say are not live."""
    for name, table in json.loads((node / "tables.json").read_text()).items():
        folders = [node / folder for folder in table["folders"]]
        not_live = {node / path for path in table.get("sstableutil_tmp", ())}
        data_files = sorted(path for folder in folders for path in folder.glob("*-Data.db") if path not in not_live)
        yield FixtureSet(f"{entry['id']}/{name}", folders[0], tuple(data_files), node / table["expected"], entry)
