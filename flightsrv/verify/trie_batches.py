"""Partitions.db and Rows.db, batch by batch: the partitions, the boundaries of blocks in wide ones, and what is wrong
with them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from flightsrv.cql.partitioners import partitioner_of
from flightsrv.errors import CorruptSSTableError, SSTableError
from flightsrv.io.buffered import read_component
from flightsrv.kernels.entries import (
    EXTRA_ENTRY,
    MISSING_ENTRY,
    NOT_SAID,
    OTHER_DELETION,
    OTHER_HASH,
    OTHER_HEADER_LENGTH,
    OTHER_KEY,
    OTHER_PATH,
    Entries,
)
from flightsrv.kernels.key_forms import HASHED, KEY_BYTES, UNKNOWN
from flightsrv.kernels.partitions import (
    NOT_A_START,
    NOT_THE_END,
    OTHER_OPEN,
    Boundaries,
    Partitions,
)
from flightsrv.kernels.row_tries import RowTries
from flightsrv.kernels.scalars import BYTES
from flightsrv.kernels.tokens import MURMUR3, NO_TOKENS
from flightsrv.kernels.trie_payloads import NO_HASH
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import NO_DELETION_TIME, NO_TIMESTAMP, Array
from flightsrv.sstable import partitions
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.descriptor import Descriptor
from flightsrv.sstable.partitions import Targets
from flightsrv.verify.batches import Batch
from flightsrv.verify.findings import Report
from flightsrv.verify.row_tries import RowTriesReader
from flightsrv.verify.separators import SeparatorCheck

_PARTITIONS, _ROWS = "Partitions.db", "Rows.db"


class _Words(NamedTuple):
    """What is said about a difference, and of which file."""

    component: str
    field: str
    what: str


_MISMATCHES = {
    EXTRA_ENTRY: _Words(_PARTITIONS, "target", "no partition starts at position {position}"),
    MISSING_ENTRY: _Words(_PARTITIONS, "trie", "the partition at position {position} is not in it"),
    OTHER_KEY: _Words(_ROWS, "key", "the key of the partition at position {position} is another"),
    OTHER_PATH: _Words(_PARTITIONS, "node", "the key of the partition at position {position} does not lead here"),
    OTHER_HASH: _Words(_PARTITIONS, "hash", "the key of the partition at position {position} has another hash"),
    OTHER_HEADER_LENGTH: _Words(_ROWS, "start", "the head of the partition at position {position} is not so long"),
    OTHER_DELETION: _Words(_ROWS, "deletion", "the partition at position {position} has another deletion"),
}
"""Of what match says."""

_WRONG_BOUNDARIES = {
    NOT_A_START: "no row or marker of the partition at {partition} starts at position {position}",
    OTHER_OPEN: "another range deletion is open at position {position}",
    NOT_THE_END: "the partition at {partition} does not end at position {position}",
}
"""What Boundaries.wrong says."""

_WRONG_SEPARATOR = "what leads to the block at position {position} does not lie between the rows before and behind it"

BLOCKS_A_BATCH = 65_536
_BEHIND_ALL = 2**63 - 1


class TrieBatches:
    """The index of one SSTable, from its first partition to its last or to what is damaged."""

    def __init__(
        self,
        report: Report,
        descriptor: Descriptor,
        present: frozenset[str],
        data_length: int | None,
        separators: SeparatorCheck | None,
    ) -> None:
        """present: the components that are there. data_length: uncompressed bytes of Data.db. It and separators: None
        when nobody can tell."""
        self.is_broken = False
        """Whether partitions may be missing because it is damaged."""
        self._report = report
        self._path = descriptor.path(_PARTITIONS)
        self._data_length = _BEHIND_ALL if data_length is None else data_length
        self._separators = separators
        self._previous = -1
        self._keys: tuple[bytes, bytes] | None = None
        self._first_key: bytes | None = None
        self._last_key = b""
        content, row_content = (self._content(descriptor.path(each), each in present) for each in (_PARTITIONS, _ROWS))
        self._rows = RowTriesReader(report, row_content, descriptor.path(_ROWS), descriptor.version)
        self._batches = iter(()) if self.is_broken else self._read(content)

    def next_batch(self) -> Batch | None:
        """The next entries, at least one, by position; None at the end."""
        return next(self._batches, None)

    def is_full(self) -> bool:
        """Whether so much is wrong with it that no more need be said."""
        return self._report.is_full(_PARTITIONS)

    def differs(self, event: int, entries: Entries, entry: int, position: int) -> None:
        """Say how an entry and the partition at a position differ: what match returned of them."""
        component, field, what = _MISMATCHES[event]
        column = entries.row_index_at if component == _ROWS else entries.offset
        offset = int(column[entry]) if entry < column.size else None
        self._report.error(component, what.format(position=position), offset=offset, field=field)

    def passed(self, boundaries: Boundaries) -> None:
        """Say what is wrong with boundaries that survey has passed."""
        for i in np.flatnonzero(boundaries.wrong).tolist():
            self._report_boundary(boundaries, i, "start", _WRONG_BOUNDARIES[int(boundaries.wrong[i])])
        if self._separators is not None:
            for i in self._separators.wrong(boundaries):
                self._report_boundary(boundaries, i, "separator", _WRONG_SEPARATOR)

    def saw(self, found: Partitions) -> None:
        """Take notice of the next partitions of Data.db."""
        if found.position.size:
            self._first_key = _key(found, 0) if self._first_key is None else self._first_key
            self._last_key = _key(found, -1)

    def finish(self, is_complete: bool) -> None:
        """There are no more entries. is_complete: all partitions were seen."""
        if not self.is_broken:
            self._rows.finish()
        if self._keys is None or not is_complete:
            return
        for field, said, key in zip(
            ("first_key", "last_key"), self._keys, (self._first_key or b"", self._last_key), strict=True
        ):
            if said != key:
                what = f"0x{said.hex()} in the file, 0x{key.hex()} in Data.db"
                self._report.error(_PARTITIONS, what, field=field)

    def _report_boundary(self, boundaries: Boundaries, i: int, field: str, what: str) -> None:
        if not self._report.is_full(_ROWS):
            what = what.format(partition=boundaries.partition[i], position=boundaries.position[i])
            self._report.error(_ROWS, what, offset=int(boundaries.entry_offset[i]), field=field)

    def _content(self, path: str, is_present: bool) -> Array:
        """A file and SLACK bytes more. Without it they are all there is; so they are, with an error, when it cannot be
        read."""
        content = b""
        try:
            content = read_component(path) if is_present else b""
        except SSTableError as error:
            self.is_broken = True
            self._report.caught(error)
        return np.frombuffer(content + bytes(SLACK), np.uint8)

    def _read(self, content: Array) -> Iterator[Batch]:
        size = content.size - SLACK
        try:
            footer = partitions.footer(Cursor(content[:size], self._path), size)
            self._keys = partitions.keys(Cursor(content[:size], self._path), footer, size)
            for targets in partitions.walk(content, footer, self._path):
                entries, paths = self._entries(targets)
                damaged, tries = self._rows.heads(entries)
                places = self._in_order(entries, damaged)
                if places.size < damaged.size:
                    entries, tries = Entries(*_taken(entries, places)), RowTries(*_taken(tries, places))
                for portion in _portions(tries.block_count):
                    part = Entries(*_taken(entries, portion))
                    boundaries, kept = self._rows.boundaries(part, RowTries(*_taken(tries, portion)))
                    yield Batch((paths, *kept), part, boundaries)
        except CorruptSSTableError as error:
            self.is_broken = True
            self._report.caught(error)

    def _entries(self, targets: Targets) -> tuple[Entries, Array]:
        """What a batch of the trie says, but for what is in Rows.db; and its paths, which it points into."""
        nodes, target = targets.nodes, targets.target
        paths = nodes.paths[: int(nodes.path_start[-1] + nodes.path_size[-1])].copy()
        count = target.size
        entries = Entries(
            offset=nodes.node.copy(),
            key_at=np.zeros(count, np.int64),
            key_size=np.full(count, NOT_SAID, np.int64),
            path_at=nodes.path_start + paths.ctypes.data,
            path_size=nodes.path_size.copy(),
            hash=np.where(targets.hash == NO_HASH, NOT_SAID, targets.hash),
            position=~target,
            row_index_at=np.where(target < 0, NOT_SAID, target),
            row_index_size=np.zeros(count, np.int64),
            header_length=np.full(count, NOT_SAID, np.int64),
            deletion_us=np.full(count, NO_TIMESTAMP, np.int64),
            deletion_s=np.full(count, NO_DELETION_TIME, np.int64),
        )
        return entries, paths

    def _in_order(self, entries: Entries, damaged: Array) -> Array:
        """The places of entries that are not damaged and whose positions ascend; an error for each other position."""
        places = np.flatnonzero(~damaged)
        position = entries.position[places]
        steps = np.diff(position, prepend=self._previous)
        if (steps > 0).all() and (not position.size or position[-1] < self._data_length):
            self._previous = int(position[-1]) if position.size else self._previous
            return places
        kept = []
        following = np.append(position[1:], self._data_length).tolist()
        for place, here, after in zip(places.tolist(), position.tolist(), following, strict=True):
            comes_after = self._previous < here < self._data_length
            jumps_ahead = self._previous < after < here  # it is this one that is wrong, not the next
            if comes_after and not jumps_ahead:
                kept.append(place)
                self._previous = here
            else:
                self._report_position(entries, place, here)
        return np.array(kept, np.int64)

    def _report_position(self, entries: Entries, place: int, position: int) -> None:
        component = _PARTITIONS if entries.row_index_at[place] < 0 else _ROWS
        offset = entries.offset[place] if component == _PARTITIONS else entries.row_index_at[place]
        field = "target" if component == _PARTITIONS else "position"
        what = (
            f"position {position} is not between that of the partition before, {self._previous}, and of the one behind"
        )
        self._report.error(component, what, offset=int(offset), field=field)


def tokens_of(class_name: str) -> int:
    """How a partitioner makes tokens, as far as kernels/key_forms.py knows."""
    partitioner = partitioner_of(class_name)
    if partitioner.tokens == MURMUR3:
        return HASHED
    return KEY_BYTES if partitioner.tokens == NO_TOKENS and partitioner.comparator == BYTES else UNKNOWN


def _taken(columns: Iterable[Array], places: Array | slice) -> Iterator[Array]:
    return (column[places] for column in columns)


def _key(found: Partitions, i: int) -> bytes:
    return ctypes.string_at(int(found.key_at[i]), int(found.key_size[i]))


def _portions(block_count: Array) -> Iterator[slice]:
    """Of entries with so many blocks each, as many at a time as have BLOCKS_A_BATCH blocks or are one."""
    behind = np.cumsum(block_count)
    start = 0
    while start < behind.size:
        before = int(behind[start - 1]) if start else 0
        stop = int(np.searchsorted(behind, before + BLOCKS_A_BATCH, side="right"))
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop
