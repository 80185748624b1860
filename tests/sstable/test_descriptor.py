from __future__ import annotations

import pytest

from flightsrv.errors import UnsupportedSSTableError
from flightsrv.sstable.descriptor import Descriptor, FileName, id_order, parse_name
from flightsrv.sstable.version import version_of

UUID_ID = "3ggl_0p4k_4oyeo2e6pmvalkao02"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("nb-7-big-Data.db", ("nb", "7", "big", "Data.db")),
        ("da-2147483647-bti-Partitions.db", ("da", "2147483647", "bti", "Partitions.db")),
        (f"oa-{UUID_ID}-big-Digest.crc32", ("oa", UUID_ID, "big", "Digest.crc32")),
        (f"oa-{UUID_ID.upper()}-big-TOC.txt", ("oa", UUID_ID.upper(), "big", "TOC.txt")),
        ("nb-7-big-SAI+aa+sai_x+TermsData.db", ("nb", "7", "big", "SAI+aa+sai_x+TermsData.db")),
        ("me-1-big-SI_users_index.db", ("me", "1", "big", "SI_users_index.db")),
        ("la-1-big-Data.db", ("la", "1", "big", "Data.db")),
        ("shop-users-ka-12-Data.db", ("ka", "12", "big", "Data.db")),
    ],
)
def test_a_name_has_four_parts(name: str, parts: tuple[str, str, str, str]) -> None:
    assert parse_name(name) == FileName(*parts)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Data.db",
        "manifest.json",
        "nb-big-Data.db",
        "nb-7-big-",
        "nb-7-big-Statistics.db.tmp",
        f"nb-7-big-Data.db.{UUID_ID}.tmp",
        "shop-users-tmp-ka-12-Data.db",
        "shop-users-tmplink-ka-12-Data.db",
        "nb-seven-big-Data.db",
        "nb-12345678901-big-Data.db",
        "NB-7-big-Data.db",
        "nbx-7-big-Data.db",
        "nb_txn_compaction_8b4d1a30-1f2c-11ef-9d6e-0242ac120002.log",
        "nb-7-big-Data-old.db",
    ],
)
def test_other_files_are_no_sstables(name: str) -> None:
    assert parse_name(name) is None


def test_names_from_before_3_0_are_refused_by_their_version() -> None:
    name = parse_name("shop-users-jb-3-Data.db")
    assert name is not None
    with pytest.raises(UnsupportedSSTableError, match=r"version jb .* Cassandra 2\.2 or older"):
        version_of(name.format, name.letters, "shop-users-jb-3-Data.db")


def test_ids_sort_from_old_to_new() -> None:
    ids = [
        "9",
        "10",
        "2147483647",
        "3ggl_0p4k_4oyen2e6pmvalkao02",  # one tick earlier than the next
        "3ggl_0p4k_4oyeo3w5e11264sgsf",  # same tick, low bits of 2^64 - 1, which are below 0
        "3ggl_0p4k_4oyeo0000000000000",
        "3ggl_0p4k_4oyeo0000000000001",
        "3ggl_0p4l_000000000000000000",
        "3ggm_0000_000000000000000000",
    ]
    assert sorted(ids, key=id_order) == ids


def test_an_id_is_the_time_of_a_version_1_uuid() -> None:
    """8b4d1a30-1f2c-11ef-9d6e-0242ac120002 holds 0x1ef1f2c8b4d1a30 ticks of 100 ns."""
    assert id_order(UUID_ID) == (1, 0x1EF1F2C8B4D1A30, 0x9D6E0242AC120002 - 2**64)


def test_a_descriptor_knows_the_paths_of_its_components() -> None:
    descriptor = Descriptor("/data/shop/users-1", version_of("big", "nb", "x"), "7")
    assert descriptor.name == "nb-7-big"
    assert descriptor.path("Statistics.db") == "/data/shop/users-1/nb-7-big-Statistics.db"
