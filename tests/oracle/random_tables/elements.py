"""Changes of a part of a column: elements of collections, fields of user types, counts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from flightsrv.cql.schema import Column
from flightsrv.cql.types import quoted
from tests.oracle.random_tables.values import literal

MOST_INDEX = 2


def changes(column: Column, random: Random, whole: Callable[[], str]) -> list[str]:
    """What stands behind SET for one column: mostly a single assignment. whole: draws a value for the column."""
    name, type_ = quoted(column.name), column.type
    if type_.kind == "counter":
        return [f"{name} = {name} {random.choice('+-')} {random.choice([0, 1, 7, 2**40, 2**63 - 1])}"]
    if not type_.is_multicell or random.random() < 0.3:
        return [f"{name} = {whole()}"]
    part = literal(type_, random)
    match type_.kind:
        case "list":
            index = random.randint(0, MOST_INDEX)
            element = literal(type_.arguments[0], random)
            one = [f"{name} = {name} + {part}", f"{name} = {part} + {name}", f"{name} = {name} - {part}"]
            return [random.choice([*one, f"{name}[{index}] = {element}", f"{name}[{index}] = null"])]
        case "set":
            return [f"{name} = {name} {random.choice('++-')} {part}"]
        case "map":
            key, value = (literal(argument, random) for argument in type_.arguments)
            keys = f"{name} = {name} - {{{key}}}"
            return [
                random.choice([f"{name} = {name} + {part}", f"{name}[{key}] = {value}", f"{name}[{key}] = null", keys])
            ]
        case _:
            fields = list(zip(type_.field_names, type_.arguments, strict=True))
            chosen = random.sample(fields, random.randint(1, len(fields)))
            return [
                f"{name}.{quoted(field)} = {literal(argument, random) if random.random() < 0.8 else 'null'}"
                for field, argument in chosen
            ]


def deletions(column: Column, random: Random) -> str:
    """What stands behind DELETE for one column."""
    name, type_ = quoted(column.name), column.type
    if not type_.is_multicell or random.random() < 0.4:
        return name
    match type_.kind:
        case "list":
            return f"{name}[{random.randint(0, MOST_INDEX)}]"
        case "udt":
            return f"{name}.{quoted(random.choice(type_.field_names))}"
        case _:
            return f"{name}[{literal(type_.arguments[0], random)}]"
