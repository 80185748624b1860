"""Copies of SSTables to be damaged, with their checksums made right again where the damage is to lie deeper."""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from flightsrv.cql.vint import write_unsigned_vint
from flightsrv.kernels.vint import SLACK
from flightsrv.sstable import index
from flightsrv.verify import Finding, verify_folder
from tests.sstable.components import SSTable, described

INDEX_INTERVAL = 128

RawEntry = tuple[bytes, int, bytes]
"""Of Index.db: key, position, and its row index as stored or nothing."""


@dataclass(frozen=True)
class Copy:
    """The files of one SSTable, in a folder of its own."""

    sstable: SSTable

    def read(self, component: str) -> bytes:
        return self.sstable.file(component).read_bytes()

    def write(self, component: str, data: bytes) -> None:
        self.sstable.file(component).write_bytes(data)

    def remove(self, component: str) -> None:
        self.sstable.file(component).unlink()

    def patch(self, component: str, offset: int, new: bytes) -> None:
        """Put new bytes in place of as many others."""
        data = bytearray(self.read(component))
        data[offset : offset + len(new)] = new
        self.write(component, bytes(data))

    def place(self, component: str, field: str) -> tuple[int, int]:
        """Offset and size of a field, by its name in an annotated dump."""
        lines = described(self.sstable, component)
        return next((line.offset, line.size) for line in lines if line.field == field)

    def findings(self) -> list[Finding]:
        return list(verify_folder(self.sstable.data_file.parent))

    def errors(self) -> list[str]:
        """The text of each error, from the component's name on."""
        prefix = f"{self.sstable.descriptor.name}-"
        return [str(each).removeprefix(prefix) for each in self.findings() if each.severity == "error"]

    # --- making it whole again ------------------------------------------------------------------------------------

    def store_uncompressed(self, change: Callable[[bytes], bytes] = lambda data: data, chunk_size: int = 65536) -> None:
        """Store Data.db, changed, without compression and with the checksums it must have then."""
        data = change(self.sstable.data())
        if self.sstable.file("CompressionInfo.db").exists():
            self.remove("CompressionInfo.db")
        self.write("Data.db", data)
        chunks = [data[start : start + chunk_size] for start in range(0, len(data), chunk_size)]
        self.write("CRC.db", b"".join(map(u32, [chunk_size, *map(zlib.crc32, chunks)])))
        self.write("Digest.crc32", str(zlib.crc32(data)).encode())
        names = {name for name in self.read("TOC.txt").decode().split() if name != "CompressionInfo.db"}
        self.write("TOC.txt", "".join(f"{name}\n" for name in sorted(names | {"CRC.db"})).encode())

    def patch_statistics(self, field: str, new: bytes) -> None:
        """Replace a field of Statistics.db, and the checksums of its parts if it has any."""
        offset, size = self.place("Statistics.db", field)
        assert size == len(new)
        self.patch("Statistics.db", offset, new)
        if self.sstable.version.has_metadata_checksum:
            data = self.read("Statistics.db")
            starts = [int.from_bytes(data[12 + 8 * part : 16 + 8 * part]) for part in range(4)]
            for start, stop in pairwise([*starts, len(data)]):
                self.patch("Statistics.db", stop - 4, u32(zlib.crc32(data[start : stop - 4])))

    def raw_entries(self) -> list[RawEntry]:
        """What Index.db holds."""
        data = self.read("Index.db")
        found = index.walk(np.frombuffer(data + bytes(SLACK), np.uint8), len(data), "Index.db")
        starts = found.key_start.tolist()
        ends = [start - 2 for start in starts[1:]] + [len(data)]
        columns = zip(
            starts,
            ends,
            found.key_size.tolist(),
            found.data_position.tolist(),
            found.promoted_size.tolist(),
            strict=True,
        )
        return [
            (data[start : start + size], position, data[end - promoted : end])
            for start, end, size, position, promoted in columns
        ]

    def write_index(self, entries: Sequence[RawEntry]) -> None:
        """Write Index.db, and a Summary.db that fits it."""
        data, samples = b"", []
        for i, (key, position, promoted) in enumerate(entries):
            if i % INDEX_INTERVAL == 0:
                samples.append(key + struct.pack("<q", len(data)))
            data += len(key).to_bytes(2) + key + write_unsigned_vint(position)
            data += write_unsigned_vint(len(promoted)) + promoted
        self.write("Index.db", data)
        offsets = [4 * len(samples) + len(b"".join(samples[:i])) for i in range(len(samples))]
        stored = struct.pack(f"<{len(samples)}i", *offsets) + b"".join(samples)
        head = struct.pack(">iiqii", INDEX_INTERVAL, len(samples), len(stored), 128, len(samples))
        keys = b"".join(u32(len(key)) + key for key in (entries[0][0], entries[-1][0]))
        self.write("Summary.db", head + stored + keys)


def copy_of(sstable: SSTable, folder: Path) -> Copy:
    """Copy an SSTable's files to a folder, which may hold others."""
    for path in sstable.data_file.parent.glob(f"{sstable.descriptor.name}-*"):
        shutil.copy(path, folder)
    return Copy(SSTable(folder / sstable.data_file.name))


def u32(value: int) -> bytes:
    return value.to_bytes(4)
