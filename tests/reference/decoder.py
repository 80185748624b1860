"""Uncompressed Data.db of one SSTable to Partition objects.

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, org.apache.cassandra.db.rows.Cell.Serializer,
org.apache.cassandra.db.DeletionTime (3.0 to 5.0).
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.reference.model import (
    ENDS,
    EXPIRED_LIVENESS_TTL_S,
    INVALID_DELETION_TIME_S,
    LIVE,
    MIN_I64,
    STARTS,
    Cell,
    Clustering,
    Columns,
    Complex,
    Deletion,
    Liveness,
    Marker,
    Partition,
    Row,
)
from tests.reference.reader import Reader, signed
from tests.reference.statistics_header import Header
from tests.reference.types import CqlType

END_OF_PARTITION, IS_MARKER, HAS_TIMESTAMP, HAS_TTL, HAS_DELETION = 0x01, 0x02, 0x04, 0x08, 0x10
HAS_ALL_COLUMNS, HAS_COMPLEX_DELETION, EXTENSION_FLAG = 0x20, 0x40, 0x80
IS_STATIC, HAS_SHADOWABLE_DELETION = 0x01, 0x02
IS_DELETED, IS_EXPIRING, HAS_EMPTY_VALUE, USE_ROW_TIMESTAMP, USE_ROW_TTL = 0x01, 0x02, 0x04, 0x08, 0x10


def decode(data: bytes, header: Header) -> list[Partition]:
    """All partitions, in the order of the file. Raises CorruptSSTableError where the bytes make no sense."""
    decoder = _Decoder(data, header)
    partitions = []
    while decoder.input.at < len(data):
        partitions.append(decoder.partition())
    return partitions


class _Decoder:
    def __init__(self, data: bytes, header: Header) -> None:
        self.input = Reader(data, "Data.db")
        self.header = header

    def partition(self) -> Partition:
        key = self.input.short_bytes()
        deletion = self.partition_deletion()
        static = None
        if self.header.static:
            static = self.row(self.input.u8(), is_static=True)
        return Partition(key, deletion, static, tuple(self.unfiltered()))

    def unfiltered(self) -> Iterator[Row | Marker]:
        while not (flags := self.input.u8()) & END_OF_PARTITION:
            yield self.marker() if flags & IS_MARKER else self.row(flags)

    def partition_deletion(self) -> Deletion:
        if not self.header.has_unsigned_deletion_time:
            local_s, marked_at_us = self.input.i32(), self.input.i64()
            return self.deletion_or_live(marked_at_us, local_s)
        if self.input.data[self.input.at : self.input.at + 1] == b"\x80":
            self.input.u8()
            return LIVE
        marked_at_us, local_s = self.input.i64(), self.input.number("I")
        if marked_at_us < 0:
            raise self.input.corrupt("a partition deletion that is neither live nor positive")
        return Deletion(marked_at_us, local_s)

    def row(self, flags: int, is_static: bool = False) -> Row:
        extended = self.input.u8() if flags & EXTENSION_FLAG else 0
        if is_static != bool(extended & IS_STATIC) or extended & ~(IS_STATIC | HAS_SHADOWABLE_DELETION):
            raise self.input.corrupt(f"flags {flags:02x} {extended:02x} of a row")
        clustering = () if is_static else self.clustering(len(self.header.clustering))
        size = self.input.uvint()
        stop = self.input.at + size
        self.input.uvint()  # size of the unfiltered before
        liveness, deletion = None, LIVE
        if flags & HAS_TIMESTAMP:
            timestamp_us, ttl_s, expires_s = self.timestamp(), 0, None
            if flags & HAS_TTL:
                ttl_s = self.ttl()
                expires_s = self.expiry(ttl_s)
            liveness = Liveness(timestamp_us, ttl_s, expires_s)
        if flags & HAS_DELETION:
            deletion = self.deletion()
        types = self.header.static if is_static else self.header.regular
        columns: Columns = {}
        for name in list(types) if flags & HAS_ALL_COLUMNS else self.subset(list(types)):
            if types[name].is_multi_cell:
                columns[name] = self.complex(types[name], liveness, bool(flags & HAS_COMPLEX_DELETION))
            else:
                columns[name] = self.cell(types[name], liveness)
        if self.input.at != stop:
            raise self.input.corrupt(f"a row of {size} bytes ends {self.input.at - stop} bytes off")
        return Row(clustering, columns, liveness, deletion, bool(extended & HAS_SHADOWABLE_DELETION))

    def marker(self) -> Marker:
        kind = self.input.u8()
        values = self.clustering(self.input.u16())
        size = self.input.uvint()
        stop = self.input.at + size
        self.input.uvint()  # size of the unfiltered before
        ends = self.deletion() if kind in ENDS else None
        starts = self.deletion() if kind in STARTS else None
        if self.input.at != stop or kind not in ENDS + STARTS:
            raise self.input.corrupt(f"a marker of kind {kind} and {size} bytes ends {self.input.at - stop} bytes off")
        return Marker(kind, values, ends, starts)

    def clustering(self, count: int) -> Clustering:
        values: list[bytes | None] = []
        for i in range(count):
            if i % 32 == 0:
                bits = self.input.uvint()
            state = bits >> (2 * (i % 32)) & 3
            if state == 0:
                values.append(self.value(self.header.clustering[i]))
            else:
                values.append(b"" if state == 1 else None)
        return tuple(values)

    def subset(self, names: list[str]) -> list[str]:
        encoded = self.input.uvint()
        if len(names) < 64:
            if encoded >> len(names):
                raise self.input.corrupt(f"a column subset {encoded:x} of {len(names)} columns")
            return [name for i, name in enumerate(names) if not encoded >> i & 1]
        present = len(names) - encoded
        if encoded == 0:
            return names
        if present < len(names) // 2:
            return [names[self.input.uvint()] for _ in range(present)]
        missing = {self.input.uvint() for _ in range(encoded)}
        return [name for i, name in enumerate(names) if i not in missing]

    def complex(self, type_: CqlType, liveness: Liveness | None, has_deletion: bool) -> Complex:
        deletion = self.deletion() if has_deletion else LIVE
        return Complex(deletion, tuple([self.cell(type_, liveness) for _ in range(self.input.uvint())]))

    def cell(self, type_: CqlType, liveness: Liveness | None) -> Cell:
        flags = self.input.u8()
        if flags > 0x1F or (flags & (USE_ROW_TIMESTAMP | USE_ROW_TTL) and liveness is None):
            raise self.input.corrupt(f"flags {flags:02x} of a cell")
        timestamp_us = liveness.timestamp_us if liveness and flags & USE_ROW_TIMESTAMP else self.timestamp()
        ttl_s, local_s = 0, None
        if liveness and flags & USE_ROW_TTL:
            ttl_s, local_s = liveness.ttl_s, liveness.expires_s
        elif flags & IS_EXPIRING:
            local_delta = self.local_delta()
            ttl_s = self.ttl()
            local_s = self.checked_local(local_delta, ttl_s)
        elif flags & IS_DELETED:
            local_s = self.checked_local(self.local_delta(), 0)
        path = self.input.vint_bytes() if type_.is_multi_cell else None
        value = b"" if flags & HAS_EMPTY_VALUE else self.value(type_)
        return Cell(timestamp_us, value, ttl_s, local_s, path)

    def value(self, type_: CqlType) -> bytes:
        length = None if type_.is_multi_cell else type_.fixed_length
        return self.input.vint_bytes() if length is None else self.input.take(length)

    def timestamp(self) -> int:
        return signed(self.input.uvint() + self.header.min_timestamp_us)

    def ttl(self) -> int:
        return signed(self.input.uvint()) + self.header.min_ttl_s

    def local_delta(self) -> int:
        return signed(self.input.uvint()) + self.header.min_local_s

    def expiry(self, ttl_s: int) -> int:
        return self.checked_local(self.local_delta(), ttl_s)

    def checked_local(self, local_s: int, ttl_s: int) -> int:
        """A cell's or liveness's local deletion time: overflowed ones become invalid, which is far in the future."""
        if local_s < 0:
            return local_s & 0xFFFFFFFF if self.header.has_unsigned_deletion_time else INVALID_DELETION_TIME_S
        return INVALID_DELETION_TIME_S if local_s < ttl_s != EXPIRED_LIVENESS_TTL_S else local_s

    def deletion(self) -> Deletion:
        marked_at_us = self.timestamp()
        return self.deletion_or_live(marked_at_us, self.local_delta())

    def deletion_or_live(self, marked_at_us: int, local_s: int) -> Deletion:
        if marked_at_us == MIN_I64:
            return LIVE
        return Deletion(marked_at_us, local_s if local_s >= 0 else INVALID_DELETION_TIME_S)
