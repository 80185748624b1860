"""Batches as Flight frames, each written once: straight into the bytes that gRPC sends.

    FlightData  := 0x12 length data_header  0xc2 0x3e length data_body       (protobuf; fields 2 and 1000)
    data_header := Message flatbuffer
    data_body   := buffers, each padded to 8 bytes

All batches of a schema have a data_header of one form in which only numbers differ: it is built once, with the
flatbuffers library, and the numbers are put in for each batch. Source: Arrow's Message.fbs, Flight.proto.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import flatbuffers
import numpy as np
import pyarrow as pa

from flightsrv.arrow.parts import Parts
from flightsrv.kernels.gather import copy_buffers
from flightsrv.slab import Array

_METADATA_V5 = 4
_RECORD_BATCH = 3
_HEADER_TAG = b"\x12"
_BODY_TAG = b"\xc2\x3e"
_ALIGNMENT = 8
_CONTINUATION_BYTES = 8
"""What an encapsulated message has before its flatbuffer, and a data_header has not."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a DoGet stream."""

    data: bytes
    """A whole serialized FlightData."""
    rows: int
    arrow_bytes: int
    """Bytes of Arrow buffers in it."""


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def schema_frame(schema: pa.Schema) -> Frame:
    """The frame that a stream begins with."""
    message = schema.serialize().to_pybytes()
    size = int.from_bytes(message[4:8], "little")
    header = message[_CONTINUATION_BYTES : _CONTINUATION_BYTES + size]
    return Frame(_HEADER_TAG + _varint(len(header)) + header, 0, 0)


def _new_bytes(size: int) -> tuple[bytes, Array]:
    """An uninitialised bytes object, and a writable view of it for who makes it.

    `bytes(size)` would touch all its memory once more. Writing into it is what C code does between
    PyBytes_FromStringAndSize and handing it out.
    """
    new = _from_string_and_size(None, size)
    memory = (ctypes.c_uint8 * size).from_address(_as_string(new))
    return new, np.frombuffer(memoryview(memory), np.uint8)


_from_string_and_size = ctypes.pythonapi.PyBytes_FromStringAndSize
_from_string_and_size.restype = ctypes.py_object
_from_string_and_size.argtypes = [ctypes.c_char_p, ctypes.c_ssize_t]
_as_string = ctypes.pythonapi.PyBytes_AsString
_as_string.restype = ctypes.c_void_p
_as_string.argtypes = [ctypes.py_object]


class FrameWriter:
    """Writes the frames of one schema's batches."""

    def __init__(self) -> None:
        self._shape: tuple[int, int] | None = None
        self._header: Array = np.empty(0, np.uint8)
        self._numbers: list[Array] = []

    def write(self, columns: list[Parts]) -> Frame:
        """The frame of a batch of columns of equal length."""
        levels = [level for column in columns for level in column.levels()]
        buffers = [buffer for level in levels for buffer in level.buffers]
        rows = columns[0].length
        sizes = np.array([0 if buffer is None else buffer.size for buffer in buffers], np.int64)
        padded = (sizes + (_ALIGNMENT - 1)) & -_ALIGNMENT
        places = np.concatenate((np.zeros(1, np.int64), np.cumsum(padded)))
        body = int(places[-1])
        self._put_numbers(rows, levels, places[:-1], sizes, body)
        prefix = _HEADER_TAG + _varint(self._header.size)
        middle = _BODY_TAG + _varint(body)
        at = len(prefix) + self._header.size
        data, view = _new_bytes(at + len(middle) + body)
        view[: len(prefix)] = np.frombuffer(prefix, np.uint8)
        view[len(prefix) : at] = self._header
        view[at : at + len(middle)] = np.frombuffer(middle, np.uint8)
        addresses = np.array([0 if buffer is None else buffer.ctypes.data for buffer in buffers], np.int64)
        copy_buffers(addresses, sizes, places[:-1], view[at + len(middle) :])
        return Frame(data, rows, int(sizes.sum()))

    def _put_numbers(self, rows: int, levels: list[Parts], places: Array, sizes: Array, body: int) -> None:
        shape = (len(levels), len(sizes))
        if self._shape != shape:
            self._shape = shape
            self._header, self._numbers = _template(*shape)
        length, nodes, buffers, body_length = self._numbers
        length[0] = rows
        body_length[0] = body
        nodes[0::2] = [level.length for level in levels]
        nodes[1::2] = [level.null_count for level in levels]
        buffers[0::2] = places
        buffers[1::2] = sizes


def _template(node_count: int, buffer_count: int) -> tuple[Array, list[Array]]:
    """A RecordBatch message, and int64 views of the numbers in it: length, nodes, buffers, bodyLength.

    Each number is built as a value of its own, so that it can be found.
    """
    values = iter(range(2**61, 2**62))
    builder = flatbuffers.Builder(1024)
    firsts = []
    vectors = []
    for count in (node_count, buffer_count):
        builder.StartVector(16, count, 8)
        last = 0
        for _ in range(2 * count):
            builder.PrependInt64(last := next(values))
        firsts.append(last)
        vectors.append(builder.EndVector())
    builder.StartObject(4)
    builder.PrependInt64Slot(0, length := next(values), 0)
    builder.PrependUOffsetTRelativeSlot(1, vectors[0], 0)
    builder.PrependUOffsetTRelativeSlot(2, vectors[1], 0)
    batch = builder.EndObject()
    builder.StartObject(5)
    builder.PrependInt16Slot(0, _METADATA_V5, 0)
    builder.PrependUint8Slot(1, _RECORD_BATCH, 0)
    builder.PrependUOffsetTRelativeSlot(2, batch, 0)
    builder.PrependInt64Slot(3, body_length := next(values), 0)
    builder.Finish(builder.EndObject())
    header = np.frombuffer(bytes(builder.Output()), np.uint8)
    header = np.concatenate((header, np.zeros(-header.size % _ALIGNMENT, np.uint8)))
    content = header.tobytes()

    def numbers(first: int, count: int) -> Array:
        at = content.index(first.to_bytes(8, "little"))
        view: Array = header[at : at + 8 * count].view(np.int64)
        return view

    return header, [
        numbers(length, 1),
        numbers(firsts[0], 2 * node_count),
        numbers(firsts[1], 2 * buffer_count),
        numbers(body_length, 1),
    ]
