"""From CQL text to statements; the grammar is ddl.lark.

Only CREATE TABLE, TYPE and MATERIALIZED VIEW, ALTER TABLE and TYPE, and USE say anything here; others are passed over
unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final
from uuid import UUID

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, UnexpectedToken

from flightsrv.cql.statements import (
    AlterTable,
    AlterType,
    ColumnDefinition,
    CreateTable,
    CreateType,
    CreateView,
    Options,
    PrimaryKey,
    Statement,
    TypeName,
    Use,
)
from flightsrv.errors import LimitError, SchemaError

MAX_DDL_CHARS: Final = 256 * 1024
"""Longest text that is parsed: thousands of columns, a second or two."""
MAX_STATEMENTS: Final = 1000
"""The most statements of a text that are parsed; each ALTER TABLE costs as much as its table has columns."""


class ToStatements(Transformer[Token, Any]):
    """What each rule of the grammar becomes. `parts` are what its own parts became, None for optional ones left out."""

    def name(self, parts: list[Token]) -> str:
        return unquoted(parts[0])

    def table_name(self, parts: list[Any]) -> tuple[str | None, str]:
        return parts[0], parts[1]

    def type_name(self, parts: list[Any]) -> TypeName:
        *keyspace, token = parts
        return TypeName(unquoted(token), token.type == "QUOTED_NAME", keyspace[0] if keyspace else None)

    def named_type(self, parts: list[Any]) -> TypeName:
        arguments = [int(part) if isinstance(part, Token) else part for part in parts[1:] if part is not None]
        type_name: TypeName = parts[0]
        return replace(type_name, arguments=tuple(arguments))

    def class_type(self, parts: list[Token]) -> TypeName:
        return TypeName("", class_text=parts[0][1:-1].replace("''", "'"))

    def column(self, parts: list[Any]) -> ColumnDefinition:
        name, type_name, static, inline_key = parts[:4]
        return ColumnDefinition(name, type_name, static is not None, inline_key is not None)

    def partition_key(self, parts: list[str]) -> tuple[str, ...]:
        return tuple(parts)

    def primary_key(self, parts: list[Any]) -> PrimaryKey:
        return PrimaryKey(parts[0], tuple(parts[1:]))

    def compact_storage(self, _: list[Any]) -> Options:
        return Options(compact_storage=True)

    def descending(self, _: list[Any]) -> bool:
        return True

    def ascending(self, _: list[Any]) -> bool:
        return False

    def ordered(self, parts: list[Any]) -> tuple[str, bool]:
        return parts[0], bool(parts[1])

    def clustering_order(self, parts: list[tuple[str, bool]]) -> Options:
        return Options(descending=frozenset(name for name, descending in parts if descending))

    def value(self, parts: list[Any]) -> str:
        return str(parts[0]).strip("'") if parts else ""

    def setting(self, parts: list[Any]) -> Options:
        name, text = parts
        return Options(id=UUID(text)) if name == "id" else Options()

    def options(self, parts: list[Options | None]) -> Options:
        given = [part for part in parts if part is not None]
        return Options(
            next((part.id for part in given if part.id), None),
            any(part.compact_storage for part in given),
            frozenset[str]().union(*(part.descending for part in given)),
        )

    def if_not_exists(self, _: list[Any]) -> bool:
        return True

    def create_table(self, parts: list[Any]) -> CreateTable:
        keyspace, name = parts[1]
        columns = tuple(part for part in parts if isinstance(part, ColumnDefinition))
        keys = tuple(part for part in parts if isinstance(part, PrimaryKey))
        return CreateTable(keyspace, name, bool(parts[0]), columns, keys, parts[-1])

    def field(self, parts: list[Any]) -> tuple[str, TypeName]:
        return parts[0], parts[1]

    def create_type(self, parts: list[Any]) -> CreateType:
        keyspace, name = parts[1]
        return CreateType(keyspace, name, bool(parts[0]), tuple(parts[2:]))

    def selected(self, parts: list[str]) -> tuple[str, ...]:
        return tuple(parts)

    def create_view(self, parts: list[Any]) -> CreateView:
        if_not_exists, (keyspace, name), selected, (base_keyspace, base_name) = parts[:4]
        return CreateView(keyspace, name, bool(if_not_exists), selected, base_keyspace, base_name, parts[-2], parts[-1])

    def drop(self, parts: list[Any]) -> dict[str, Any]:
        *names, time_us = parts
        return {"dropped": tuple(names), "dropped_time_us": None if time_us is None else int(time_us)}

    def drop_compact_storage(self, parts: list[str]) -> dict[str, Any]:
        if [part.lower() for part in parts] != ["compact", "storage"]:
            raise ValueError(f"a comma is missing between {parts[0]} and {parts[1]}")
        return {"drops_compact_storage": True}

    def add(self, parts: list[ColumnDefinition]) -> dict[str, Any]:
        return {"added": tuple(parts)}

    def renaming(self, parts: list[str]) -> tuple[str, str]:
        return parts[0], parts[1]

    def rename(self, parts: list[tuple[str, str]]) -> dict[str, Any]:
        return {"renamed": tuple(parts)}

    def change_type(self, parts: list[Any]) -> dict[str, Any]:
        return {"changed": (parts[0], parts[1])}

    def add_field(self, parts: list[tuple[str, TypeName]]) -> dict[str, Any]:
        return {"added": parts[0]}

    def alter_type(self, parts: list[Any]) -> AlterType:
        keyspace, name = parts[0]
        return AlterType(keyspace, name, **parts[1])

    def use(self, parts: list[str]) -> Use:
        return Use(None, parts[0])

    def alter_table(self, parts: list[Any]) -> AlterTable:
        keyspace, name = parts[0]
        change = parts[1] if isinstance(parts[1], dict) else {}
        return AlterTable(keyspace, name, **change)


def unquoted(token: Token) -> str:
    return token[1:-1].replace('""', '"') if token.type == "QUOTED_NAME" else token.lower()


@cache
def parser() -> Lark:
    return Lark.open(
        "ddl.lark",
        rel_to=__file__,
        parser="lalr",
        start=["statement", "cql_type"],
        transformer=ToStatements(),
        maybe_placeholders=True,
    )


BLANK: Final = r"(?:\s|--[^\n]*|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)"
"""White space or a comment."""
STATEMENT: Final = re.compile(
    rf"""{BLANK}*+(?P<text>(?:{BLANK}|'[^']*'|"[^"]*"|\$\$.*?\$\$|[^;])*+)""",
    re.DOTALL,
)
"""All up to a semicolon that stands in no comment, string or name."""
READ: Final = re.compile(
    rf"(CREATE{BLANK}++(TABLE|COLUMNFAMILY|TYPE|MATERIALIZED{BLANK}++VIEW)|ALTER{BLANK}++(TABLE|COLUMNFAMILY|TYPE)|USE)\b",
    re.IGNORECASE,
)
"""How the statements begin that are read."""


def parse_statements(text: str) -> Iterator[Statement]:
    """The statements of a text that say what tables look like, in order.

    Raises SchemaError, with line and column, for one of these that cannot be parsed; LimitError for more than
    MAX_DDL_CHARS or MAX_STATEMENTS.
    """
    if len(text) > MAX_DDL_CHARS:
        raise LimitError(f"CQL of {len(text)} characters, the limit is {MAX_DDL_CHARS}")
    count = 0
    for start, written in statement_texts(text):
        if READ.match(written):
            count += 1
            if count > MAX_STATEMENTS:
                raise LimitError(f"CQL of more than {MAX_STATEMENTS} statements about types and tables")
            statement: Statement = parse(text, start, written, "statement")
            line, column = line_and_column(text, start)
            yield replace(statement, line=line, column=column)


def statement_texts(text: str) -> Iterator[tuple[int, str]]:
    """Where each statement of a text begins, and what it is without its semicolon; some are empty."""
    at = 0
    while at < len(text) and (match := STATEMENT.match(text, at)):
        at = match.end() + 1
        yield match.start("text"), match["text"]


@lru_cache(maxsize=1024)
def parse_type_name(text: str) -> TypeName:
    """A type as system_schema writes it. Raises SchemaError."""
    if len(text) > MAX_DDL_CHARS:
        raise LimitError(f"a type of {len(text)} characters, the limit is {MAX_DDL_CHARS}")
    type_name: TypeName = parse(text, 0, text, "cql_type")
    return type_name


def parse(text: str, start: int, statement: str, rule: str) -> Any:
    """Parse `statement`, which begins at index `start` of `text`, as a rule of the grammar."""
    try:
        return parser().parse(statement, start=rule)
    except UnexpectedInput as error:
        at = len(statement) if is_end(error) else error.pos_in_stream or 0
        line, column = line_and_column(text, start + at)
        found = repr(statement[at : at + 20]) if statement[at:] else "the end"
        raise SchemaError(f"CQL, line {line}, column {column}: {found} is not expected here") from None
    except ValueError as error:
        line, column = line_and_column(text, start)
        raise SchemaError(f"CQL, line {line}, column {column}: {error}") from None


def is_end(error: UnexpectedInput) -> bool:
    return isinstance(error, UnexpectedToken) and error.token.type == "$END"


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Both count from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
