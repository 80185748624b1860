"""Which class a component of a dynamic composite has: each says its own, by an alias of its type or by name.

    class := u16 0x8000 | alias, or u16 size, name

What there may be is told by entries of a program of kernels/compounds.py, one behind the other.

Source: org.apache.cassandra.db.marshal.DynamicCompositeType.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, compare, load_be16

WORDS, COMPARATOR, RANK, ALIAS, NAME_BYTES, NAME = range(6)
"""Fields of an entry: its words; how values compare; the class's place among all by simple name; its alias, or -1 if it
has a name; the name's size, and the name, eight bytes a word."""
MALFORMED, UNKNOWN = -1, -2
"""Instead of an entry: the bytes are not as they should be; they name a class that no entry is of."""


@kernel
def class_at(at, stop, program, entries, count):
    """The class at an address: (its entry's place in the program, address behind), or (MALFORMED or UNKNOWN, 0)."""
    if stop - at < 2:
        return np.int64(MALFORMED), np.int64(0)
    header = np.int64(load_be16(at))
    at += 2
    has_alias = header >= 0x8000
    size = np.int64(0) if has_alias else header
    if size > stop - at:
        return np.int64(MALFORMED), np.int64(0)
    entry = np.int64(entries)
    for _ in range(count):
        if has_alias:
            is_it = program[entry + ALIAS] == header & 0xFF
        else:
            name = address_of(program) + 8 * (entry + NAME)
            is_it = program[entry + NAME_BYTES] == size and compare(name, at, size) == 0
        if is_it:
            return entry, at + size
        entry += program[entry + WORDS]
    return np.int64(MALFORMED if has_alias else UNKNOWN), np.int64(0)
