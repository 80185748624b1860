"""The error tree: what went wrong, and where in which file.

Every error about a file names the file, an offset (bytes from the start of the file on disk) or a position (bytes from
the start of the uncompressed data), and the field. Texts never hold a folder: they may reach clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file."""

    path: str
    """Full path; only its last part is ever printed."""
    offset: int | None = None
    """Bytes from the start of the file on disk."""
    position: int | None = None
    """Bytes from the start of the uncompressed data."""
    field: str | None = None

    def __str__(self) -> str:
        parts = [PurePath(self.path).name]
        if self.offset is not None:
            parts.append(f"offset {self.offset}")
        if self.position is not None:
            parts.append(f"position {self.position}")
        text = ": ".join([parts[0], ", ".join(parts[1:] + ([self.field] if self.field else []))])
        return text.removesuffix(": ")


class FlightsrvError(Exception):
    """Base of all errors this project raises on purpose."""


class SSTableError(FlightsrvError):
    """Something about a file of an SSTable: `what` is wrong, and `where`."""

    def __init__(self, what: str, where: Where) -> None:
        super().__init__(f"{where}: {what}")
        self.what = what
        self.where = where


class CorruptSSTableError(SSTableError):
    """The bytes are not what the format says they must be."""


class UnsupportedSSTableError(SSTableError):
    """The bytes may be right, but this reader does not know them."""


class SchemaError(FlightsrvError):
    """A table's schema cannot be had, parsed or matched with its SSTables."""


class HeaderError(SchemaError):
    """What an SSTable's serialization header says of columns makes no sense, or does not fit the table: `what`."""

    def __init__(self, what: str, where: Where) -> None:
        super().__init__(f"{where}: {what}")
        self.what = what
        self.where = where


class RequestError(FlightsrvError):
    """The client asked for something that makes no sense."""


class UnsupportedRequestError(RequestError):
    """The client asked for something that makes sense but is not served."""


class NotServedError(RequestError):
    """The client asked for a table or a snapshot that is not here."""


class LimitError(FlightsrvError):
    """A named limit was reached."""


class ScanCancelledError(FlightsrvError):
    """The scan was told to stop."""


class ValueFormError(FlightsrvError):
    """A value cannot be put into its Arrow column: its bytes are not of its type."""


class UnrepresentableError(ValueFormError):
    """A value cannot be put into its Arrow column: it is one of its type in CQL, but not one that the Arrow type can
    hold.
    """
