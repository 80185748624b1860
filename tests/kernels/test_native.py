"""Loads, stores and C functions are what Python's own are, compiled and not."""

from __future__ import annotations

import zlib

import lz4.block
import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.kernels import native
from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import HAS, address_of

pytestmark = pytest.mark.kernel


@kernel
def loaded(a):
    return (
        native.load_u8(a),
        native.load_be16(a),
        native.load_be32(a),
        native.load_be64(a),
        native.load_le64(a),
    )


@kernel
def stored(a, value):
    native.store_8(a, value)
    native.store_16(a + 1, value)
    native.store_32(a + 3, value)
    native.store_64(a + 7, value)


@kernel
def copied(target, source, size):
    native.copy(target, source, size)


@kernel
def compared(a, b, size):
    return np.int64(native.compare(a, b, size))


@kernel
def first_address(data):
    return address_of(data)


@kernel
def checksum(a, size):
    return np.int64(native.crc32(a, size))


@kernel
def unpacked_lz4(target, room, source, size):
    return np.int64(native.lz4_decompress(target, room, source, size))


@kernel
def unpacked_zstd(target, room, source, size):
    return np.int64(native.zstd_decompress(target, room, source, size))


def array_of(data: bytes) -> np.ndarray:
    return np.frombuffer(data + b"\xee", np.uint8).copy()


@given(st.binary(max_size=3), st.binary(min_size=8, max_size=8))
def test_loads_take_any_address(before: bytes, data: bytes) -> None:
    array = array_of(before + data)
    assert [int(number) for number in loaded(array.ctypes.data + len(before))] == [
        data[0],
        int.from_bytes(data[:2], "big"),
        int.from_bytes(data[:4], "big"),
        int.from_bytes(data, "big", signed=True),
        int.from_bytes(data, "little", signed=True),
    ]


@given(st.integers(-(2**63), 2**63 - 1))
def test_stores_keep_the_low_bytes(value: int) -> None:
    array = array_of(bytes(16))
    stored(array.ctypes.data + 1, np.int64(value))
    low = (value % 2**64).to_bytes(8, "little")
    assert array.tobytes() == b"\0" + low[:1] + low[:2] + low[:4] + low + b"\xee"


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_bytes_are_copied_and_compared_as_unsigned(a: bytes, b: bytes) -> None:
    size = min(len(a), len(b))
    left, right = array_of(a), array_of(b)
    order = int(compared(left.ctypes.data, right.ctypes.data, size))
    assert (order > 0) - (order < 0) == (a[:size] > b[:size]) - (a[:size] < b[:size])
    copied(left.ctypes.data, right.ctypes.data, size)
    assert left.tobytes() == b[:size] + a[size:] + b"\xee"


def test_an_address_is_that_of_the_first_byte() -> None:
    data = np.arange(10, dtype=np.uint8)
    assert first_address(data[3:]) == data.ctypes.data + 3 == address_of(data[3:])


@given(st.binary(max_size=100))
def test_the_checksum_is_zlibs(data: bytes) -> None:
    array = array_of(data)
    assert checksum(array.ctypes.data, len(data)) == zlib.crc32(data)


PACKED = {
    "lz4": (unpacked_lz4, lambda data: lz4.block.compress(data, store_size=False)),
    "zstd": (unpacked_zstd, zstandard.ZstdCompressor().compress),
}


@pytest.mark.parametrize("codec", PACKED)
@given(data=st.binary(min_size=1, max_size=300), room=st.integers(0, 10))
def test_codecs_give_the_content_or_less_than_nothing(codec: str, data: bytes, room: int) -> None:
    unpack, pack = PACKED[codec]
    source, target = array_of(pack(data)), np.full(len(data) + 20, 0x5A, np.uint8)
    size = len(source) - 1
    assert unpack(target.ctypes.data, len(data) + room, source.ctypes.data, size) == len(data)
    assert target[: len(data)].tobytes() == data
    target[:] = 0x5A
    assert unpack(target.ctypes.data, len(data) - 1, source.ctypes.data, size) < 0
    assert set(target[len(data) - 1 :].tolist()) == {0x5A}


def test_the_libraries_that_are_installed_export_what_kernels_call() -> None:
    """Where one does not, the packages' Python functions are called a chunk at a time, which is slow."""
    assert all(HAS.values()), HAS
