"""From types as they are written to what they mean: native names, collections, and user types of a keyspace.

Sources: org.apache.cassandra.cql3.CQL3Type.Raw; org.apache.cassandra.schema.Types.RawBuilder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flightsrv.cql.marshal import MAX_DIMENSION, MAX_TYPE_DEPTH, parse_marshal
from flightsrv.cql.statements import TypeName
from flightsrv.cql.types import CqlType
from flightsrv.errors import SchemaError

NATIVE_KINDS: Final = {
    name: name
    for name in (
        *("ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "empty", "float"),
        *("inet", "int", "smallint", "text", "time", "timestamp", "timeuuid", "tinyint", "uuid", "varint"),
    )
} | {"varchar": "text"}
TYPE_ARGUMENTS: Final = {"frozen": 1, "list": 1, "set": 1, "map": 2, "vector": 1}
"""How many types each takes; a tuple takes any number, a vector its dimension besides."""

Fields = Sequence[tuple[str, TypeName]]


def resolve_user_types(keyspace: str, definitions: Mapping[str, Fields]) -> dict[str, CqlType]:
    """All user types of a keyspace, whichever order they are defined in.

    Raises SchemaError when one is made of itself, or of a type that makes no sense.
    """
    resolved: dict[str, CqlType] = {}
    for name in definitions:
        resolve_user_type(keyspace, name, definitions, resolved, ())
    return resolved


def resolve_user_type(
    keyspace: str,
    name: str,
    definitions: Mapping[str, Fields],
    resolved: dict[str, CqlType],
    within: tuple[str, ...],
) -> None:
    """Add a user type to `resolved`, after those it is made of. `within`: the types whose fields lead here."""
    if name in resolved or name not in definitions:
        return
    if name in within or len(within) > MAX_TYPE_DEPTH:
        raise SchemaError(f"type {name} is made of itself, or of more than {MAX_TYPE_DEPTH} types in each other")
    fields = definitions[name]
    for _, type_name in fields:
        for needed in user_type_names(type_name):
            resolve_user_type(keyspace, needed, definitions, resolved, (*within, name))
    types = tuple(resolve_type(type_name, resolved) for _, type_name in fields)
    resolved[name] = CqlType("udt", types, tuple(field for field, _ in fields), keyspace, name)


def user_type_names(type_name: TypeName) -> set[str]:
    """The names in a type that may be those of user types."""
    pending, names = [type_name], set()
    while pending:
        part = pending.pop()
        if part.quoted or part.name not in NATIVE_KINDS:
            names.add(part.name)
        pending += [argument for argument in part.arguments if isinstance(argument, TypeName)]
    return names


def resolve_type(type_name: TypeName, user_types: Mapping[str, CqlType], depth: int = 0) -> CqlType:
    """What a written type means.

    A name that is neither native nor in `user_types` becomes a custom type of that name, whose values are opaque.
    Raises SchemaError when arguments are missing, too many or of the wrong kind.
    """
    if depth > MAX_TYPE_DEPTH:
        raise SchemaError(f"a type is nested deeper than {MAX_TYPE_DEPTH} types")
    if type_name.class_text is not None:
        return parse_marshal(type_name.class_text).type
    name = type_name.name
    if not type_name.quoted and (name in TYPE_ARGUMENTS or name == "tuple"):
        return resolve_parametrized(type_name, user_types, depth)
    if type_name.arguments:
        raise SchemaError(f"type {name} takes no arguments")
    if name in NATIVE_KINDS and not type_name.quoted and type_name.keyspace is None:
        return CqlType(NATIVE_KINDS[name])
    return user_types.get(name) or CqlType("custom", class_name=name)


def resolve_parametrized(type_name: TypeName, user_types: Mapping[str, CqlType], depth: int) -> CqlType:
    name, arguments = type_name.name, type_name.arguments
    types = tuple(resolve_type(part, user_types, depth + 1) for part in arguments if isinstance(part, TypeName))
    numbers = [part for part in arguments if isinstance(part, int)]
    fits = bool(types) and len(types) == TYPE_ARGUMENTS.get(name, len(types))
    if not fits or len(numbers) != (name == "vector") or not all(0 < number <= MAX_DIMENSION for number in numbers):
        raise SchemaError(f"type {name} does not have the arguments it needs")
    if name == "frozen":
        return types[0].freeze()
    return CqlType(name, types, dimension=sum(numbers))
