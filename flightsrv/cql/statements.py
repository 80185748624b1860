"""What statements of CQL say about tables and types, as they are written: nothing is resolved or checked here."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as it is written: `list<int>`, `frozen<addr>`, `ks."Addr"`, or a class in quotes."""

    name: str
    quoted: bool = False
    keyspace: str | None = None
    arguments: tuple[TypeName | int, ...] = ()
    class_text: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    name: str
    type: TypeName
    static: bool
    is_key: bool
    """PRIMARY KEY stands behind the column."""


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    partition: tuple[str, ...]
    clustering: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    id: UUID | None = None
    compact_storage: bool = False
    descending: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Statement:
    keyspace: str | None
    name: str
    line: int = field(default=1, kw_only=True)
    column: int = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """`name` is the keyspace of names that have none, from here on."""


@dataclass(frozen=True, slots=True)
class Create(Statement):
    if_not_exists: bool


@dataclass(frozen=True, slots=True)
class CreateTable(Create):
    columns: tuple[ColumnDefinition, ...]
    primary_keys: tuple[PrimaryKey, ...]
    options: Options


@dataclass(frozen=True, slots=True)
class CreateType(Create):
    fields: tuple[tuple[str, TypeName], ...]


@dataclass(frozen=True, slots=True)
class CreateView(Create):
    selected: tuple[str, ...]
    """Empty for *."""
    base_keyspace: str | None
    base_name: str
    primary_key: PrimaryKey
    options: Options


@dataclass(frozen=True, slots=True)
class AlterTable(Statement):
    """Nothing is dropped, added, renamed or changed by ALTER TABLE ... WITH."""

    dropped: tuple[str, ...] = ()
    dropped_time_us: int | None = None
    added: tuple[ColumnDefinition, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, TypeName] | None = None
    """A column's other type."""
    drops_compact_storage: bool = False


@dataclass(frozen=True, slots=True)
class AlterType(Statement):
    added: tuple[str, TypeName] | None = None
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, TypeName] | None = None
