"""manifest.json: what a snapshot holds, in one of its folders, for those in all data folders.

    {"files": ["nb-1-big-Data.db", ".idx_v/nb-1-big-Data.db"], "created_at": "2026-11-30T18:12:57.197Z", …}

Source: org.apache.cassandra.service.snapshot.SnapshotManifest (5.0); db.ColumnFamilyStore before.
"""

from __future__ import annotations

import json
from typing import Final

from flightsrv.errors import CorruptSSTableError, Where

FILE: Final = "manifest.json"


def parse(content: bytes, path: str) -> tuple[str, ...]:
    """The names of the Data.db files of the table's own SSTables; not those of its indexes, which have a folder.

    A JSON text that is not of this form is some other tool's, and lists none. Raises CorruptSSTableError for what is no
    JSON.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise CorruptSSTableError("it is no JSON", Where(path)) from None
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, list):
        return ()
    return tuple(name for name in files if isinstance(name, str) and "/" not in name)
