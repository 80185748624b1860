"""What one scan is asked for: a table, a token range, columns, a limit."""

from __future__ import annotations

from dataclasses import dataclass

from flightsrv.config import ArrowTypes


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """One ticket, read and checked for form. Whether the table and the columns exist is found out by the scan."""

    keyspace: str
    table: str
    ddl: str | None = None
    """CREATE TABLE and CREATE TYPE statements to decode with; None: the schema found on disk."""
    snapshot: str | None = None
    """Name of a snapshot; None: the live SSTables."""
    token_start: int | None = None
    """Exclusive."""
    token_end: int | None = None
    """Inclusive. The range wraps round the ring when it is not above `token_start`; equal bounds are the whole ring."""
    columns: tuple[str, ...] | None = None
    """Columns to return, in the schema's order; None: all."""
    limit: int | None = None
    """Most rows to return."""
    now_s: int | None = None
    """Seconds since 1970 at which TTLs are judged; None: when the scan starts."""
    tombstones: bool = False
    """Return what was deleted and when all was written, too."""
    types: ArrowTypes | None = None
    """Which Arrow types the columns have; None: those that the server is set to."""
