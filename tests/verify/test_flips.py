"""One byte changed anywhere in an SSTable is an error, or makes no difference to any reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flightsrv.errors import SSTableError
from flightsrv.verify import verify_folder
from tests.sstable.components import SSTable, copied, described
from tests.verify.damaging import Copy, copy_of

OFFSETS = 50
"""Of each component."""
CHANGES = (0x01, 0x80, 0xFF)
"""What a byte is XORed with, by turns."""

SSTABLES = (
    copied("cassandra-5.0/nb/wide_desc/nb-1-big-Data.db"),
    copied("cassandra-5.0/oa/wide/oa-3-big-Data.db"),
    copied("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db"),
    copied("cassandra-5.0/da/deletes/da-3h5y_1e7k_5iosa2vpc6ab5h8h1s-bti-Data.db"),
    copied("cassandra-3.11/me/rich/me-1-big-Data.db"),
    copied("cassandra-5.0/nb/compression_none/nb-1-big-Data.db"),
)

HARMLESS = {
    "CompressionInfo.db": {"max_compressed_length": "no chunk is stored in as many bytes, before or after the change"},
    "CRC.db": {"chunk_size": "the one chunk there is ends with the file, whatever its size"},
    "Filter.db": {
        "words": "a bit more is set: the filter says yes to more keys that are not there",
        "hash count": "fewer bits are looked at: likewise",
    },
    "Rows.db": {
        r"partition \d+\.node [0-9a-f]+\.transitions?": "what leads to a block still lies between the rows around it",
    },
    "Summary.db": {
        "min_index_interval": "there is one sample, which is the first entry at any interval",
        "sampling_level": "what a lower level leaves out is left to Index.db",
    },
    "TOC.txt": {"component": "the last line ends with another blank, which is no part of the name"},
    "Statistics.db": {
        "VALIDATION.bloom_filter_fp_chance": "a wish, not a fact",
        "COMPACTION.cardinality_estimator": "an estimate",
        "STATS.partition_sizes.offset, count": "where a bucket ends in which no partition is",
        "STATS.cells_per_partition.offset, count": "an estimate: some versions count twice",
        "STATS.commit_log.*": "about the commit log of the node that wrote",
        "STATS.(min|max)_timestamp_us": "a wider range than that of the rows, not all of which are seen: it hides none",
        "STATS.compression_ratio": "an estimate",
        "STATS.tombstone_drop_times.*": "an estimate",
        "STATS.(level|repaired_at_ms|total_columns|originating_host_id.*)": "nothing else tells the same",
        "STATS.(min|max)_clustering.*": "a wider range than that of the rows hides none",
        "HEADER.(static|regular).name .*": "no name stands anywhere else",
        "HEADER.(static|regular).type .*": "a class of another package may be a user's; a note says so",
    },
}
"""Component, field (a regular expression), and why a change of it may go unseen where no checksum covers it."""


def flips() -> list[object]:
    return [
        pytest.param(sstable, component, id=f"{sstable.data_file.parent.name}-{component}")
        for sstable in SSTABLES
        for component in sorted(
            path.name.removeprefix(f"{sstable.descriptor.name}-")
            for path in sstable.data_file.parent.glob(f"{sstable.descriptor.name}-*")
            if path.stat().st_size
        )
    ]


@pytest.mark.parametrize(("sstable", "component"), flips())
def test_a_changed_byte_is_an_error_or_harmless(tmp_path: Path, sstable: SSTable, component: str) -> None:
    copy = copy_of(sstable, tmp_path)
    whole = copy.read(component)
    step = max(1, len(whole) // OFFSETS)
    for turn, offset in enumerate([*range(0, len(whole), step), len(whole) - 1]):
        copy.patch(component, offset, bytes([whole[offset] ^ CHANGES[turn % len(CHANGES)]]))
        errors = [each for each in verify_folder(tmp_path) if each.severity == "error"]
        for error in errors:
            assert error.offset is not None or error.position is not None or error.field
        if not errors:
            field = field_at(copy, component, whole, offset)
            assert any(re.fullmatch(known, field) for known in harmless_fields(sstable, component)), (
                f"a change at {offset}, {field}, is not seen"
            )
        copy.write(component, whole)


def harmless_fields(sstable: SSTable, component: str) -> tuple[str, ...]:
    if component == "Statistics.db" and sstable.version.has_metadata_checksum:
        return ()
    return tuple(HARMLESS.get(component, ()))


def field_at(copy: Copy, component: str, whole: bytes, offset: int) -> str:
    """The field that a byte belongs to."""
    try:
        copy.write(component, whole)
        lines = list(described(copy.sstable, component))
    except SSTableError:
        return ""
    return next((line.field for line in lines if line.offset <= offset < line.offset + line.size), "")
