"""Frames read back as any Flight client reads them: protobuf by protobuf's own code, IPC by pyarrow's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.frames import Frame, FrameWriter, schema_frame
from flightsrv.arrow.parts import Parts, array_of
from flightsrv.arrow.types import COMPATIBLE, NATIVE, TypeMapping, arrow_field
from flightsrv.cql.schema import Column
from flightsrv.cql.types import CqlType
from flightsrv.server.flight_pb2 import FlightData
from tests.arrow.columns import columns, found, typed_columns
from tests.kernels.places import places_of

CONTINUATION = b"\xff\xff\xff\xff"


def message_of(frame: Frame) -> pa.ipc.Message:
    """The IPC message that a frame holds: data_header is one without its length before it."""
    parsed = FlightData.FromString(frame.data)
    assert len(parsed.data_header) % 8 == 0
    head = CONTINUATION + len(parsed.data_header).to_bytes(4, "little")
    return pa.ipc.read_message(pa.py_buffer(head + parsed.data_header + parsed.data_body))


def batch_of(frame: Frame, schema: pa.Schema) -> pa.RecordBatch:
    batch = pa.ipc.read_record_batch(message_of(frame), schema)
    batch.validate(full=True)
    return batch


def parts_of(type_: CqlType, stored: list[bytes | None], mapping: TypeMapping = COMPATIBLE) -> Parts:
    """A column's parts, over memory that lives as long as they do."""
    builder, places = builder_of(type_, mapping), places_of(stored)
    builder.append(places.at, places.size, 0, places.count)
    return builder.parts()


def schema_of(*types: CqlType, mapping: TypeMapping = COMPATIBLE) -> pa.Schema:
    return pa.schema([arrow_field(Column(f"c{i}", type_, "regular"), mapping) for i, type_ in enumerate(types)])


@pytest.mark.parametrize("mapping", [COMPATIBLE, NATIVE], ids=["compatible", "native"])
@given(st.data())
def test_a_column_of_any_type_reads_back_as_it_is(mapping: TypeMapping, data: st.DataObject) -> None:
    type_, stored = data.draw(typed_columns(mapping))
    parts = parts_of(type_, stored, mapping)
    frame = FrameWriter().write([parts])
    column = batch_of(frame, schema_of(type_, mapping=mapping)).column(0)
    assert found(type_, column) == found(type_, array_of(parts))
    assert frame.rows == len(stored)
    buffers = [buffer for level in parts.levels() for buffer in level.buffers if buffer is not None]
    assert frame.arrow_bytes == sum(buffer.size for buffer in buffers)


@given(st.lists(st.lists(st.none() | st.binary(max_size=9), min_size=1, max_size=9), min_size=1, max_size=4))
def test_one_writer_writes_all_batches_of_a_stream(batches: list[list[bytes | None]]) -> None:
    writer, schema = FrameWriter(), schema_of(CqlType("blob"), CqlType("int"))
    for stored in batches:
        numbers = [i.to_bytes(4, "big") for i in range(len(stored))]
        frame = writer.write([parts_of(CqlType("blob"), stored), parts_of(CqlType("int"), list(numbers))])
        batch = batch_of(frame, schema)
        assert batch.column("c0").to_pylist() == stored
        assert batch.column("c1").to_pylist() == list(range(len(stored)))


@pytest.mark.parametrize("count", [1, 2, 33, 300, 700])
def test_any_number_of_columns(count: int) -> None:
    type_ = CqlType("text")
    frame = FrameWriter().write([parts_of(type_, [b"%d" % i, None]) for i in range(count)])
    batch = batch_of(frame, schema_of(*[type_] * count))
    assert [column.to_pylist() for column in batch.columns] == [[str(i), None] for i in range(count)]


def test_a_deep_type_reads_back() -> None:
    type_ = CqlType("int")
    stored = [(7).to_bytes(4, "big")]
    for _ in range(12):
        type_ = CqlType("list", (type_,), frozen=True)
        stored = [b"\0\0\0\1" + len(stored[0]).to_bytes(4, "big") + stored[0]]
    parts = parts_of(type_, list(stored))
    assert batch_of(FrameWriter().write([parts]), schema_of(type_)).column(0).equals(array_of(parts))


def test_a_frame_holds_nothing_of_what_is_written_later() -> None:
    builder, writer = builder_of(CqlType("int")), FrameWriter()
    frames = []
    for value in (1, 2):
        places = places_of([value.to_bytes(4, "big")])
        builder.append(places.at, places.size, 0, 1)
        frames.append(writer.write([builder.parts()]))
        builder.reset()
        builder.values.data[:] = 0xEE
    values = [batch_of(frame, schema_of(CqlType("int"))).column(0).to_pylist() for frame in frames]
    assert values == [[1], [2]]


def test_padding_between_buffers_is_zeros() -> None:
    frame = FrameWriter().write([parts_of(CqlType("text"), [b"abc", b"\xff\xff".decode("latin-1").encode()])])
    body = FlightData.FromString(frame.data).data_body
    assert len(body) % 8 == 0
    assert body.endswith(b"abc\xc3\xbf\xc3\xbf\0")


@given(st.lists(typed_columns().map(lambda drawn: drawn[0]), min_size=1, max_size=4))
def test_a_stream_begins_with_its_schema(types: list[CqlType]) -> None:
    schema = schema_of(*types)
    frame = schema_frame(schema)
    as_sent = pa.ipc.read_schema(schema.serialize())  # a reader makes extension types of what their metadata name
    assert pa.ipc.read_schema(message_of(frame)).equals(as_sent, check_metadata=True)
    assert (frame.rows, frame.arrow_bytes) == (0, 0)


@given(st.data())
def test_frames_of_a_column_in_pieces_are_the_column(data: st.DataObject) -> None:
    type_ = CqlType("map", (CqlType("int"), CqlType("text")), frozen=True)
    stored = data.draw(columns(type_))
    cut = data.draw(st.integers(0, len(stored)))
    pieces = [piece for piece in (stored[:cut], stored[cut:]) if piece]
    writer, schema = FrameWriter(), schema_of(type_)
    arrays = [batch_of(writer.write([parts_of(type_, piece)]), schema).column(0) for piece in pieces]
    whole = array_of(parts_of(type_, stored)) if stored else None
    assert (pa.concat_arrays(arrays) if arrays else None) == whole


def test_a_frame_of_more_than_two_to_the_21_bytes_has_lengths_of_four_bytes() -> None:
    stored = [bytes(np.full(1 << 20, byte, np.uint8)) for byte in range(3)]
    frame = FrameWriter().write([parts_of(CqlType("blob"), list(stored))])
    assert batch_of(frame, schema_of(CqlType("blob"))).column(0).to_pylist() == stored
