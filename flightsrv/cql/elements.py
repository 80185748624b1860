"""How the values of collections, tuples, user types and vectors are made of the values of their elements.

    list, set    i32 count, then count x (i32 length, bytes)                a length below 0 is null
    map          i32 count, then count x 2 x (i32 length, bytes)
    tuple, udt   per field i32 length, bytes; may stop early, then the other fields are null
    vector       the elements back to back; with a vint length each when their type has no fixed size

Sources: org.apache.cassandra.serializers.CollectionSerializer; org.apache.cassandra.db.marshal.TupleType, VectorType.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flightsrv.cql.types import CqlType
from flightsrv.cql.vint import read_unsigned_vint, write_unsigned_vint


def read_sized(data: bytes, at: int) -> tuple[bytes | None, int]:
    """One element with an i32 length at index `at`, None for null; and the index after it."""
    size = read_i32(data, at)
    at += 4
    if size < 0:
        return None, at
    if size > len(data) - at:
        raise ValueError(f"length {size} at byte {at - 4}, {len(data) - at} bytes left")
    return data[at : at + size], at + size


def read_i32(data: bytes, at: int) -> int:
    if at + 4 > len(data):
        raise ValueError(f"a length of 4 bytes at byte {at}, {len(data) - at} bytes left")
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def write_sized(elements: Iterable[bytes | None]) -> bytes:
    return b"".join(
        b"\xff\xff\xff\xff" if element is None else len(element).to_bytes(4, "big") + element for element in elements
    )


def collection_elements(data: bytes, per_entry: int = 1) -> list[bytes | None]:
    """The elements of a list or set; of a map with per_entry=2: key, value, key, value ...

    Raises ValueError when the bytes are too few or too many for the count they begin with.
    """
    count = read_i32(data, 0)
    if not 0 <= count <= (len(data) - 4) // (4 * per_entry):
        raise ValueError(f"a collection of {count} elements in {len(data)} bytes")
    elements = []
    at = 4
    for _ in range(count * per_entry):
        element, at = read_sized(data, at)
        elements.append(element)
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes after the last element of a collection")
    return elements


def join_collection(elements: Sequence[bytes | None], per_entry: int = 1) -> bytes:
    return (len(elements) // per_entry).to_bytes(4, "big") + write_sized(elements)


def tuple_fields(data: bytes, field_count: int) -> list[bytes | None]:
    """The fields of a tuple or user type; those that are missing at the end are None like those that are null.

    Raises ValueError when a field is cut short or there are more than `field_count`.
    """
    fields: list[bytes | None] = []
    at = 0
    while at < len(data):
        if len(fields) == field_count:
            raise ValueError(f"{len(data) - at} bytes after the last of {field_count} fields")
        field, at = read_sized(data, at)
        fields.append(field)
    return fields + [None] * (field_count - len(fields))


def vector_elements(type_: CqlType, data: bytes) -> list[bytes]:
    """The elements of a vector. Raises ValueError when the bytes are too few or too many for its dimension."""
    size = type_.arguments[0].fixed_size
    elements = []
    at = 0
    for _ in range(type_.dimension):
        if size < 0:
            length, at = read_unsigned_vint(data, at)
        else:
            length = size
        if length > len(data) - at:
            raise ValueError(f"an element of {length} bytes at byte {at} of a vector, {len(data) - at} bytes left")
        elements.append(data[at : at + length])
        at += length
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes after the last of {type_.dimension} elements")
    return elements


def join_vector(type_: CqlType, elements: Sequence[bytes]) -> bytes:
    """Raises ValueError when there are not as many elements as the vector has, or one has not its type's size."""
    size = type_.arguments[0].fixed_size
    if len(elements) != type_.dimension:
        raise ValueError(f"{len(elements)} elements for a vector of {type_.dimension}")
    if size < 0:
        return b"".join(write_unsigned_vint(len(element)) + element for element in elements)
    if any(len(element) != size for element in elements):
        raise ValueError(f"an element of a {type_} has not {size} bytes")
    return b"".join(elements)
