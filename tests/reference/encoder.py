"""Partition objects to the uncompressed Data.db bytes that Cassandra would write: the decoder turned round.

Source: org.apache.cassandra.db.rows.UnfilteredSerializer, org.apache.cassandra.db.rows.Cell.Serializer,
org.apache.cassandra.db.DeletionTime (4.0 to 5.0).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from tests.reference.decoder import (
    END_OF_PARTITION,
    EXTENSION_FLAG,
    HAS_ALL_COLUMNS,
    HAS_COMPLEX_DELETION,
    HAS_DELETION,
    HAS_EMPTY_VALUE,
    HAS_SHADOWABLE_DELETION,
    HAS_TIMESTAMP,
    HAS_TTL,
    IS_DELETED,
    IS_EXPIRING,
    IS_MARKER,
    IS_STATIC,
    USE_ROW_TIMESTAMP,
    USE_ROW_TTL,
)
from tests.reference.model import LIVE, MIN_I64, Cell, Clustering, Complex, Deletion, Liveness, Marker, Partition, Row
from tests.reference.statistics_header import Header
from tests.reference.types import CqlType

NO_DELETION_TIME_S = 2**31 - 1


def encode(partitions: Iterable[Partition], header: Header) -> bytes:
    """Data.db of these partitions, which must be in order and fit the header."""
    return b"".join(_partition(partition, header) for partition in partitions)


def _partition(partition: Partition, header: Header) -> bytes:
    data = len(partition.key).to_bytes(2, "big") + partition.key
    data += _partition_deletion(partition.deletion, header)
    if header.static:
        data += _row(partition.static or Row(()), header, previous_size=0, is_static=True)
    start = 0
    for unfiltered in partition.unfiltered:
        previous_size = len(data) - start
        start = len(data)
        if isinstance(unfiltered, Row):
            data += _row(unfiltered, header, previous_size)
        else:
            data += _marker(unfiltered, header, previous_size)
    return data + bytes([END_OF_PARTITION])


def _partition_deletion(deletion: Deletion, header: Header) -> bytes:
    if header.has_unsigned_deletion_time:
        return b"\x80" if deletion == LIVE else struct.pack(">qI", deletion.marked_at_us, deletion.local_s)
    local_s = NO_DELETION_TIME_S if deletion == LIVE else deletion.local_s
    return struct.pack(">Iq", local_s, deletion.marked_at_us)


def _row(row: Row, header: Header, previous_size: int, is_static: bool = False) -> bytes:
    types = header.static if is_static else header.regular
    flags = extended = 0
    body = b""
    if row.liveness:
        flags |= HAS_TIMESTAMP
        body += _timestamp(row.liveness.timestamp_us, header)
        if row.liveness.expires_s is not None:
            flags |= HAS_TTL
            body += _ttl(row.liveness.ttl_s, header) + _local(row.liveness.expires_s, header)
    if row.deletion != LIVE:
        flags |= HAS_DELETION
        body += _deletion(row.deletion, header)
    if list(row.columns) == list(types):
        flags |= HAS_ALL_COLUMNS
    else:
        body += subset([name in row.columns for name in types])
    has_complex_deletion = any(
        isinstance(column, Complex) and column.deletion != LIVE for column in row.columns.values()
    )
    if has_complex_deletion:
        flags |= HAS_COMPLEX_DELETION
    for name, type_ in types.items():
        column = row.columns.get(name)
        if isinstance(column, Complex):
            body += _complex(column, type_, row.liveness, header, has_complex_deletion)
        elif column:
            body += _cell(column, type_, row.liveness, header)
    if is_static or row.is_shadowable:
        flags |= EXTENSION_FLAG
        extended = (IS_STATIC if is_static else 0) | (HAS_SHADOWABLE_DELETION if row.is_shadowable else 0)
    head = bytes([flags, extended] if flags & EXTENSION_FLAG else [flags])
    return head + _clustering(row.clustering, header.clustering) + _sized(body, previous_size)


def _sized(body: bytes, previous_size: int) -> bytes:
    body = uvint(previous_size) + body
    return uvint(len(body)) + body


def _marker(marker: Marker, header: Header, previous_size: int) -> bytes:
    deletions = b"".join(_deletion(deletion, header) for deletion in (marker.ends, marker.starts) if deletion)
    head = bytes([IS_MARKER, marker.kind]) + len(marker.values).to_bytes(2, "big")
    return head + _clustering(marker.values, header.clustering) + _sized(deletions, previous_size)


def _clustering(values: Clustering, types: Sequence[CqlType]) -> bytes:
    data = b""
    for i, value in enumerate(values):
        if i % 32 == 0:
            batch = values[i : i + 32]
            data += uvint(sum((2 if v is None else 1) << 2 * j for j, v in enumerate(batch) if not v))
        if value:
            data += _value(value, types[i])
    return data


def subset(present: list[bool]) -> bytes:
    """Which columns a row has, when it does not have all."""
    missing = [i for i, is_present in enumerate(present) if not is_present]
    if len(present) < 64:
        return uvint(sum(1 << i for i in missing))
    there = [i for i, is_present in enumerate(present) if is_present]
    listed = there if len(there) < len(present) // 2 else missing
    return uvint(len(missing)) + b"".join(uvint(i) for i in listed)


def _complex(
    column: Complex, type_: CqlType, liveness: Liveness | None, header: Header, has_complex_deletion: bool
) -> bytes:
    data = _deletion(column.deletion, header) if has_complex_deletion else b""
    return data + uvint(len(column.cells)) + b"".join(_cell(cell, type_, liveness, header) for cell in column.cells)


def _cell(cell: Cell, type_: CqlType, liveness: Liveness | None, header: Header) -> bytes:
    flags = 0
    data = b""
    if cell.is_tombstone:
        flags |= IS_DELETED
    elif cell.local_s is not None:
        flags |= IS_EXPIRING
    if liveness and liveness.timestamp_us == cell.timestamp_us:
        flags |= USE_ROW_TIMESTAMP
    else:
        data += _timestamp(cell.timestamp_us, header)
    if flags & IS_EXPIRING and liveness and (liveness.ttl_s, liveness.expires_s) == (cell.ttl_s, cell.local_s):
        flags |= USE_ROW_TTL
    elif cell.local_s is not None:
        data += _local(cell.local_s, header) + (_ttl(cell.ttl_s, header) if flags & IS_EXPIRING else b"")
    if cell.path is not None:
        data += uvint(len(cell.path)) + cell.path
    if not cell.value:
        flags |= HAS_EMPTY_VALUE
    else:
        data += _value(cell.value, type_)
    return bytes([flags]) + data


def _value(value: bytes, type_: CqlType) -> bytes:
    has_length = type_.is_multi_cell or type_.fixed_length is None
    return uvint(len(value)) + value if has_length else value


def _deletion(deletion: Deletion, header: Header) -> bytes:
    local_s = NO_DELETION_TIME_S if deletion == LIVE else deletion.local_s
    return _timestamp(deletion.marked_at_us, header) + _local(local_s, header)


def _timestamp(timestamp_us: int, header: Header) -> bytes:
    assert MIN_I64 <= timestamp_us < 2**63
    return uvint(timestamp_us - header.min_timestamp_us)


def _ttl(ttl_s: int, header: Header) -> bytes:
    return uvint(ttl_s - header.min_ttl_s)


def _local(local_s: int, header: Header) -> bytes:
    """The difference is an int of 32 bits to Cassandra, so that a negative one takes nine bytes."""
    delta = (local_s - header.min_local_s + 2**31) % 2**32 - 2**31
    return uvint(delta)


def uvint(number: int) -> bytes:
    """The shortest form of the low 64 bits."""
    number &= 2**64 - 1
    extra = min(8, max(0, (number.bit_length() - 1) // 7))
    head = (0xFF00 >> extra) & 0xFF
    return (number | head << 8 * extra).to_bytes(extra + 1, "big") if extra < 8 else b"\xff" + number.to_bytes(8, "big")
