"""What each SSTable version has: one table, a row per version, a column per flag.

A version is a format (`big` or `bti`) and two letters, major then minor. The flags bear Cassandra's names.
A version that is not in the table is refused by name: minor letters may add fields that only a newer reader can skip.

Source: org.apache.cassandra.io.sstable.format.big.BigFormat.BigVersion, bti.BtiFormat.BtiVersion (3.0 to 5.0).
"""

from __future__ import annotations

from dataclasses import dataclass

from flightsrv.errors import UnsupportedSSTableError, Where


@dataclass(frozen=True, slots=True)
class Version:
    """One row of the table."""

    format: str
    """`big`: Index.db and Summary.db; `bti`: Partitions.db and Rows.db."""
    letters: str
    has_commit_log_lower_bound: bool
    has_commit_log_intervals: bool
    has_accurate_min_max: bool
    """Smallest and largest clustering values in Statistics.db can be relied on."""
    has_legacy_min_max: bool
    has_originating_host_id: bool
    has_max_compressed_length: bool
    """Chunks that did not shrink enough are stored raw."""
    has_pending_repair: bool
    has_is_transient: bool
    has_metadata_checksum: bool
    has_old_bf_format: bool
    """The words of Filter.db are big-endian."""
    has_unsure_bf_format: bool
    """Not a flag of Cassandra: alphas of 4.0 wrote na with Filter.db in the old format; its own test data have some."""
    has_improved_min_max: bool
    """The covered clustering is a slice with bound kinds."""
    has_partition_level_deletions_presence_marker: bool
    has_key_range: bool
    has_uint_deletion_time: bool
    """Local deletion times are unsigned, and a live deletion is one byte."""
    has_token_space_coverage: bool

    @property
    def name(self) -> str:
        """As Cassandra's documentation writes it: `nb` or `bti-da`."""
        return self.letters if self.format == "big" else f"{self.format}-{self.letters}"


_, X = False, True

_TABLE = (
    #                     has_commit_log_lower_bound
    #                     |  has_commit_log_intervals
    #                     |  |  has_accurate_min_max
    #                     |  |  |  has_legacy_min_max
    #                     |  |  |  |  has_originating_host_id
    #                     |  |  |  |  |  has_max_compressed_length
    #                     |  |  |  |  |  |  has_pending_repair
    #                     |  |  |  |  |  |  |  has_is_transient
    #                     |  |  |  |  |  |  |  |  has_metadata_checksum
    #                     |  |  |  |  |  |  |  |  |  has_old_bf_format
    #                     |  |  |  |  |  |  |  |  |  |  has_unsure_bf_format
    #                     |  |  |  |  |  |  |  |  |  |  |  has_improved_min_max
    #                     |  |  |  |  |  |  |  |  |  |  |  |  has_partition_level_deletions_presence_marker
    #                     |  |  |  |  |  |  |  |  |  |  |  |  |  has_key_range
    #                     |  |  |  |  |  |  |  |  |  |  |  |  |  |  has_uint_deletion_time
    #                     |  |  |  |  |  |  |  |  |  |  |  |  |  |  |  has_token_space_coverage
    Version("big", "ma",  _, _, _, X, _, _, _, _, _, X, _, _, _, _, _, _),  # 3.0.0
    Version("big", "mb",  X, _, _, X, _, _, _, _, _, X, _, _, _, _, _, _),  # 3.0.7, 3.7
    Version("big", "mc",  X, X, _, X, _, _, _, _, _, X, _, _, _, _, _, _),  # 3.0.8, 3.9
    Version("big", "md",  X, X, X, X, _, _, _, _, _, X, _, _, _, _, _, _),  # 3.0.18, 3.11.4
    Version("big", "me",  X, X, X, X, X, _, _, _, _, X, _, _, _, _, _, _),  # 3.0.25, 3.11.11
    Version("big", "na",  X, X, X, X, _, X, X, X, X, _, X, _, _, _, _, _),  # 4.0-rc1
    Version("big", "nb",  X, X, X, X, X, X, X, X, X, _, _, _, _, _, _, _),  # 4.0.0; 5.0 when compatible with 4
    Version("big", "nc",  X, X, X, X, X, X, X, X, X, _, _, X, X, X, _, _),  # never released, but in Cassandra's tests
    Version("big", "oa",  X, X, _, _, X, X, X, X, X, _, _, X, X, X, X, X),  # 5.0
    Version("bti", "da",  X, X, X, _, X, X, X, X, X, _, _, X, X, X, X, X),  # 5.0
)  # fmt: skip

VERSIONS: dict[tuple[str, str], Version] = {(row.format, row.letters): row for row in _TABLE}
"""(format, letters): version, for all that can be read."""

_KNOWN_OF = {
    ("big", "pa"): "a development version of Cassandra 6.0 with compression dictionaries",
    ("big", "pb"): "a development version of Cassandra 6 with mutation tracking",
    ("bti", "ea"): "a development version of Cassandra 6.0 with compression dictionaries",
    ("bti", "eb"): "a development version of Cassandra 6 with mutation tracking",
    ("big", "ms"): "written by ScyllaDB with its own trie index",
    ("big", "mt"): "written by ScyllaDB with its own trie index",
}
_KNOWN_OF |= {("bti", letters): "written by DataStax Enterprise 6.0 or 6.7" for letters in ("aa", "ac", "ad")}
_KNOWN_OF |= {("bti", letters): "written by DataStax Enterprise 6.8" for letters in ("ba", "bb")}
_KNOWN_OF |= {("bti", letters): "written by DataStax Converged Cassandra" for letters in ("ca", "cb", "cc")}


def version_of(format: str, letters: str, path: str) -> Version:
    """The version of an SSTable file by the parts of its name.

    Raises UnsupportedSSTableError, saying what is known of the version, when this reader does not know its bytes.
    """
    version = VERSIONS.get((format, letters))
    if version is not None:
        return version
    known = _KNOWN_OF.get((format, letters))
    if known is None:
        if format not in ("big", "bti"):
            known = "of an unknown format"
        elif format == "big" and letters < "ma":
            known = "written by Cassandra 2.2 or older; upgrade it with sstableupgrade of Cassandra 3"
        else:
            known = "unknown"
    readable = " ".join(row.name for row in _TABLE)
    raise UnsupportedSSTableError(
        f"version {letters} of format {format} is {known}; this reader knows {readable}", Where(path)
    )
