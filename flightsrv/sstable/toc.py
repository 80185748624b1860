"""TOC.txt: which components the SSTable was written with, one a line.

Components that are listed may be missing, and the file itself may be.

Source: org.apache.cassandra.io.sstable.format.TOCComponent.
"""

from __future__ import annotations

from flightsrv.sstable.cursor import Cursor


def parse(cursor: Cursor) -> tuple[str, ...]:
    """Read the names of all components, such as `Data.db`, in the order of the file; empty lines are skipped."""
    names = []
    while cursor.left:
        name = cursor.line("component").strip()
        if name:
            names.append(name)
    return tuple(names)
