"""CQL types, from the class strings of an SSTable's header and from CQL text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

CLASS_NAMES = {
    "AsciiType": "ascii",
    "BooleanType": "boolean",
    "BytesType": "blob",
    "ByteType": "tinyint",
    "CounterColumnType": "counter",
    "DateType": "legacy_timestamp",
    "DecimalType": "decimal",
    "DoubleType": "double",
    "DurationType": "duration",
    "EmptyType": "empty",
    "FloatType": "float",
    "InetAddressType": "inet",
    "Int32Type": "int",
    "IntegerType": "varint",
    "LexicalUUIDType": "lexical_uuid",
    "LongType": "bigint",
    "ShortType": "smallint",
    "SimpleDateType": "date",
    "TimeType": "time",
    "TimeUUIDType": "timeuuid",
    "LegacyTimeUUIDType": "timeuuid",
    "TimestampType": "timestamp",
    "UTF8Type": "text",
    "UUIDType": "uuid",
    "ListType": "list",
    "SetType": "set",
    "MapType": "map",
    "TupleType": "tuple",
    "CompositeType": "composite",
}
FIXED_LENGTHS = {
    "boolean": 1,
    "int": 4,
    "float": 4,
    "bigint": 8,
    "double": 8,
    "timestamp": 8,
    "legacy_timestamp": 8,
    "uuid": 16,
    "timeuuid": 16,
    "lexical_uuid": 16,
    "empty": 0,
}
"""Bytes of the types written without a length. tinyint, smallint, date and time are not among them."""


@dataclass(frozen=True, slots=True)
class CqlType:
    name: str
    args: tuple[CqlType, ...] = ()
    fields: tuple[str, ...] = ()
    """Names of a UDT's fields; `args` are their types."""
    dimension: int = 0
    is_frozen: bool = False
    is_reversed: bool = False

    @property
    def is_multi_cell(self) -> bool:
        return self.name in ("list", "set", "map", "udt") and not self.is_frozen

    @property
    def fixed_length(self) -> int | None:
        if self.name == "vector":
            length = self.args[0].fixed_length
            return None if length is None else length * self.dimension
        return FIXED_LENGTHS.get(self.name)


def of_class(text: str) -> CqlType:
    """`org.apache.cassandra.db.marshal.MapType(UTF8Type,Int32Type)` as a type. Unknown classes become blobs."""
    tokens = re.findall(r"[^\s(),:]+|[(),:]", text)
    made = _class(tokens)
    assert not tokens, f"left over after a type: {tokens}"
    return made


def _class(tokens: list[str]) -> CqlType:
    name = tokens.pop(0).rsplit(".", 1)[-1] if tokens else "BytesType"
    if name == "UserType":
        return _user_type(tokens)
    if name == "VectorType":
        _expect(tokens, "(")
        element = _class(tokens)
        _expect(tokens, ",")
        dimension = int(tokens.pop(0))
        _expect(tokens, ")")
        return CqlType("vector", (element,), dimension=dimension)
    if name not in CLASS_NAMES and name not in ("FrozenType", "ReversedType"):
        _skip_arguments(tokens)
        return CqlType("blob")
    args = []
    if tokens[:1] == ["("]:
        while tokens.pop(0) != ")":
            args.append(_class(tokens))
    if name == "FrozenType":
        return replace(args[0], is_frozen=True)
    if name == "ReversedType":
        return replace(args[0], is_reversed=True)
    return CqlType(CLASS_NAMES[name], tuple(args))


def _user_type(tokens: list[str]) -> CqlType:
    _expect(tokens, "(")
    del tokens[:4]  # keyspace, comma, hex name, and the comma before the first field
    names, types = [], []
    while True:
        names.append(bytes.fromhex(tokens.pop(0)).decode())
        _expect(tokens, ":")
        types.append(_class(tokens))
        if tokens.pop(0) == ")":
            return CqlType("udt", tuple(types), tuple(names))


def _skip_arguments(tokens: list[str]) -> None:
    if tokens[:1] != ["("]:
        return
    depth = 0
    while True:
        depth += {"(": 1, ")": -1}.get(tokens.pop(0), 0)
        if depth == 0:
            return


def _expect(tokens: list[str], token: str) -> None:
    found = tokens.pop(0)
    assert found == token, f"{token} expected in a type, {found} found"


def of_cql(text: str, udts: Mapping[str, CqlType] | None = None) -> CqlType:
    """`map<text, frozen<addr>>` as a type; `udts` gives the keyspace's own types by name."""
    tokens = re.findall(r'"[^"]*"|\'[^\']*\'|[^\s<>,"]+|[<>,]', text)
    made = _cql(tokens, udts or {})
    assert not tokens, f"left over after a type: {tokens}"
    return made


def _cql(tokens: list[str], udts: Mapping[str, CqlType]) -> CqlType:
    name = tokens.pop(0)
    if name.startswith("'"):
        return of_class(name.strip("'"))
    args: list[CqlType] = []
    dimension = 0
    if tokens[:1] == ["<"]:
        while tokens.pop(0) != ">":
            if tokens[0].isdigit():
                dimension = int(tokens.pop(0))
            else:
                args.append(_cql(tokens, udts))
    if name == "frozen":
        return replace(args[0], is_frozen=True)
    if name.strip('"') in udts:
        return udts[name.strip('"')]
    return CqlType("text" if name == "varchar" else name, tuple(args), dimension=dimension)


def udts_of_ddl(ddl: str) -> dict[str, CqlType]:
    """The types of all CREATE TYPE statements, which stand in the order they need each other."""
    udts: dict[str, CqlType] = {}
    for name, body in re.findall(r'CREATE TYPE (?:\w+\.)?"?(\w+)"? \((.*?)\);', ddl, re.DOTALL):
        fields = [field.split(maxsplit=1) for field in _outside_of_brackets(body)]
        names = tuple(field.strip('"') for field, _ in fields)
        udts[name] = CqlType("udt", tuple(of_cql(text, udts) for _, text in fields), names)
    return udts


def _outside_of_brackets(text: str) -> list[str]:
    """Cut at the commas that stand outside of <>."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def types_of_schema(expected: Mapping[str, Any]) -> dict[str, CqlType]:
    """Every column of an expected.json, by name, in the order of its rows."""
    udts = udts_of_ddl(expected.get("cql") or "")
    return {name: of_cql(text, udts) for name, text in expected["columns"].items()}
