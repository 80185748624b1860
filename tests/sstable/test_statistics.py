from __future__ import annotations

import zlib
from uuid import UUID

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable import statistics
from flightsrv.sstable.clustering import INCL_END_BOUND, INCL_START_BOUND, Prefix
from flightsrv.sstable.cursor import Cursor, Line
from flightsrv.sstable.statistics import Statistics
from flightsrv.sstable.stats import NO_DELETION_TIME_S, Slice
from flightsrv.sstable.version import version_of
from tests.sstable.components import COPIED_SSTABLES, SSTable, copied, every_sstable

MARSHAL = "org.apache.cassandra.db.marshal."
TTL = copied("cassandra-5.0/nb/ttl/nb-1-big-Data.db")
WIDE = copied("cassandra-5.0/oa/wide/oa-3-big-Data.db")


def parsed(data: bytes, letters: str = "nb") -> Statistics:
    return statistics.parse(Cursor(data, f"{letters}-1-big-Statistics.db"), version_of("big", letters, "x"))


def test_validation_is_read() -> None:
    read = TTL.parse("Statistics.db")
    assert read.partitioner == "org.apache.cassandra.dht.Murmur3Partitioner"
    assert read.bloom_filter_fp_chance == 0.01


def test_stats_of_nb_are_read() -> None:
    stats = TTL.parse("Statistics.db").stats
    assert (stats.min_timestamp_us, stats.max_timestamp_us) == (999, 1000)
    assert stats.min_local_deletion_time_s == 1796061386
    assert stats.max_local_deletion_time_s == NO_DELETION_TIME_S
    assert (stats.min_ttl_s, stats.max_ttl_s) == (0, 315360000)
    assert (stats.total_rows, stats.total_columns, stats.partition_count) == (10, 19, 10)
    assert stats.tombstone_drop_times.tolist() == [(1796061420.0, 20), (2111421420.0, 7)]
    assert (stats.min_clustering, stats.max_clustering) == ((b"\0\0\0\x01",), (b"\0\0\0\x01",))
    assert stats.originating_host_id == UUID("dcd8aa6e-cd40-4e34-b942-5909e44b7ba5")
    assert (stats.level, stats.repaired_at_ms, stats.pending_repair, stats.is_transient) == (0, 0, None, False)
    assert (stats.first_key, stats.last_key, stats.covered_clustering) == (None, None, None)
    assert stats.has_partition_level_deletions is None
    assert stats.may_have_partition_deletions


def test_stats_of_oa_are_read() -> None:
    stats = WIDE.parse("Statistics.db").stats
    covered = stats.covered_clustering
    assert covered == Slice(covered.types, Prefix(covered.start.kind, covered.start.values), covered.end)
    assert covered.types == WIDE.header.clustering_types
    assert (stats.min_clustering, stats.max_clustering) == ((), ())
    assert stats.has_partition_level_deletions is False
    assert not stats.may_have_partition_deletions
    entries = WIDE.parse("Index.db")
    assert (stats.first_key, stats.last_key) == (entries[0].key, entries[-1].key)


def test_an_oa_table_without_clustering_covers_all_of_nothing() -> None:
    simple = copied("cassandra/oa/legacy_tables/legacy_oa_simple/oa-1-big-Data.db")
    assert simple.parse("Statistics.db").stats.covered_clustering == Slice(
        (), Prefix(INCL_START_BOUND, ()), Prefix(INCL_END_BOUND, ())
    )


def test_nc_has_both_forms_of_bounds() -> None:
    simple = copied("cassandra/nc/legacy_tables/legacy_nc_simple/nc-1-big-Data.db")
    stats = simple.parse("Statistics.db").stats
    assert stats.covered_clustering is None
    assert stats.late_covered_clustering is not None
    assert stats.first_key == simple.parse("Index.db")[0].key


def test_na_of_the_alphas_ends_before_is_transient() -> None:
    compact = copied("cassandra/na/legacy_tables/legacy_na_simple_compact/na-1-big-Data.db")
    assert compact.parse("Statistics.db").stats.is_transient is False


def test_the_header_has_types_as_they_are_written() -> None:
    header = copied("cassandra-5.0/nb/statics/nb-1-big-Data.db").header
    assert header.key_type.startswith(MARSHAL)
    assert header.static_columns
    assert all(name and type.startswith(MARSHAL) for name, type in header.static_columns + header.regular_columns)


def test_the_header_counts_times_from_its_minima() -> None:
    assert TTL.header.min_timestamp_us == 999
    assert TTL.header.min_local_deletion_time_s == 1796061386
    assert TTL.header.min_ttl_s == 1
    assert TTL.header.clustering_types == (f"{MARSHAL}Int32Type",)
    assert TTL.header.regular_columns == (
        ("a", f"{MARSHAL}Int32Type"),
        ("b", f"{MARSHAL}UTF8Type"),
        ("l", f"{MARSHAL}ListType({MARSHAL}Int32Type)"),
        ("m", f"{MARSHAL}MapType({MARSHAL}UTF8Type,{MARSHAL}Int32Type)"),
    )


@pytest.mark.parametrize("sstables", every_sstable())
def test_every_byte_of_real_files_is_a_field(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        trace: list[Line] = []
        stats = statistics.parse(sstable.cursor("Statistics.db", trace), sstable.version).stats
        lines = sorted(trace)
        assert [line.offset for line in lines] == [0] + [line.offset + line.size for line in lines[:-1]]
        assert lines[-1].offset + lines[-1].size == sstable.file("Statistics.db").stat().st_size
        reserved = 4 * stats.tombstone_drop_times.size if sstable.version.has_uint_deletion_time else 0
        unknown = [(line.field, line.value) for line in lines if line.field.endswith("unknown")]
        assert unknown == ([("STATS.unknown", bytes(reserved))] if reserved else [])


@pytest.mark.parametrize("sstables", every_sstable())
def test_counts_of_partitions_agree_with_the_index(sstables: list[SSTable]) -> None:
    for sstable in sstables:
        index = sstable.file("Index.db")
        if index.exists() and index.stat().st_size < 1_000_000:
            assert sstable.parse("Statistics.db").stats.partition_count == len(sstable.parse("Index.db"))


def test_a_checksum_is_named_when_a_component_is_damaged() -> None:
    data = bytearray(TTL.file("Statistics.db").read_bytes())
    data[4600] ^= 1
    with pytest.raises(CorruptSSTableError, match=r"offset 4764, STATS\.crc: 0x240f5671 in the file, 0x.* computed"):
        parsed(bytes(data))


def test_a_checksum_is_named_when_the_contents_are_damaged() -> None:
    data = bytearray(TTL.file("Statistics.db").read_bytes())
    data[15] ^= 1
    with pytest.raises(CorruptSSTableError, match=r"offset 40, contents\.crc: "):
        parsed(bytes(data))


def test_bytes_that_a_later_minor_version_appends_are_passed_over_where_a_checksum_covers_them() -> None:
    """A component longer than this reader knows: the last one, whose checksum stands at its end."""
    data = TTL.file("Statistics.db").read_bytes()
    start = int.from_bytes(data[36:40])
    component = data[start:-4] + b"new"
    assert parsed(data[:start] + component + zlib.crc32(component).to_bytes(4)).header == TTL.header


def test_a_version_without_checksums_ends_each_component_with_its_last_field() -> None:
    me = copied("cassandra-3.11/me/rich/me-4-big-Data.db")
    data = me.file("Statistics.db").read_bytes()
    with pytest.raises(CorruptSSTableError, match=rf"offset {len(data)}, HEADER\.end: 3 bytes are left"):
        parsed(data + b"new", "me")


def test_contents_must_be_the_four_components() -> None:
    me = copied("cassandra-3.11/me/rich/me-4-big-Data.db")
    data = bytearray(me.file("Statistics.db").read_bytes())
    data[3] = 5
    with pytest.raises(CorruptSSTableError, match=r"contents\.count: there are 5 components, not 4"):
        parsed(bytes(data), "me")
    data[3], data[7] = 4, 1
    with pytest.raises(CorruptSSTableError, match=r"contents\.types: they are \[1, 1, 2, 3\]"):
        parsed(bytes(data), "me")


def test_a_histogram_is_bounded_by_its_bytes_not_by_its_count() -> None:
    me = copied("cassandra-3.11/me/rich/me-4-big-Data.db")
    data = bytearray(me.file("Statistics.db").read_bytes())
    start = int.from_bytes(data[24:28])
    data[start : start + 4] = (2**31 - 1).to_bytes(4)
    with pytest.raises(CorruptSSTableError, match=r"STATS\.partition_sizes\.size: 2147483647 of at least 16 bytes"):
        parsed(bytes(data), "me")


@pytest.mark.parametrize("sstable", COPIED_SSTABLES, ids=lambda sstable: str(sstable.descriptor.name))
def test_a_file_under_the_name_of_another_version_is_not_misread(sstable: SSTable) -> None:
    """Versions with and without checksums never pass for each other."""
    if sstable.version.format != "big":
        return
    data = sstable.file("Statistics.db").read_bytes()
    other = "me" if sstable.version.has_metadata_checksum else "nb"
    with pytest.raises(CorruptSSTableError):
        parsed(data, other)


def test_crc_of_contents_goes_on_from_that_of_the_count() -> None:
    data = TTL.file("Statistics.db").read_bytes()
    count_crc = zlib.crc32(data[:4])
    assert int.from_bytes(data[4:8]) == count_crc
    assert int.from_bytes(data[40:44]) == zlib.crc32(data[8:40], count_crc)


@pytest.mark.parametrize(("old", "new"), [(b"\2fl", b"\2zz"), (b"\2fl", b"\2um"), (b"\1n", b"\1v"), (b"\1l", b"\1n")])
def test_columns_are_in_their_order_and_none_is_there_twice(old: bytes, new: bytes) -> None:
    """First fl, n, u and v, which are stored as one cell, then l, m, st and um."""
    me = copied("cassandra-3.11/me/rich/me-1-big-Data.db")
    data = me.file("Statistics.db").read_bytes()
    start = int.from_bytes(data[32:36])
    with pytest.raises(CorruptSSTableError, match=r"HEADER\.regular\.names: they are not in their order, or one is"):
        parsed(data[:start] + data[start:].replace(old, new, 1), "me")
