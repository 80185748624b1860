"""Digest.crc32: the CRC32 of the whole Data.db as stored, as a decimal number, with or without a line end.

Source: org.apache.cassandra.io.util.ChecksumWriter.writeFullChecksum.
"""

from __future__ import annotations

from flightsrv.sstable.cursor import Cursor


def parse(cursor: Cursor) -> int:
    """Read the checksum, 0 to 2^32 - 1.

    Raises CorruptSSTableError when the file is anything but one number.
    """
    text = cursor.line("crc32")
    is_number = text.isascii() and text.isdecimal() and len(text) <= 10
    cursor.require(is_number and int(text) < 2**32, "crc32", f"{text[:20]!r} is not a CRC32 in decimal")
    cursor.end()
    return int(text)
