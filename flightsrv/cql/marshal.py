"""Class names of types, as serialization headers and custom types in CQL write them.

    type := name [ '(' arguments ')' ]        blanks may stand between tokens; an empty text is BytesType

A name without a dot is short for one of `org.apache.cassandra.db.marshal`. Collections and user types are multi-cell
unless FrozenType(...) is around them; everything inside another type is frozen, marked so or not.

Source: org.apache.cassandra.db.marshal.TypeParser, and the toString of each type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from flightsrv.cql.types import MARSHAL_PACKAGE, CqlType
from flightsrv.errors import SchemaError

MAX_TYPE_DEPTH: Final = 64
"""How deep classes may be nested in a type's text; FrozenType counts as one."""
MAX_DIMENSION: Final = 1 << 16
"""The most elements of a vector: eight times what Cassandra lets one declare."""
MAX_VECTOR_BYTES: Final = 1 << 28
"""The largest vector of values of one size: Cassandra's largest value."""

SIMPLE_CLASSES: Final = {
    "AsciiType": "ascii",
    "BooleanType": "boolean",
    "BytesType": "blob",
    "ByteType": "tinyint",
    "CounterColumnType": "counter",
    "DateType": "timestamp",
    "DecimalType": "decimal",
    "DoubleType": "double",
    "DurationType": "duration",
    "EmptyType": "empty",
    "FloatType": "float",
    "InetAddressType": "inet",
    "Int32Type": "int",
    "IntegerType": "varint",
    "LegacyTimeUUIDType": "timeuuid",
    "LexicalUUIDType": "uuid",
    "LongType": "bigint",
    "ShortType": "smallint",
    "SimpleDateType": "date",
    "TimeType": "time",
    "TimestampType": "timestamp",
    "TimeUUIDType": "timeuuid",
    "UTF8Type": "text",
    "UUIDType": "uuid",
}
CLASSES_WITH_THEIR_OWN_ORDER: Final = frozenset({"DateType", "LexicalUUIDType"})
"""These read like the kind above but sort otherwise, so their class name stays in the type."""


@dataclass(frozen=True, slots=True)
class MarshalType:
    """What the text of a class says: the type, and what only the place it stands in gives a meaning."""

    type: CqlType
    reversed: bool = False
    """ReversedType: a clustering column in descending order."""
    components: tuple[CqlType, ...] = ()
    """Of a CompositeType (whose `type` is custom): the columns of a composite partition key."""
    reversed_components: tuple[bool, ...] = ()
    """Which of them are in descending order."""
    aliases: tuple[Alias, ...] = ()
    """Of a DynamicCompositeType (whose `type` is custom)."""

    @property
    def key_types(self) -> tuple[CqlType, ...]:
        """The types of the key columns, when this is the type of a partition key. Raises SchemaError when reversed."""
        if self.reversed:
            raise SchemaError(f"a partition key of type {self.type} cannot be in descending order")
        return self.components or (self.type,)


@lru_cache(maxsize=4096)
def parse_marshal(text: str) -> MarshalType:
    """Parse a class name of org.apache.cassandra.db.marshal with its arguments.

    Classes this reader does not know become kind `custom`, with the whole text as `class_name`. Raises SchemaError,
    naming the place, on any other text, and when types are nested deeper than MAX_TYPE_DEPTH.
    """
    parser = MarshalParser(text)
    if not parser.peek():
        return MarshalType(CqlType("blob"))
    result = parser.type(0)
    if parser.peek():
        raise parser.error("the end")
    return result


@dataclass(frozen=True, slots=True)
class Alias:
    """A letter that stands for a type in the components of dynamic composites."""

    letter: str
    class_names: tuple[str, ...]
    """The simple name of the type's class; behind ReversedType that of the class inside of it."""
    type: MarshalType


class MarshalParser:
    """A walk through one text; `at` is the next character to read."""

    TOKEN: Final = re.compile(r"[ \t\n]*([\w\-+.&]*)", re.ASCII)
    BLANKS: Final = " \t\n"

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def error(self, wanted: str) -> SchemaError:
        return SchemaError(f"type {self.text[:200]!r}: {wanted} expected at character {self.at}")

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in self.BLANKS:
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise self.error(repr(character))
        self.at += 1

    def identifier(self, what: str) -> str:
        match = self.TOKEN.match(self.text, self.at)
        if match is None or not match[1]:
            raise self.error(what)
        self.at = match.end()
        return match[1]

    def hex_name(self, what: str) -> str:
        try:
            return bytes.fromhex(self.identifier(what)).decode()
        except ValueError:
            raise self.error(f"{what} as hex of UTF-8") from None

    def type(self, depth: int) -> MarshalType:
        if depth > MAX_TYPE_DEPTH:
            raise SchemaError(f"type {self.text[:200]!r}: nested deeper than {MAX_TYPE_DEPTH} types")
        self.peek()
        start = self.at
        name = self.identifier("a class name").removeprefix(MARSHAL_PACKAGE)
        if name in SIMPLE_CLASSES:
            self.skip_empty_arguments()
            class_name = name if name in CLASSES_WITH_THEIR_OWN_ORDER else ""
            return MarshalType(CqlType(SIMPLE_CLASSES[name], class_name=class_name))
        if name in ARGUMENT_PARSERS and (name != "DynamicCompositeType" or self.peek() == "("):
            self.take("(")
            result = ARGUMENT_PARSERS[name](self, depth + 1)
            self.take(")")
            if name in ("CompositeType", "DynamicCompositeType"):
                return replace(result, type=CqlType("custom", class_name=self.text[start : self.at]))
            return result
        self.skip_arguments()
        return MarshalType(CqlType("custom", class_name=self.text[start : self.at].rstrip(self.BLANKS)))

    def plain(self, depth: int) -> CqlType:
        """A type where neither ReversedType nor a composite makes sense."""
        result = self.type(depth)
        if result.reversed:
            raise self.error("a type that is not reversed, before what is")
        return result.type

    def plain_list(self, depth: int) -> tuple[CqlType, ...]:
        types = [self.plain(depth)]
        while self.peek() == ",":
            self.at += 1
            types.append(self.plain(depth))
        return tuple(types)

    def skip_empty_arguments(self) -> None:
        if self.peek() == "(":
            self.at += 1
            self.take(")")

    def skip_arguments(self) -> None:
        """Step over whatever arguments an unknown class has; only the parentheses must match."""
        depth = 0
        while (character := self.peek()) and (depth or character == "("):
            depth += {"(": 1, ")": -1}.get(character, 0)
            self.at += 1
            if not depth:
                return
        if depth:
            raise self.error("')'")


def parse_collection(kind: str, argument_count: int) -> Callable[[MarshalParser, int], MarshalType]:
    def parse(parser: MarshalParser, depth: int) -> MarshalType:
        arguments = parser.plain_list(depth)
        if len(arguments) != argument_count:
            raise parser.error(f"{argument_count} arguments of a {kind}, not {len(arguments)},")
        return MarshalType(CqlType(kind, arguments))

    return parse


def parse_tuple(parser: MarshalParser, depth: int) -> MarshalType:
    return MarshalType(CqlType("tuple", () if parser.peek() == ")" else parser.plain_list(depth)))


def parse_user_type(parser: MarshalParser, depth: int) -> MarshalType:
    """UserType(keyspace,<hex of the name>,<hex of a field name>:<type>,...)"""
    keyspace = parser.identifier("a keyspace")
    parser.take(",")
    name = parser.hex_name("a type's name")
    fields: dict[str, CqlType] = {}
    while parser.peek() == ",":
        parser.at += 1
        field = parser.hex_name("a field's name")
        parser.take(":")
        if field in fields:
            raise parser.error(f"no second field {field!r}")
        fields[field] = parser.plain(depth)
    return MarshalType(CqlType("udt", tuple(fields.values()), tuple(fields), keyspace, name))


def parse_vector(parser: MarshalParser, depth: int) -> MarshalType:
    element = parser.plain(depth)
    parser.take(",")
    digits = parser.identifier("a dimension")
    if not digits.isdecimal() or len(digits) > 9 or not 0 < int(digits) <= MAX_DIMENSION:
        raise parser.error(f"a dimension from 1 to {MAX_DIMENSION}, not {digits[:20]},")
    vector = CqlType("vector", (element,), dimension=int(digits))
    if vector.fixed_size > MAX_VECTOR_BYTES:
        raise parser.error(f"a vector of at most {MAX_VECTOR_BYTES} bytes, not {vector.fixed_size},")
    return MarshalType(vector)


def parse_frozen(parser: MarshalParser, depth: int) -> MarshalType:
    return MarshalType(parser.plain(depth).freeze())


def parse_reversed(parser: MarshalParser, depth: int) -> MarshalType:
    return MarshalType(parser.plain(depth), reversed=True)


def parse_composite(parser: MarshalParser, depth: int) -> MarshalType:
    components = [parser.type(depth)]
    while parser.peek() == ",":
        parser.at += 1
        components.append(parser.type(depth))
    return MarshalType(
        CqlType("custom"),
        components=tuple(each.type for each in components),
        reversed_components=tuple(each.reversed for each in components),
    )


def parse_dynamic(parser: MarshalParser, depth: int) -> MarshalType:
    """DynamicCompositeType(<letter>=><type>,...)"""
    aliases: list[Alias] = []
    while parser.peek() != ")":
        if aliases:
            parser.take(",")
        letter = parser.identifier("an alias")
        if len(letter) > 1:
            raise parser.error(f"an alias of one letter, not {letter[:20]},")
        parser.take("=")
        parser.take(">")
        parser.peek()
        start = parser.at
        parsed = parser.type(depth)
        classes = re.split("[(,]", parser.text[start : parser.at].removesuffix(")"))
        names = [each.strip(parser.BLANKS + ")").rpartition(".")[2] for each in classes]
        names = [each for each in names if each != "FrozenType"]
        aliases.append(Alias(letter, tuple(names[: 1 + parsed.reversed]), parsed))
    return MarshalType(CqlType("custom"), aliases=tuple(aliases))


ARGUMENT_PARSERS: Final[dict[str, Callable[[MarshalParser, int], MarshalType]]] = {
    "ListType": parse_collection("list", 1),
    "SetType": parse_collection("set", 1),
    "MapType": parse_collection("map", 2),
    "TupleType": parse_tuple,
    "UserType": parse_user_type,
    "VectorType": parse_vector,
    "FrozenType": parse_frozen,
    "ReversedType": parse_reversed,
    "CompositeType": parse_composite,
    "DynamicCompositeType": parse_dynamic,
}


def misspelt(class_name: str) -> str | None:
    """The class of Cassandra's whose name differs from this one in a single bit: nobody named another class so."""
    name = class_name.partition("(")[0].encode()
    for known in (*SIMPLE_CLASSES, *ARGUMENT_PARSERS):
        whole = (MARSHAL_PACKAGE + known).encode()
        if len(whole) == len(name) and (int.from_bytes(whole) ^ int.from_bytes(name)).bit_count() == 1:
            return known
    return None
