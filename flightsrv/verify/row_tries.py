"""Rows.db: what its entries say of wide partitions, and the boundaries of the blocks in their tries."""

from __future__ import annotations

import numpy as np

from flightsrv.errors import CorruptSSTableError
from flightsrv.kernels.entries import NOT_SAID, Entries
from flightsrv.kernels.partitions import Boundaries
from flightsrv.kernels.row_tries import RowTries, row_entries, row_trie_boundaries
from flightsrv.kernels.status import CORRUPT, DONE, OUTPUT_FULL
from flightsrv.kernels.vint import SLACK
from flightsrv.slab import Array
from flightsrv.sstable import rows
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.trie import node
from flightsrv.sstable.trie_walk import new_branch, new_nodes, walk_nodes
from flightsrv.sstable.version import Version
from flightsrv.verify.batches import NO_BOUNDARIES, boundaries_for
from flightsrv.verify.findings import Report

COMPONENT = "Rows.db"
PATH_BYTES = 1 << 20
MAX_PATH_BYTES = 1 << 30
"""Of all separators of one partition."""
_LEAST_BLOCK_BYTES = 2


class RowTriesReader:
    """A Rows.db, whose entries are asked for in their order."""

    def __init__(self, report: Report, content: Array, path: str, version: Version) -> None:
        """content: uint8, the file and SLACK bytes more."""
        self._report = report
        self._data = content
        self._size = np.int64(content.size - SLACK)
        self._path = path
        self._version = version
        self._end = 0
        """Behind the last entry so far."""

    def heads(self, entries: Entries) -> tuple[Array, RowTries]:
        """Read the entries of Rows.db that entries.row_index_at points at, into entries and into what is returned.

        Also returns which entries are damaged, bool (n,): of these nothing is known.
        """
        count = entries.offset.size
        tries = RowTries(*np.zeros((len(RowTries._fields), count), np.int64))
        damaged = np.zeros(count, np.bool_)
        status, entry = row_entries(self._data, self._size, np.int64(0), entries, tries)
        while status == CORRUPT:
            damaged[entry] = True
            self._report_head(int(entries.row_index_at[entry]))
            status, entry = row_entries(self._data, self._size, np.int64(entry + 1), entries, tries)
        entries.row_index_size[damaged] = 0
        wide = np.flatnonzero(entries.row_index_size)
        if wide.size:
            ends = np.maximum.accumulate(entries.row_index_at[wide] + entries.row_index_size[wide])
            tries.floor[wide] = np.maximum(np.append(0, ends[:-1]), self._end)
            self._end = max(self._end, int(ends[-1]))
        return damaged, tries

    def boundaries(self, entries: Entries, tries: RowTries) -> tuple[Boundaries, list[Array]]:
        """What the tries of entries say, and what their addresses point into; an error for each that makes no sense."""
        wide = np.flatnonzero(entries.row_index_size)
        if not wide.size:
            return NO_BOUNDARIES, []
        trie_bytes = np.maximum(entries.row_index_at[wide] - tries.floor[wide], 0)
        room = int(np.minimum(tries.block_count[wide], trie_bytes // _LEAST_BLOCK_BYTES).sum()) + wide.size + 1
        found, nodes, branch = boundaries_for(room), new_nodes(room, PATH_BYTES), new_branch()
        kept = [nodes.paths]
        status, entry, made, used = np.int64(OUTPUT_FULL), np.int64(0), np.int64(0), np.int64(0)
        while status != DONE:
            status, entry, made, used = row_trie_boundaries(
                self._data, entry, entries, tries, branch, nodes, found, made, used
            )
            if status == OUTPUT_FULL and nodes.paths.size < MAX_PATH_BYTES:
                nodes = nodes._replace(paths=np.empty((1 if used else 2) * nodes.paths.size, np.uint8))
                kept.append(nodes.paths)
                used = np.int64(0)
            elif status != DONE:
                if status == OUTPUT_FULL:
                    what = f"what leads to its blocks has more than {MAX_PATH_BYTES} bytes"
                    self._report.error(COMPONENT, what, offset=int(entries.row_index_at[entry]), field="separator")
                else:
                    self._report_trie(entries, tries, int(entry))
                entries.header_length[entry] = NOT_SAID
                entry += 1
        return Boundaries(*(column[:made] for column in found)), kept

    def finish(self) -> None:
        """There are no more entries."""
        if self._end < self._size:
            what = f"{self._size - self._end} bytes follow the last entry that Partitions.db points at"
            self._report.error(COMPONENT, what, offset=self._end, field="end")

    def _report_head(self, offset: int) -> None:
        """Say what is wrong with an entry."""
        cursor = Cursor(self._data[: self._size], self._path)
        try:
            cursor.seek(offset, "entry")
            rows.entry(cursor, self._version)
        except CorruptSSTableError as error:
            self._report.caught(error)

    def _report_trie(self, entries: Entries, tries: RowTries, entry: int) -> None:
        """Say what is wrong with an entry's trie."""
        at, root, floor = (int(column[entry]) for column in (entries.row_index_at, tries.root, tries.floor))
        read, count = rows.block_reader(self._version), 0
        try:
            for nodes in walk_nodes(self._data, self._path, root, min(root, floor), at):
                count += nodes.node.size
                for offset in nodes.node.tolist():
                    cursor = Cursor(self._data[:at], self._path, offset)
                    read(cursor, node(cursor).payload_flags)
        except CorruptSSTableError as error:
            self._report.caught(error)
            return
        if root < floor:
            what = f"{root} is before {floor}, where the entry of the partition before it ends"
            self._report.error(COMPONENT, what, offset=at, field="root")
        else:
            what = f"{tries.block_count[entry]} blocks in the entry, {count - 1} in its trie"
            self._report.error(COMPONENT, what, offset=at, field="block count")
