"""Annotated dumps as they must be, in golden/*.txt.

`python -m tests.sstable.golden` writes them anew: read the difference before it is committed.
"""

from __future__ import annotations

from pathlib import Path

from flightsrv.sstable.describe import describe_data
from flightsrv.sstable.dump import dump
from tests.sstable.components import SSTable, copied, described

FOLDER = Path(__file__).parent / "golden"

ALL_SMALL = ("CompressionInfo.db", "Digest.crc32", "Filter.db", "Index.db", "Statistics.db", "Summary.db", "TOC.txt")

CASES = {
    "nb-ttl": ("cassandra-5.0/nb/ttl/nb-1-big-Data.db", (*ALL_SMALL, "Data.db")),
    "nb-ranges": ("cassandra-5.0/nb/ranges_mixed/nb-4-big-Data.db", ("Data.db",)),
    "nb-statics": ("cassandra-5.0/nb/statics/nb-3-big-Data.db", ("Data.db",)),
    "nb-uncompressed": ("cassandra-5.0/nb/compression_none/nb-1-big-Data.db", ("CRC.db",)),
    "oa-collections": ("cassandra-5.0/oa/collections/oa-3-big-Data.db", (*ALL_SMALL, "Data.db")),
    "oa-wide": ("cassandra-5.0/oa/wide/oa-3-big-Data.db", ("Index.db", "CompressionInfo.db")),
    "da-deletes": ("cassandra-5.0/da/deletes/da-3h5y_1e7k_5iosa2vpc6ab5h8h1s-bti-Data.db", ("Partitions.db",)),
    "da-wide": ("cassandra-5.0/da/wide/da-3h5y_1e8w_34yd62vpc6ab5h8h1s-bti-Data.db", ("Partitions.db", "Rows.db")),
    "me-rich": ("cassandra-3.11/me/rich/me-5-big-Data.db", (*ALL_SMALL, "Data.db")),
}
"""Name: an SSTable, and which of its components."""

PAIRS = [(name, component) for name, (_, components) in CASES.items() for component in components]


def file_of(name: str, component: str) -> Path:
    return FOLDER / f"{name}-{component}.txt"


def text_of(name: str, component: str) -> str:
    """The dump of one component."""
    sstable = copied(CASES[name][0])
    return "".join(f"{line}\n" for line in dumped(sstable, component))


def dumped(sstable: SSTable, component: str) -> list[str]:
    path = str(sstable.file(component))
    if component == "Data.db":
        data = sstable.data()
        return list(dump(describe_data(data, sstable.header, sstable.version, path), data))
    data = sstable.file(component).read_bytes()
    return list(dump(described(sstable, component), data))


if __name__ == "__main__":
    for pair in PAIRS:
        file_of(*pair).write_text(text_of(*pair))
