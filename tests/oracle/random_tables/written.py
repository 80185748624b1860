"""Scripts as text, as `Script.cql` gives them: to be changed by hand and played again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.oracle.random_tables.schemas import TABLE, VIEW
from tests.oracle.random_tables.scripts import Script

KEYSPACE = "ks"


@dataclass(frozen=True, slots=True)
class Written:
    """A statement."""

    text: str

    def cql(self, keyspace: str) -> str:
        return re.sub(rf"\b{KEYSPACE}\.", f"{keyspace}.", self.text)


@dataclass(frozen=True, slots=True)
class WrittenSchema:
    """The CREATE statements that a script begins with."""

    statements: tuple[Written, ...]

    def cql(self, keyspace: str) -> list[str]:
        return [statement.cql(keyspace) for statement in self.statements]

    def tables(self) -> tuple[str, ...]:
        has_view = any(each.text.startswith("CREATE MATERIALIZED VIEW") for each in self.statements)
        return (TABLE, VIEW) if has_view else (TABLE,)


def read_script(text: str) -> Script:
    """A statement ends with ; at the end of a line; `-- flush` and `-- compact` stand on lines of their own."""
    created: list[Written] = []
    rounds: list[list[Written]] = [[]]
    compacted_after = None
    for part in re.split(r"(?m);\s*$|^(?=-- )|(?<=-- flush)$|(?<=-- compact)$", text):
        match part.strip():
            case "":
                continue
            case "-- flush":
                rounds.append([])
            case "-- compact":
                compacted_after = len(rounds) - 2
            case statement if statement.startswith("CREATE"):
                created.append(Written(statement))
            case statement:
                rounds[-1].append(Written(statement))
    return Script(WrittenSchema(tuple(created)), tuple(map(tuple, filter(None, rounds))), compacted_after)
