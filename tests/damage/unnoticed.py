"""Changes that no reader can notice, because what is changed stands nowhere else. docs/damage.md says the same.

Each is named by component and field, with what may be different then: all else must be as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.damage.outcomes import Answer


@dataclass(frozen=True)
class Unnoticed:
    """A kind of change."""

    component: str
    field: str
    """A regular expression; of a cut, the first field that is missing."""
    reason: str
    fits: Callable[[Answer, Answer], bool]
    """Whether an answer differs from the right one in nothing but what the change makes different."""


def one_column_has_another_name(answer: Answer, right: Answer) -> bool:
    """All others are as they were; it may stand elsewhere, as columns are in the order of their names."""
    (new, old) = (set(a) - set(b) for a, b in ((answer, right), (right, answer)))
    return len(new) == len(old) == 1 and new.pop().type == old.pop().type


def one_columns_fields_have_other_names(answer: Answer, right: Answer) -> bool:
    pairs = [(a, b) for a, b in zip(answer, right, strict=True) if a != b]
    if len(pairs) != 1:
        return False
    changed, was = pairs[0]
    return changed.name == was.name and _shape(changed.type) == _shape(was.type)


def _shape(type_: str) -> str:
    """A type in Arrow without the names of its fields."""
    return re.sub(r"[^<, ]*(?=: )", "", type_)


def one_column_is_null(answer: Answer, right: Answer) -> bool:
    new, old = set(answer) - set(right), set(right) - set(answer)
    if not len(new) == len(old) == 1:
        return False
    column, was = new.pop(), old.pop()
    return (column.name, column.type) == (was.name, was.type) and set(column.values) == {"None"}


def only_values_beside_keys_differ(answer: Answer, right: Answer) -> bool:
    return {column for column in right if column.name in ("pk", "ck")} <= set(answer)


UNNOTICED = (
    Unnoticed(
        "Statistics.db",
        r"HEADER\.(static|regular)\.name \d+",
        "without a schema, nothing but the header of a version without checksums tells the name of a column",
        one_column_has_another_name,
    ),
    Unnoticed(
        "Statistics.db",
        r"HEADER\.(static|regular)\.name \d+",
        "a DDL without the table's id may leave out columns that were dropped, and have others that came later",
        one_column_is_null,
    ),
    Unnoticed(
        "Statistics.db",
        r"HEADER\.(static|regular)\.type \d+",
        "without a schema, nothing but the header of a version without checksums tells the names of a UDT's fields",
        one_columns_fields_have_other_names,
    ),
    Unnoticed(
        "schema.cql",
        r"CREATE TABLE .*",
        "SSTables have the types of key columns, not their names",
        one_column_has_another_name,
    ),
    Unnoticed(
        "schema.cql",
        r"ALTER TABLE \S+ (DROP|ADD) .*",
        "nothing else tells when a column was dropped, and which were added again, or that there are more statements",
        only_values_beside_keys_differ,
    ),
)


def reason_for(file: str, field: str, answer: Answer, right: Answer) -> str | None:
    """Why a wrong answer could not be noticed; None when it should have been."""
    return next(
        (
            each.reason
            for each in UNNOTICED
            if file.endswith(each.component) and re.fullmatch(each.field, field) and each.fits(answer, right)
        ),
        None,
    )
