"""What there is, without opening any of it: the tables and their live SSTables, and what is other than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flightsrv.errors import FlightsrvError
from flightsrv.scan.catalog import Catalog

Sstables = frozenset[tuple[Path, str]]
"""Folders and names: `nb-7-big`."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was there at one time."""

    tables: Mapping[str, Sstables] = field(default_factory=dict)
    """By `keyspace.table`; those that have SSTables, and can be listed."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why other tables cannot be listed."""
    folders: frozenset[Path] = frozenset()
    """Where it would show that anything is other."""

    @property
    def sstable_count(self) -> int:
        return sum(map(len, self.tables.values()))


def take_inventory(catalog: Catalog) -> Inventory:
    """List all tables. Raises SSTableError when a folder cannot be listed."""
    tables: dict[str, Sstables] = {}
    problems = {}
    for table in catalog.tables():
        name = f"{table.keyspace}.{table.name}"
        try:
            listing = catalog.listing(table)
        except FlightsrvError as error:
            problems[name] = str(error)
            continue
        found = frozenset((folder, each.name) for folder, sstables in listing.items() for each in sstables)
        if found:
            tables[name] = found
    catalog.forget_gone()
    return Inventory(tables, problems, catalog.watched_folders())


def changes(before: Inventory, now: Inventory) -> Iterator[str]:
    """What is other, a line a table."""
    for name, error in now.problems.items():
        if before.problems.get(name) != error:
            yield f"table {name} cannot be served: {error}"
    for name in sorted(before.tables.keys() | now.tables.keys()):
        old, new = before.tables.get(name, frozenset()), now.tables.get(name, frozenset())
        if old == new or name in now.problems:
            continue
        if not new:
            yield f"table {name} is gone"
        elif not old and name not in before.problems:
            yield f"table {name} appeared, SSTables: {len(new)}"
        else:
            yield f"table {name}: SSTables new: {len(new - old)}, gone: {len(old - new)}"
