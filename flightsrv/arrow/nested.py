"""Builders of columns whose values hold values: each level explodes its values to places of what they hold, and lets
its children append those."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from flightsrv.arrow.buffers import Buffer, Builder, Level, bitmap_bytes
from flightsrv.arrow.parts import Parts
from flightsrv.arrow.types import NULL_IS_A_WAY_OUT, TypeMapping
from flightsrv.arrow.variable import OFFSET_WIDTH
from flightsrv.cql.types import CqlType
from flightsrv.errors import UnrepresentableError
from flightsrv.kernels.explode import (
    MALFORMED,
    count_elements,
    explode_arrays,
    explode_collections,
    explode_fields,
    explode_vectors,
)
from flightsrv.kernels.gather import total_size
from flightsrv.slab import Array


class NestedBuilder(Level):
    """What all of these share: children."""

    def __init__(self, into: pa.DataType, cql: CqlType, children: Sequence[Builder]) -> None:
        super().__init__(into, cql)
        self.children = children

    @property
    def arrow_bytes(self) -> int:
        return sum(child.arrow_bytes for child in self.children)

    def append_children(self, at: Array, size: Array) -> None:
        """at: int64 (children, n), size: int32 likewise."""
        for child, places, sizes in zip(self.children, at, size, strict=True):
            child.append(places, sizes, 0, sizes.size)

    def places(self, count: int) -> tuple[Array, Array]:
        """Where to put the places of `count` elements of each child."""
        shape = (len(self.children), count)
        return np.zeros(shape, np.int64), np.zeros(shape, np.int32)

    def parts(self) -> Parts:
        children = [child.parts() for child in self.children]
        return Parts(self.type, self.length, self.null_count, [self.validity()], children)

    def reset(self) -> None:
        super().reset()
        for child in self.children:
            child.reset()


class ListBuilder(NestedBuilder):
    """Frozen lists and sets."""

    def __init__(self, into: pa.DataType, cql: CqlType, children: Sequence[Builder]) -> None:
        super().__init__(into, cql, children)
        self.offsets = Buffer(fill=0)

    @property
    def arrow_bytes(self) -> int:
        return OFFSET_WIDTH * self.length + super().arrow_bytes

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        offsets, valid = self.room(stop - start)
        parts = len(self.children)
        elements = int(count_elements(at, size, start, stop, parts))
        self.appended(0, min(elements, 0))
        child_at, child_size = self.places(elements)
        nulls = explode_collections(at, size, start, stop, parts, offsets, valid, self.length, child_at, child_size)
        self.appended(stop - start, nulls)
        self.append_children(child_at, child_size)

    def room(self, more: int) -> tuple[Array, Array]:
        count = self.length + more
        return self.offsets.grow(OFFSET_WIDTH * (count + 1)).view(np.int32), self.valid.grow(bitmap_bytes(count))

    def parts(self) -> Parts:
        parts = super().parts()
        parts.buffers.append(self.offsets.data[: OFFSET_WIDTH * (self.length + 1)])
        return parts


class MapBuilder(ListBuilder):
    """Frozen maps. A key may be empty in Cassandra, of a type that has no empty value; in Arrow no key may be null."""

    def __init__(self, into: pa.DataType, cql: CqlType, children: Sequence[Builder], mapping: TypeMapping) -> None:
        super().__init__(into, cql, children)
        self.nulls_instead = mapping.on_unrepresentable == "null"

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        keys = self.children[0]
        first_map, first_key = self.length, keys.length
        super().append(at, size, start, stop)
        if not keys.null_count:
            return
        if not self.nulls_instead:
            raise UnrepresentableError(f"a map with an empty key; {NULL_IS_A_WAY_OUT}")
        ends = self.offsets.data.view(np.int32)[first_map + 1 : self.length + 1]
        maps = first_map + np.unique(np.searchsorted(ends, keys.take_nulls(first_key), side="right"))
        np.bitwise_and.at(self.valid.data, maps >> 3, ~(np.uint8(1) << (maps & 7).astype(np.uint8)))
        self.null_count += maps.size

    def parts(self) -> Parts:
        parts = super().parts()
        parts.children = [Parts(self.type.field(0).type, parts.children[0].length, 0, [None], parts.children)]
        return parts


class VectorBuilder(ListBuilder):
    """Vectors as lists: in the compatible mapping."""

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        offsets, valid = self.room(stop - start)
        elements = int(np.count_nonzero(size[start:stop] > 0)) * self.cql.dimension
        if elements > total_size(size, start, stop):  # each has a byte or more
            self.appended(0, MALFORMED)
        child_at, child_size = self.places(elements)
        shape = (self.cql.dimension, self.cql.arguments[0].fixed_size)
        nulls = explode_vectors(at, size, start, stop, *shape, offsets, valid, self.length, child_at[0], child_size[0])
        self.appended(stop - start, nulls)
        self.append_children(child_at, child_size)


class ArrayBuilder(NestedBuilder):
    """Vectors as lists of a fixed size: in the native mapping. A null one has as many elements as all others, null."""

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        valid = self.valid.grow(bitmap_bytes(self.length + stop - start))
        child_at, child_size = self.places((stop - start) * self.cql.dimension)
        shape = (self.cql.dimension, self.cql.arguments[0].fixed_size)
        nulls = explode_arrays(at, size, start, stop, *shape, valid, self.length, child_at[0], child_size[0])
        self.appended(stop - start, nulls)
        self.append_children(child_at, child_size)


class StructBuilder(NestedBuilder):
    """Tuples and frozen UDTs."""

    def append(self, at: Array, size: Array, start: int, stop: int) -> None:
        valid = self.valid.grow(bitmap_bytes(self.length + stop - start))
        child_at, child_size = self.places(stop - start)
        self.appended(stop - start, explode_fields(at, size, start, stop, valid, self.length, child_at, child_size))
        self.append_children(child_at, child_size)
