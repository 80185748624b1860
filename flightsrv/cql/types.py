"""CQL types: one frozen, hashable value for each, the same however a schema or a file writes it.

Sources: org.apache.cassandra.cql3.CQL3Type; org.apache.cassandra.db.marshal.AbstractType and its subclasses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

MARSHAL_PACKAGE: Final = "org.apache.cassandra.db.marshal."

FIXED_SIZES: Final = {
    "boolean": 1,
    "int": 4,
    "bigint": 8,
    "float": 4,
    "double": 8,
    "timestamp": 8,
    "uuid": 16,
    "timeuuid": 16,
    "empty": 0,
}
"""Bytes of a value that cells and clusterings hold without a length. tinyint, smallint, date and time do have one."""

MULTICELL_KINDS: Final = frozenset({"list", "set", "map", "udt"})


@dataclass(frozen=True, slots=True)
class CqlType:
    """A CQL type. Two are equal when they mean the same: what stands inside another type is always frozen."""

    kind: str
    """ascii text blob boolean tinyint smallint int bigint counter varint decimal float double date time timestamp uuid
    timeuuid inet duration empty, or list set map tuple udt vector, or custom."""
    arguments: tuple[CqlType, ...] = ()
    """Element, key and value, field or component types."""
    field_names: tuple[str, ...] = ()
    """Of a udt, one an argument."""
    keyspace: str = ""
    """Of a udt. It may differ from the table's when a tool renamed the keyspace."""
    name: str = ""
    """Of a udt."""
    dimension: int = 0
    """Of a vector."""
    frozen: bool = False
    """Of a list, set, map or udt; a tuple always is, for all others it is meaningless and False."""
    class_name: str = ""
    """Of a custom type its whole text; else only DateType and LexicalUUIDType, which have an order of their own."""

    def __post_init__(self) -> None:
        frozen = self.kind == "tuple" or (self.frozen and self.kind in MULTICELL_KINDS)
        object.__setattr__(self, "frozen", frozen)
        object.__setattr__(self, "arguments", tuple(argument.freeze() for argument in self.arguments))

    def freeze(self) -> CqlType:
        """This type as `frozen<...>`."""
        return replace(self, frozen=True) if self.is_multicell else self

    @property
    def is_multicell(self) -> bool:
        """Whether every element is a cell of its own (Cassandra: a complex column)."""
        return self.kind in MULTICELL_KINDS and not self.frozen

    @property
    def fixed_size(self) -> int:
        """Bytes of a value written without a length in cells and clusterings, or -1."""
        if self.kind != "vector":
            return FIXED_SIZES.get(self.kind, -1)
        size = self.arguments[0].fixed_size
        return -1 if size < 0 else size * self.dimension

    def parts(self) -> Iterator[CqlType]:
        """This type, and all that stand inside of it."""
        yield self
        for argument in self.arguments:
            yield from argument.parts()

    def __str__(self) -> str:
        """The type in CQL, as DESCRIBE and system_schema show it."""
        inner = ", ".join(map(str, self.arguments))
        match self.kind:
            case "udt":
                text = quoted(self.name)
            case "vector":
                text = f"vector<{inner}, {self.dimension}>"
            case "list" | "set" | "map" | "tuple":
                text = f"{self.kind}<{inner}>"
            case "custom":
                text = f"'{self.class_name}'"
            case _:
                text = f"'{MARSHAL_PACKAGE}LexicalUUIDType'" if self.class_name == "LexicalUUIDType" else self.kind
        return f"frozen<{text}>" if self.frozen else text


def quoted(name: str) -> str:
    """A name as CQL writes it: in double quotes unless it is plain lower case."""
    return name if re.fullmatch("[a-z][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'
