"""Statements in pieces, each of which names its column, so that a column can be taken out of a script."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from flightsrv.cql.types import quoted


@dataclass(frozen=True, slots=True)
class Term:
    """An assignment, what is deleted, or a condition."""

    columns: tuple[str, ...]
    cql: str


@dataclass(frozen=True, slots=True)
class Using:
    timestamp_us: int | None = None
    ttl_s: int | None = None

    @property
    def cql(self) -> str:
        parts = [
            *([] if self.timestamp_us is None else [f"TIMESTAMP {self.timestamp_us}"]),
            *([] if self.ttl_s is None else [f"TTL {self.ttl_s}"]),
        ]
        return f" USING {' AND '.join(parts)}" if parts else ""


@dataclass(frozen=True, slots=True)
class Insert:
    values: tuple[tuple[str, str], ...]
    """Column and literal."""
    using: Using = Using()

    def cql(self, keyspace: str) -> str:
        names, literals = zip(*self.values, strict=True)
        return (
            f"INSERT INTO {keyspace}.t ({', '.join(map(quoted, names))}) VALUES ({', '.join(literals)}){self.using.cql}"
        )


@dataclass(frozen=True, slots=True)
class Update:
    assignments: tuple[Term, ...]
    where: tuple[Term, ...]
    using: Using = Using()

    def cql(self, keyspace: str) -> str:
        return f"UPDATE {keyspace}.t{self.using.cql} SET {_joined(self.assignments)} WHERE {_conditions(self.where)}"


@dataclass(frozen=True, slots=True)
class Delete:
    targets: tuple[Term, ...]
    """Columns, elements or fields; none: all that `where` selects."""
    where: tuple[Term, ...]
    using: Using = Using()

    def cql(self, keyspace: str) -> str:
        targets = f" {_joined(self.targets)}" if self.targets else ""
        return f"DELETE{targets} FROM {keyspace}.t{self.using.cql} WHERE {_conditions(self.where)}"


Write: TypeAlias = Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Batch:
    kind: str
    """"", UNLOGGED or COUNTER."""
    writes: tuple[Write, ...]
    using: Using = Using()

    def cql(self, keyspace: str) -> str:
        writes = "; ".join(write.cql(keyspace) for write in self.writes)
        return f"BEGIN {self.kind}{' ' * bool(self.kind)}BATCH{self.using.cql} {writes}; APPLY BATCH"


@dataclass(frozen=True, slots=True)
class Alter:
    """ALTER TABLE, or ALTER TYPE."""

    what: str
    """`TABLE {}.t` or `TYPE {}.u0`, the keyspace left open."""
    change: str
    column: str | None = None

    def cql(self, keyspace: str) -> str:
        return f"ALTER {self.what.format(keyspace)} {self.change}"


Statement: TypeAlias = Write | Batch | Alter


def without(statement: Statement, column: str) -> Statement | None:
    """The statement without all that speaks of a column; None when nothing remains."""
    match statement:
        case Insert(values):
            kept = tuple(pair for pair in values if pair[0] != column)
            return replace(statement, values=kept) if kept else None
        case Update(assignments, where):
            assignments = _without(assignments, column)
            return replace(statement, assignments=assignments, where=_without(where, column)) if assignments else None
        case Delete(targets, where):
            kept_targets = _without(targets, column)
            if targets and not kept_targets:
                return None
            return replace(statement, targets=kept_targets, where=_without(where, column))
        case Batch(_, writes):
            kept_writes = tuple(write for each in writes if (write := without(each, column)) is not None)
            return replace(statement, writes=kept_writes) if kept_writes else None
        case Alter():
            return None if statement.column == column else statement


def _without(terms: tuple[Term, ...], column: str) -> tuple[Term, ...]:
    return tuple(term for term in terms if column not in term.columns)


def _joined(terms: Iterable[Term]) -> str:
    return ", ".join(term.cql for term in terms)


def _conditions(terms: Iterable[Term]) -> str:
    return " AND ".join(term.cql for term in terms)
