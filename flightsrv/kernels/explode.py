"""Values that hold values, to the places of what they hold: the step from one Arrow level to the next.

    list, set   i32 n, then n x (i32 size, bytes)
    map         i32 n, then n x (i32 size, key, i32 size, value)
    tuple, UDT  fields, each i32 size, bytes; trailing ones may be missing
    vector      elements back to back if their type has a fixed size, else n x (vint size, bytes)
    composite   partition key of several columns: components, each u16 size, bytes, 0

A size below 0 means null. Source: org.apache.cassandra.serializers.CollectionSerializer, db.marshal.TupleType,
VectorType, CompositeType.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.gather import set_null
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import load_be16, load_be32, load_u8
from flightsrv.slab import ABSENT

MALFORMED = -1


@kernel
def _signed_be32(a):
    word = np.int64(load_be32(a))
    return word - (1 << 32) if word >= 1 << 31 else word


@kernel
def count_elements(at, size, start, stop, parts):
    """Elements (pairs if parts is 2) of all collections together, or MALFORMED if a count cannot fit its value."""
    total = np.int64(0)
    for i in range(start, stop):
        if size[i] <= 0:
            continue
        if size[i] < 4:
            return MALFORMED
        count = _signed_be32(at[i])
        if count < 0 or count * 4 * parts > size[i] - 4:
            return MALFORMED
        total += count
    return total


@kernel
def explode_collections(at, size, start, stop, parts, offsets, valid, filled, child_at, child_size):
    """Collections to their elements' places.

    offsets: int32, offsets[filled] is the number of elements so far. child_at: int64 (parts, elements); child_size:
    int32 likewise; parts is 2 for maps. Returns nulls or MALFORMED.
    """
    nulls = 0
    made = 0
    before = np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] <= 0:
            nulls += 1
            set_null(valid, index)
            offsets[index + 1] = before + made
            continue
        place = at[i] + 4
        end = at[i] + size[i]
        for _ in range(_signed_be32(at[i])):
            for part in range(parts):
                if end - place < 4:
                    return MALFORMED
                bytes_ = _signed_be32(place)
                place += 4
                if bytes_ > end - place:
                    return MALFORMED
                child_at[part, made] = place
                child_size[part, made] = bytes_ if bytes_ >= 0 else ABSENT
                place += max(bytes_, 0)
            made += 1
        if place != end:
            return MALFORMED
        offsets[index + 1] = before + made
    return nulls


@kernel
def explode_fields(at, size, start, stop, valid, filled, child_at, child_size):
    """Tuples to their fields' places. child_at: int64 (fields, stop - start); child_size: int32. Returns nulls or
    MALFORMED.
    """
    nulls = 0
    for i in range(start, stop):
        index = i - start
        if size[i] <= 0:
            nulls += 1
            set_null(valid, filled + index)
        place = at[i]
        end = at[i] + max(size[i], 0)
        for field in range(child_at.shape[0]):
            child_size[field, index] = ABSENT
            if place == end:
                continue
            if end - place < 4:
                return MALFORMED
            bytes_ = _signed_be32(place)
            place += 4
            if bytes_ > end - place:
                return MALFORMED
            if bytes_ >= 0:
                child_at[field, index] = place
                child_size[field, index] = bytes_
                place += bytes_
        if place != end:
            return MALFORMED
    return nulls


@kernel
def _size_vint(place, end):
    """The vint at an address: (value, address behind it), or (-1, place) if it does not end in time or is too large."""
    first = np.int64(load_u8(place))
    extra = 0
    while extra < 8 and first & (0x80 >> extra):
        extra += 1
    if extra > 4 or end - place < 1 + extra:
        return np.int64(-1), place
    value = first & (0xFF >> extra)
    for i in range(extra):
        value = value << 8 | np.int64(load_u8(place + 1 + i))
    return value, place + 1 + extra


@kernel
def _explode_vector(place, end, dimension, width, child_at, child_size, made):
    """One vector's elements' places from index `made` on. Returns 0 or MALFORMED."""
    for element in range(made, made + dimension):
        bytes_ = np.int64(width)
        if width < 0:
            if place >= end:
                return MALFORMED
            bytes_, place = _size_vint(place, end)
        if bytes_ < 0 or bytes_ > end - place:
            return MALFORMED
        child_at[element] = place
        child_size[element] = bytes_
        place += bytes_
    return 0 if place == end else MALFORMED


@kernel
def explode_vectors(at, size, start, stop, dimension, width, offsets, valid, filled, child_at, child_size):
    """Vectors to their elements' places; width is the element's fixed size or -1. A null has none. Returns nulls or
    MALFORMED.
    """
    nulls = 0
    made = np.int64(0)
    before = np.int64(offsets[filled])
    for i in range(start, stop):
        index = filled + i - start
        if size[i] <= 0:
            nulls += 1
            set_null(valid, index)
        else:
            if _explode_vector(at[i], at[i] + size[i], dimension, width, child_at, child_size, made) == MALFORMED:
                return MALFORMED
            made += dimension
        offsets[index + 1] = before + made
    return nulls


@kernel
def explode_arrays(at, size, start, stop, dimension, width, valid, filled, child_at, child_size):
    """Likewise, but each vector has `dimension` places, and those of a null are ABSENT.

    child_at: int64 (dimension * (stop - start),); child_size: int32 likewise.
    """
    nulls = 0
    for i in range(start, stop):
        made = (i - start) * dimension
        if size[i] <= 0:
            nulls += 1
            set_null(valid, filled + i - start)
            for element in range(made, made + dimension):
                child_size[element] = ABSENT
        elif _explode_vector(at[i], at[i] + size[i], dimension, width, child_at, child_size, made) == MALFORMED:
            return MALFORMED
    return nulls


@kernel
def split_composite(at, size, start, stop, child_at, child_size):
    """Composite partition keys to their components' places. child_at: int64 (components, stop - start). Returns 0 or
    MALFORMED.
    """
    for i in range(start, stop):
        place = at[i]
        end = at[i] + size[i]
        for component in range(child_at.shape[0]):
            if end - place < 3:
                return MALFORMED
            bytes_ = np.int64(load_be16(place))
            place += 2
            if bytes_ + 1 > end - place:
                return MALFORMED
            child_at[component, i - start] = place
            child_size[component, i - start] = bytes_
            place += bytes_ + 1
        if place != end:
            return MALFORMED
    return 0
