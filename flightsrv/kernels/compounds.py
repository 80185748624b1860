"""The order of values of any type: those that hold others are compared by what they hold.

A type is a number here, its comparator. Below SCALARS it is one of kernels/scalars.py; any other is SCALARS plus where
in a program its node starts. cql/comparators.py makes programs.

    node := KIND, how many arguments, a vector's dimension, bytes of its elements (-1: each says its own), arguments

What is nested is compared without recursion: a stack holds a frame for each level of the type.

    list, set   i32 n, then n x (i32 size, bytes)                   by elements, then by n
    map         i32 n, then n x 2 x (i32 size, bytes)               by key, value, key, value ..., then by n
    tuple, udt  fields, each i32 size, bytes; may stop early        by fields; those that are missing are as null
    vector      elements back to back, or each behind a vint size   by elements
    composite   components, each u16 size, bytes, i8; may stop      by components, then i8, one after the other; a
                early; may begin with 0xFFFF if static              prefix first; static ones before all others
    dynamic     a composite without 0xFFFF, before each component   components of two classes by the classes' names
                what kernels/classes.py reads

Values whose bytes are not as their type has them sort by their bytes: what they mean is for others to refuse.

Source: compareCustom of org.apache.cassandra.db.marshal's ListType, MapType, TupleType, VectorType,
AbstractCompositeType, DynamicCompositeType, PartitionerDefinedOrder, ReversedType.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from flightsrv.kernels.classes import COMPARATOR, RANK, UNKNOWN, class_at
from flightsrv.kernels.jit import kernel, outlined_kernel
from flightsrv.kernels.native import load_be16, load_be32, load_u8
from flightsrv.kernels.scalars import SCALARS, SIGNED, UNKNOWN_CLASS, compare_bytes, compare_scalars, sign
from flightsrv.kernels.tokens import token_halves
from flightsrv.slab import ABSENT

# Kinds of nodes, and their fields.
COLLECTION, TUPLE, VECTOR, COMPOSITE, DYNAMIC, REVERSED, KEY = range(7)
"""COLLECTION: a list or set with one argument, a map with two. REVERSED: its argument, the other way round. KEY: a
partition key in the order of a partitioner, whose DIMENSION is of kernels/tokens.py."""
KIND, ARGUMENT_COUNT, DIMENSION, WIDTH, ARGUMENTS = range(5)

# Fields of a frame: two values of one type, and how far they are compared.
NODE, A_START, A, A_STOP, B_START, B, B_STOP, INDEX, COUNT, TAIL, FRAME_FIELDS = range(11)
"""COUNT: how many pairs of inner values there are, at most; below 0 if the values are malformed. TAIL: the order of the
two when all their inner values are equal."""

_IS_STATIC = 0xFFFF
"""What stands in front of a static composite."""
_OVER, _MALFORMED, _UNKNOWN = -1, -2, -3
"""Instead of an inner value's type, or of an address or a place."""


class Orders(NamedTuple):
    """What comparing values takes beside their types. One thread's."""

    program: np.ndarray[Any, Any]
    """int64 (words,): the nodes of all types that hold others."""
    stack: np.ndarray[Any, Any]
    """int64 (levels, FRAME_FIELDS), scratch: a level for each that types are nested."""
    limbs: np.ndarray[Any, Any]
    """int64 (2, COMPARED_LIMBS), scratch."""
    undecided: np.ndarray[Any, Any]
    """int64 (1,): not 0 as soon as values were not compared as Cassandra does, and why (scalars.py). Who compares looks
    at it before the result counts."""


@kernel
def _signed_be32(a):
    word = np.int64(load_be32(a))
    return word - (1 << 32) if word >= 1 << 31 else word


@kernel
def _vint_at(at, stop):
    """An unsigned vint of up to 32 bits: (value, address behind it or _MALFORMED)."""
    if at >= stop:
        return np.int64(0), np.int64(_MALFORMED)
    size = np.int64(load_u8(at))
    extra = 0
    while extra < 8 and size & (0x80 >> extra):
        extra += 1
    if extra > 4 or stop - at < 1 + extra:
        return np.int64(0), np.int64(_MALFORMED)
    size &= 0xFF >> extra
    for i in range(1, 1 + extra):
        size = size << 8 | np.int64(load_u8(at + i))
    return size, at + 1 + extra


@kernel
def _is_composite(kind):
    return kind == COMPOSITE or kind == DYNAMIC


@kernel
def _inner_value(at, stop, kind, width):
    """The inner value at `at` of a value that ends at `stop`: (address, size, address behind it or _MALFORMED).

    The size of null is ABSENT, whichever number below 0 stands there.
    """
    size = np.int64(width)
    if kind == VECTOR:
        if width < 0:
            size, at = _vint_at(at, stop)
    elif stop - at < (2 if _is_composite(kind) else 4):
        at = np.int64(_MALFORMED)
    elif _is_composite(kind):
        size = np.int64(load_be16(at))
        at += 2
    else:
        size = max(_signed_be32(at), ABSENT)
        at += 4
    if at < 0 or size > stop - at:
        return at, size, np.int64(_MALFORMED)
    return at, size, at + max(size, 0)


@kernel
def _enter(frame, program, node, a, a_size, b, b_size):
    """Begin to compare two values, neither of them empty."""
    frame[NODE] = node
    frame[A_START] = frame[A] = a
    frame[B_START] = frame[B] = b
    frame[A_STOP] = a + a_size
    frame[B_STOP] = b + b_size
    frame[INDEX] = frame[TAIL] = 0
    frame[COUNT] = program[node + ARGUMENT_COUNT]
    kind = program[node + KIND]
    if kind == VECTOR:
        frame[COUNT] = program[node + DIMENSION] if program[node + WIDTH] != 0 else 0
    elif kind == COLLECTION and min(a_size, b_size) < 4:
        frame[COUNT] = _MALFORMED
    elif kind == COLLECTION:
        a_count, b_count = _signed_be32(a), _signed_be32(b)
        frame[COUNT] *= max(0, min(a_count, b_count))
        frame[TAIL] = sign(a_count, b_count)
        frame[A] += 4
        frame[B] += 4
    elif kind == DYNAMIC:
        frame[COUNT] = a_size  # as many as there are
    elif kind == COMPOSITE:
        frame[COUNT] *= 2  # what ends a component is compared as a value of its own
        a_is_static = a_size >= 2 and load_be16(a) == _IS_STATIC
        b_is_static = b_size >= 2 and load_be16(b) == _IS_STATIC
        if a_is_static:
            frame[A] = a + 2 if b_is_static else frame[A_STOP]
        if b_is_static:
            frame[B] = b + 2 if a_is_static else frame[B_STOP]


@kernel
def _has_field(at, stop):
    """Whether one of the fields of a tuple from `at` on is not null. Returns 0 or 1, or _MALFORMED."""
    while at < stop:
        if stop - at < 4:
            return _MALFORMED
        if _signed_be32(at) >= 0:
            return 1
        at += 4
    return 0


@kernel
def _end(frame, kind):
    """_OVER, or _MALFORMED, for two values at least one of which has no inner value left; TAIL is then their order."""
    if _is_composite(kind):
        frame[TAIL] = sign(frame[A_STOP] - frame[A], frame[B_STOP] - frame[B])
    elif kind == TUPLE:
        a_has, b_has = _has_field(frame[A], frame[A_STOP]), _has_field(frame[B], frame[B_STOP])
        if min(a_has, b_has) < 0:
            return _MALFORMED
        frame[TAIL] = a_has - b_has
    return _OVER


@kernel
def _argument(frame, program, kind, index):
    """The type of the next inner values, or _OVER, _MALFORMED, _UNKNOWN."""
    arguments, count = frame[NODE] + ARGUMENTS, program[frame[NODE] + ARGUMENT_COUNT]
    if kind != DYNAMIC:
        return program[arguments + (index >> 1 if kind == COMPOSITE else index % count)]
    a, frame[A] = class_at(frame[A], frame[A_STOP], program, arguments, count)
    b, frame[B] = class_at(frame[B], frame[B_STOP], program, arguments, count)
    if min(a, b) < 0:
        return np.int64(_UNKNOWN if min(a, b) == UNKNOWN else _MALFORMED)
    frame[TAIL] = sign(program[a + RANK], program[b + RANK])
    return np.int64(_OVER) if frame[TAIL] != 0 else program[a + COMPARATOR]


@kernel
def _next_pair(frame, program):
    """The next inner values of two: (type, a, a_size, b, b_size). The type is _OVER when there are no more; or
    _MALFORMED, _UNKNOWN."""
    index = frame[INDEX]
    kind, width = program[frame[NODE] + KIND], program[frame[NODE] + WIDTH]
    none = np.int64(0)
    may_stop_early = kind == TUPLE or _is_composite(kind)
    if may_stop_early and (frame[A] == frame[A_STOP] or frame[B] == frame[B_STOP]):
        return np.int64(_end(frame, kind)), none, none, none, none
    if index >= frame[COUNT]:
        is_malformed = may_stop_early or frame[COUNT] < 0
        return np.int64(_MALFORMED if is_malformed else _OVER), none, none, none, none
    frame[INDEX] = index + 1
    if _is_composite(kind) and index & 1:
        frame[A] += 1
        frame[B] += 1
        return np.int64(SIGNED), frame[A] - 1, np.int64(1), frame[B] - 1, np.int64(1)
    argument = _argument(frame, program, kind, index)
    if argument < 0:
        return argument, none, none, none, none
    a, a_size, frame[A] = _inner_value(frame[A], frame[A_STOP], kind, width)
    b, b_size, frame[B] = _inner_value(frame[B], frame[B_STOP], kind, width)
    if min(frame[A], frame[B]) < 0:
        return np.int64(_MALFORMED), none, none, none, none
    return argument, a, a_size, b, b_size


@kernel
def _compare_by_token(tokens, a, a_size, b, b_size):
    """Two partition keys by token, then by bytes."""
    a_high, a_low = token_halves(tokens, a, a_size)
    b_high, b_low = token_halves(tokens, b, b_size)
    if a_high != b_high:
        return np.int64(sign(a_high, b_high))
    return np.int64(sign(a_low, b_low)) if a_low != b_low else np.int64(compare_bytes(a, a_size, b, b_size))


@outlined_kernel
def _compare_nested(comparator, a, a_size, b, b_size, orders):
    """compare_values of a type that is in the program."""
    program, stack = orders.program, orders.stack
    level = np.int64(-1)
    while True:
        while comparator >= SCALARS and program[comparator - SCALARS + KIND] == REVERSED:
            comparator = program[comparator - SCALARS + ARGUMENTS]
            a, a_size, b, b_size = b, b_size, a, a_size
        node = comparator - SCALARS
        order = np.int64(0)
        if node < 0 or a_size <= 0 or b_size <= 0:
            order = np.int64(compare_scalars(comparator, a, a_size, b, b_size, orders))
        elif program[node + KIND] == KEY:
            order = _compare_by_token(program[node + DIMENSION], a, a_size, b, b_size)
        else:
            level += 1
            _enter(stack[level], program, node, a, a_size, b, b_size)
        if order != 0 or level < 0:
            return order
        while True:
            frame = stack[level]
            comparator, a, a_size, b, b_size = _next_pair(frame, program)
            if comparator >= 0:
                break
            order = frame[TAIL]
            if comparator == _UNKNOWN:
                orders.undecided[0] = UNKNOWN_CLASS
            if comparator != _OVER:
                a_size, b_size = frame[A_STOP] - frame[A_START], frame[B_STOP] - frame[B_START]
                order = np.int64(compare_bytes(frame[A_START], a_size, frame[B_START], b_size))
            level -= 1
            if order != 0 or level < 0:
                return order


@kernel
def compare_values(comparator, a, a_size, b, b_size, orders):
    """Below, equal to or above 0 for two values of one type at their addresses; sizes below 0 are null.

    comparator: of their type. orders: the Orders that it is of.
    """
    if comparator >= SCALARS and a_size > 0 and b_size > 0:
        return _compare_nested(comparator, a, a_size, b, b_size, orders)
    return np.int64(compare_scalars(comparator, a, a_size, b, b_size, orders))
