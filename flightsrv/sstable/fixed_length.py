"""Which values are stored without their length: those whose type always takes the same number of bytes.

It is a property of the type's class: tinyint, smallint, date and time *are* stored with their length.

Source: org.apache.cassandra.db.marshal.AbstractType.valueLengthIfFixed and its overrides.
"""

from __future__ import annotations

import re
from functools import cache

_PACKAGE = "org.apache.cassandra.db.marshal."
_LENGTHS = {
    "BooleanType": 1,
    "DateType": 8,
    "DoubleType": 8,
    "EmptyType": 0,
    "FloatType": 4,
    "Int32Type": 4,
    "LegacyTimeUUIDType": 16,
    "LexicalUUIDType": 16,
    "LongType": 8,
    "TimeUUIDType": 16,
    "TimestampType": 8,
    "UUIDType": 16,
}
_ELEMENT_AND_DIMENSION = re.compile(r"(.+),(\d{1,9})", re.DOTALL)


@cache
def fixed_length(type: str) -> int | None:
    """Bytes of every value of a type given by its marshal string; None when values are stored with their length."""
    name, bracket, inside = "".join(type.split()).partition("(")
    name = name.removeprefix(_PACKAGE)
    if not bracket:
        return _LENGTHS.get(name)
    inside = inside.removesuffix(")")
    if name == "ReversedType":
        return fixed_length(inside)
    vector = _ELEMENT_AND_DIMENSION.fullmatch(inside) if name == "VectorType" else None
    element = fixed_length(vector[1]) if vector else None
    return None if element is None or vector is None else element * int(vector[2])
