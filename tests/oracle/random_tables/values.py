"""CQL types and literals drawn at random: every type, and of each its extremes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from flightsrv.cql.types import CqlType, quoted

LITERALS: Mapping[str, Sequence[str]] = {
    "ascii": ["''", "'a'", "'B'", "'it''s'", f"'{'~' * 300}'"],
    "text": ["''", "'a'", "'ab'", "'Ü'", "'世界'", "'🙂'", "'\uffff'", "'line\nline'", f"'{'x' * 3000}'"],
    "blob": ["0x", "0x00", "0x80", "0xff", "0x7f00", "0x" + "ab" * 2000],
    "boolean": ["true", "false"],
    "tinyint": ["-128", "-1", "0", "1", "127"],
    "smallint": ["-32768", "-1", "0", "255", "256", "32767"],
    "int": ["-2147483648", "-1", "0", "1", "2147483647"],
    "bigint": ["-9223372036854775808", "-1", "0", "1", "4294967296", "9223372036854775807"],
    "varint": ["-129", "-1", "0", "128", "18446744073709551616", "-" + "9" * 38, "1" + "0" * 60],
    "decimal": ["-1.5", "0", "1", "1.000000001", "123E+5", "1E-12", "-" + "9" * 29 + "." + "9" * 9, "1E+300"],
    "float": ["NaN", "Infinity", "-Infinity", "0.0", "-0.0", "1.5", "-3.4028235E38", "1.4E-45"],
    "double": ["NaN", "Infinity", "-Infinity", "0.0", "-0.0", "0.1", "-1.7976931348623157E308", "4.9E-324"],
    "date": ["0", "2147483647", "2147483648", "'2024-02-29'", "4294967295"],
    "time": ["'00:00:00'", "1", "'12:34:56.789'", "'23:59:59.999999999'"],
    "timestamp": ["-9223372036854775808", "-1", "0", "'2024-02-29T12:00:00.001Z'", "9223372036854775807"],
    "uuid": [
        "00000000-0000-0000-0000-000000000000",
        "50554d6e-29bb-11e5-b345-feff819cdc9f",
        "123e4567-e89b-42d3-a456-426614174000",
        "923e4567-e89b-42d3-a456-426614174000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
    "timeuuid": [
        "00000000-0000-1000-8080-808080808080",
        "50554d6e-29bb-11e5-b345-feff819cdc9f",
        "50554d6e-29bb-11e5-8345-7eff819cdc9f",
        "60554d6e-29bb-11e5-b345-feff819cdc9f",
        "ffffffff-ffff-1fff-bf7f-7f7f7f7f7f7f",
    ],
    "inet": ["'0.0.0.0'", "'127.0.0.1'", "'255.255.255.255'", "'::'", "'::1'", "'2001:db8::ff00:42:8329'"],
    "duration": ["0s", "1mo2d3ns", "-12mo40d", "9223372036854775807ns", "2147483647mo", "-2147483647d"],
}
"""No two of a type are equal for Cassandra: which of two equal keys a merge shows is chance."""

TYPES_WITHOUT_ORDER = ("duration",)
MAY_BE_EMPTY = (
    *("int", "bigint", "varint", "float", "double", "decimal", "boolean"),
    *("timestamp", "uuid", "timeuuid", "inet"),
)
"""An empty value of these is a value: not null, and no number either."""
NULL_SHARE, EMPTY_SHARE = 0.15, 0.03
DEPTH = 3


def draw_type(random: Random, user_types: Sequence[CqlType], ordered: bool, depth: int = 0) -> CqlType:
    """A type; its collections and user types are frozen or not. ordered: one of keys, so without duration."""
    others = ["list", "set", "map", "tuple", "vector"] + ["udt"] * bool(user_types)
    if depth == DEPTH or random.random() < 0.6:
        return CqlType(random.choice([kind for kind in LITERALS if not (ordered and kind in TYPES_WITHOUT_ORDER)]))

    def inner(is_key: bool = False) -> CqlType:
        return draw_type(random, user_types, ordered or is_key, depth + 1)

    frozen = random.random() < 0.5
    match random.choice(others):
        case "list":
            return CqlType("list", (inner(),), frozen=frozen)
        case "set":
            return CqlType("set", (inner(is_key=True),), frozen=frozen)
        case "map":
            return CqlType("map", (inner(is_key=True), inner()), frozen=frozen)
        case "vector":
            return CqlType("vector", (inner(),), dimension=random.randint(1, 3))
        case "tuple":
            return CqlType("tuple", tuple(inner() for _ in range(random.randint(1, 3))))
        case _:
            type_ = random.choice(user_types)
            if ordered and not has_order(type_):
                return inner()
            return type_.freeze() if frozen else type_


def has_order(type_: CqlType) -> bool:
    return type_.kind not in TYPES_WITHOUT_ORDER and all(has_order(argument) for argument in type_.arguments)


def contains(type_: CqlType, name: str) -> bool:
    """Whether a user type is part of a type."""
    return type_.name == name or any(contains(argument, name) for argument in type_.arguments)


def with_type(type_: CqlType, user_type: CqlType) -> CqlType:
    """The type with a user type as it is now, wherever it is part of it."""
    if type_.name == user_type.name:
        return user_type.freeze() if type_.frozen else user_type
    return replace(type_, arguments=tuple(with_type(argument, user_type) for argument in type_.arguments))


def literal(type_: CqlType, random: Random) -> str:
    """A value as CQL writes it; not null, but for what is inside of tuples and user types."""
    if type_.kind in MAY_BE_EMPTY and random.random() < EMPTY_SHARE:
        return empty(type_)
    return _plain_literal(type_, random)


def empty(type_: CqlType) -> str:
    return f"blob_as_{type_.kind}(0x)"


def _plain_literal(type_: CqlType, random: Random) -> str:
    arguments = type_.arguments
    match type_.kind:
        case "list":
            return "[" + ", ".join(_plain_literal(arguments[0], random) for _ in range(random.randint(0, 3))) + "]"
        case "vector":
            return "[" + ", ".join(_plain_literal(arguments[0], random) for _ in range(type_.dimension)) + "]"
        case "set":
            return "{" + ", ".join(_plain_literal(arguments[0], random) for _ in range(random.randint(0, 3))) + "}"
        case "map":
            pairs = {_plain_literal(arguments[0], random): _plain_literal(arguments[1], random) for _ in range(3)}
            return (
                "{" + ", ".join(f"{key}: {value}" for key, value in list(pairs.items())[: random.randint(0, 3)]) + "}"
            )
        case "tuple":
            return "(" + ", ".join(_part(argument, random) for argument in arguments) + ")"
        case "udt":
            fields = zip(type_.field_names, arguments, strict=True)
            return "{" + ", ".join(f"{quoted(name)}: {_part(argument, random)}" for name, argument in fields) + "}"
        case _:
            return random.choice(LITERALS[type_.kind])


def _part(type_: CqlType, random: Random) -> str:
    return "null" if random.random() < NULL_SHARE else _plain_literal(type_, random)
