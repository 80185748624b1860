"""Statistics.db, only what decoding rows needs: the partitioner and the serialization header."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.reference.reader import Reader, signed
from tests.reference.types import CqlType, of_class

TIMESTAMP_EPOCH_US = 1442880000000000
DELETION_TIME_EPOCH_S = 1442880000
VALIDATION, HEADER = 0, 3


@dataclass(frozen=True, slots=True)
class Header:
    version: str
    partitioner: str
    """Simple class name."""
    min_timestamp_us: int
    min_local_s: int
    min_ttl_s: int
    key: CqlType
    clustering: tuple[CqlType, ...]
    static: dict[str, CqlType]
    """By name, in storage order; so is `regular`."""
    regular: dict[str, CqlType]

    @property
    def has_unsigned_deletion_time(self) -> bool:
        return self.version >= "oa" or self.version.startswith("d")

    def with_frozen(self, names: set[str]) -> Header:
        """The same header where the columns of these names are frozen: 3.0 wrote frozen UDTs as if they were not."""

        def repaired(columns: dict[str, CqlType]) -> dict[str, CqlType]:
            return {name: replace(type_, is_frozen=type_.is_frozen or name in names) for name, type_ in columns.items()}

        return replace(self, static=repaired(self.static), regular=repaired(self.regular))


def parse(data: bytes, version: str) -> Header:
    toc = Reader(data, "Statistics.db")
    count = toc.i32()
    if version >= "na" or version.startswith("d"):
        toc.take(4)  # checksum of the count
    offsets = {toc.i32(): toc.i32() for _ in range(count)}
    partitioner = Reader(data, "Statistics.db", offsets[VALIDATION]).utf().rsplit(".", 1)[-1]
    reader = Reader(data, "Statistics.db", offsets[HEADER])

    def type_() -> CqlType:
        return of_class(reader.vint_bytes().decode())

    def columns() -> dict[str, CqlType]:
        return {reader.vint_bytes().decode(): type_() for _ in range(reader.uvint())}

    return Header(
        version=version,
        partitioner=partitioner,
        min_timestamp_us=signed(reader.uvint() + TIMESTAMP_EPOCH_US),
        min_local_s=signed(reader.uvint(), 32) + DELETION_TIME_EPOCH_S,
        min_ttl_s=reader.uvint(),
        key=type_(),
        clustering=tuple([type_() for _ in range(reader.uvint())]),
        static=columns(),
        regular=columns(),
    )
