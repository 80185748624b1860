"""What every parser does with bytes that are cut off or changed: the right value, another value, or an SSTableError."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from flightsrv.errors import CorruptSSTableError, SSTableError
from flightsrv.sstable.compression_info import chunk_bounds
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.data_walk import walk
from tests.sstable.components import PARSERS, SSTable, copied

MAY_END_EARLY = {"TOC.txt", "Digest.crc32", "Index.db", "CRC.db"}
"""Of these some prefixes are whole files too: they have no length and no count."""

NB = copied("cassandra-5.0/nb/ttl/nb-3-big-Data.db")
OA = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")
DA = copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db")
DA_DELETES = copied("cassandra-5.0/da/deletes/da-3h5y_1e7k_5iosa2vpc6ab5h8h1s-bti-Data.db")
ME = copied("cassandra-3.11/me/rich/me-5-big-Data.db")
NC = copied("cassandra/nc/legacy_tables/legacy_nc_simple/nc-1-big-Data.db")
WITHOUT_COMPRESSION = copied("cassandra-5.0/nb/compression_none/nb-1-big-Data.db")

SMALL_COMPONENTS = [
    pytest.param(sstable, component, id=f"{sstable.data_file.parent.name}-{component}")
    for sstable in (NB, OA, DA, DA_DELETES, ME, WITHOUT_COMPRESSION)
    for component in PARSERS
    if sstable.file(component).exists() and sstable.file(component).stat().st_size and component != "Statistics.db"
]
STATISTICS = [pytest.param(sstable, "Statistics.db", id=sstable.descriptor.name) for sstable in (NB, OA, ME, NC)]
SMALL_DATA = [
    NB,
    copied("cassandra-5.0/nb/ranges_mixed/nb-4-big-Data.db"),
    copied("cassandra-5.0/nb/statics/nb-3-big-Data.db"),
    copied("cassandra-3.11/me/rich/me-4-big-Data.db"),
    copied("cassandra/oa/legacy_tables/legacy_oa_simple/oa-1-big-Data.db"),
]


def parse(sstable: SSTable, component: str, data: bytes) -> SSTableError | None:
    """The error there is. Any other exception fails the test."""
    try:
        PARSERS[component](Cursor(data, str(sstable.file(component))), sstable)
    except SSTableError as error:
        return error
    return None


def walked(sstable: SSTable, data: bytes) -> SSTableError | None:
    """The same of uncompressed Data.db."""
    cursor = Cursor(data, str(sstable.data_file), uncompressed=True)
    try:
        for _ in walk(cursor, sstable.version, sstable.header):
            pass
    except SSTableError as error:
        return error
    return None


def flipped(data: bytes) -> Iterator[bytes]:
    """Copies with one bit changed: every bit of small files, every seventh, so at least one of each byte, of others."""
    for bit in range(0, 8 * len(data), 1 if len(data) < 1000 else 7):
        damaged = bytearray(data)
        damaged[bit >> 3] ^= 1 << (bit & 7)
        yield bytes(damaged)


@pytest.mark.parametrize(("sstable", "component"), SMALL_COMPONENTS + STATISTICS)
def test_every_prefix_is_corrupt_or_a_whole_file(sstable: SSTable, component: str) -> None:
    data = sstable.file(component).read_bytes()
    for size in range(len(data)):
        error = parse(sstable, component, data[:size])
        if error is None:
            assert component in MAY_END_EARLY, f"{size} of {len(data)} bytes pass for a whole file"
        else:
            assert isinstance(error, CorruptSSTableError)
            assert error.where.field
            assert error.where.offset is not None
            assert error.where.offset <= size


@pytest.mark.parametrize(("sstable", "component"), SMALL_COMPONENTS + STATISTICS)
def test_a_flipped_bit_is_another_value_or_an_error_with_its_place(sstable: SSTable, component: str) -> None:
    for damaged in flipped(sstable.file(component).read_bytes()):
        error = parse(sstable, component, damaged)
        assert error is None or (error.where.field and error.where.offset is not None)
        has_checksums = component == "Statistics.db" and sstable.version.has_metadata_checksum
        assert not has_checksums or isinstance(error, CorruptSSTableError)


@pytest.mark.parametrize("sstable", SMALL_DATA, ids=lambda sstable: sstable.data_file.parent.name)
def test_every_prefix_of_data_is_corrupt_or_ends_with_a_partition(sstable: SSTable) -> None:
    data = sstable.data()
    starts = {entry.position for entry in sstable.parse("Index.db")}
    for size in range(len(data)):
        error = walked(sstable, data[:size])
        assert error is None if size in starts else isinstance(error, CorruptSSTableError)


@pytest.mark.parametrize("sstable", SMALL_DATA, ids=lambda sstable: sstable.data_file.parent.name)
def test_a_flipped_bit_of_data_is_another_value_or_an_error_with_its_position(sstable: SSTable) -> None:
    for damaged in flipped(sstable.data()):
        error = walked(sstable, damaged)
        assert error is None or (error.where.field and error.where.position is not None)


@pytest.mark.parametrize(
    ("path", "component", "message"),
    [
        ("nb_statistics_bitflip/nb-1-big", "Statistics.db", r"offset \d+, HEADER\.crc: 0x\w+ in the file, 0x"),
        ("mc_statistics_truncated/mc-1-big", "Statistics.db", r"offset \d+, VALIDATION"),
        ("version_mismatch_mc_as_oa/oa-1-big", "Statistics.db", r"offset 4, contents\.count crc: "),
        ("nb_compressioninfo_truncated/nb-1-big", "CompressionInfo.db", "offset 39, offsets: .* do not fit in the"),
        ("nb_compressioninfo_huge_count/nb-1-big", "CompressionInfo.db", "offset 39, offsets: 2147483647 of 8 bytes"),
        ("nb_unknown_compressor/nb-1-big", "CompressionInfo.db", "offset 0, compressor: 'XYZCompressor' is not"),
        ("oa_index_truncated/oa-1-big", "Index.db", r"offset \d+, promoted: its \d+ bytes"),
    ],
)
def test_damaged_files_are_refused_where_they_are_damaged(path: str, component: str, message: str) -> None:
    error = parse(damaged_set(path), component, damaged_set(path).file(component).read_bytes())
    assert re.search(f"{component}: {message}", str(error))


def test_an_offset_beyond_the_data_is_found_by_the_size_of_the_data() -> None:
    sstable = damaged_set("nb_compressioninfo_bad_offset/nb-1-big")
    info = sstable.parse("CompressionInfo.db")
    with pytest.raises(CorruptSSTableError, match=rf"Data\.db: offset \d+: .* starts at {2**40}"):
        chunk_bounds(info, sstable.data_file.stat().st_size, str(sstable.data_file))


def damaged_set(path: str) -> SSTable:
    return copied(f"corrupt/derived/{path}-Data.db")
