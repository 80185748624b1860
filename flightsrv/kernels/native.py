"""Memory by address, and C functions by name, for kernels.

Kernels pass values around as addresses (int64) and sizes, so that a value is copied once, from the window it was
decompressed into to the Arrow buffer it is sent from, whichever of many windows that was. An address is only ever made
from a position that was compared with its window's end.

C functions come from libraries that are installed anyway. Unlike ctypes pointers they can be cached. Where a library
does not export its symbol, HAS[...] is False and the caller uses the package's Python functions instead.

The same source runs uncompiled (FLIGHTSRV_KERNELS=python): the plain functions below are then what is called.
"""

from __future__ import annotations

import ctypes
import importlib.util
import zlib
from typing import Any

import llvmlite.binding
import lz4.block
import numpy as np
import zstandard
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

_LIBRARIES = {
    "LZ4_decompress_safe": "lz4.block._block",
    "LZ4_compress_default": "lz4.block._block",
    "crc32_gzip_refl": "isal.isal_zlib",
    "ZSTD_decompress": "zstandard._cffi",
}
"""C function: the extension module whose shared library exports it."""


def _exported(symbol: str, module: str) -> bool:
    try:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            return False
        getattr(ctypes.CDLL(spec.origin), symbol)
        llvmlite.binding.load_library_permanently(spec.origin)
    except (AttributeError, ImportError, OSError, RuntimeError):
        return False
    return True


HAS: dict[str, bool] = {symbol: _exported(symbol, module) for symbol, module in _LIBRARIES.items()}
"""Which C functions can be called from kernels."""

# --- loads and copies ---------------------------------------------------------------------------------------------


def _load_function(bits: int, swap: bool) -> Any:
    """An intrinsic that loads an unsigned integer of `bits` bits from an address, as int64."""

    @intrinsic
    def load(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            value = builder.load(pointer)
            value.align = 1
            if swap:
                value = builder.bswap(value)
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), generate

    return load


def _store_function(bits: int, swap: bool) -> Any:
    """An intrinsic that stores the low `bits` bits of an int64 at an address."""

    @intrinsic
    def store(typing_context: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            value = arguments[1] if bits == 64 else builder.trunc(arguments[1], ir.IntType(bits))
            if swap:
                value = builder.bswap(value)
            instruction = builder.store(value, pointer)
            instruction.align = 1
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return store


_load8 = _load_function(8, False)
_load_be16 = _load_function(16, True)
_load_be32 = _load_function(32, True)
_load_be64 = _load_function(64, True)
_load_le64 = _load_function(64, False)
_store8 = _store_function(8, False)
_store16 = _store_function(16, False)
_store32 = _store_function(32, False)
_store64 = _store_function(64, False)
_store_be32 = _store_function(32, True)
_store_be64 = _store_function(64, True)
_ExternalFunction: Any = types.ExternalFunction
_memcpy = _ExternalFunction("memcpy", types.int64(types.int64, types.int64, types.int64))
_memcmp = _ExternalFunction("memcmp", types.int32(types.int64, types.int64, types.int64))
_crc32 = _ExternalFunction("crc32_gzip_refl", types.uint32(types.uint32, types.int64, types.uint64))
_lz4 = _ExternalFunction("LZ4_decompress_safe", types.int32(types.int64, types.int64, types.int32, types.int32))
_zstd = _ExternalFunction("ZSTD_decompress", types.int64(types.int64, types.uint64, types.int64, types.uint64))


def load_u8(a: int) -> int:
    """The byte at an address."""
    return ctypes.string_at(int(a), 1)[0]


def load_be16(a: int) -> int:
    """Unsigned big-endian 16 bits."""
    return int.from_bytes(ctypes.string_at(int(a), 2), "big")


def load_be32(a: int) -> int:
    """Unsigned big-endian 32 bits."""
    return int.from_bytes(ctypes.string_at(int(a), 4), "big")


def load_be64(a: int) -> int:
    """Signed big-endian 64 bits."""
    return int.from_bytes(ctypes.string_at(int(a), 8), "big", signed=True)


def load_le64(a: int) -> int:
    """Signed little-endian 64 bits."""
    return int.from_bytes(ctypes.string_at(int(a), 8), "little", signed=True)


def store_8(a: int, b: int) -> None:
    """Store the low 8 bits."""
    ctypes.memmove(int(a), (int(b) & 0xFF).to_bytes(1, "little"), 1)


def store_16(a: int, b: int) -> None:
    """Store the low 16 bits, little-endian."""
    ctypes.memmove(int(a), (int(b) & 0xFFFF).to_bytes(2, "little"), 2)


def store_32(a: int, b: int) -> None:
    """Store the low 32 bits, little-endian."""
    ctypes.memmove(int(a), (int(b) & 0xFFFFFFFF).to_bytes(4, "little"), 4)


def store_64(a: int, b: int) -> None:
    """Store 64 bits, little-endian."""
    ctypes.memmove(int(a), (int(b) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little"), 8)


def store_be32(a: int, b: int) -> None:
    """Store the low 32 bits, big-endian."""
    ctypes.memmove(int(a), (int(b) & 0xFFFFFFFF).to_bytes(4, "big"), 4)


def store_be64(a: int, b: int) -> None:
    """Store 64 bits, big-endian."""
    ctypes.memmove(int(a), (int(b) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big"), 8)


def copy(a: int, b: int, c: int) -> None:
    """Copy `c` bytes from address `b` to address `a`; they do not overlap."""
    ctypes.memmove(int(a), int(b), int(c))


def compare(a: int, b: int, c: int) -> int:
    """Below, equal to or above 0 as the `c` unsigned bytes at `a` sort before, like or after those at `b`."""
    left, right = ctypes.string_at(int(a), int(c)), ctypes.string_at(int(b), int(c))
    return (left > right) - (left < right)


# --- codecs -------------------------------------------------------------------------------------------------------


def crc32(a: int, b: int) -> int:
    """zlib's CRC-32 of the `b` bytes at address `a`."""
    return zlib.crc32(ctypes.string_at(int(a), int(b)))


def lz4_decompress(a: int, b: int, c: int, d: int) -> int:
    """Decompress the LZ4 block of `d` bytes at `c` into at most `b` bytes at `a`: bytes made, negative if it is
    damaged.
    """
    try:
        made = lz4.block.decompress(ctypes.string_at(int(c), int(d)), uncompressed_size=int(b))
    except lz4.block.LZ4BlockError:
        return -1
    ctypes.memmove(int(a), made, len(made))
    return len(made)


def zstd_decompress(a: int, b: int, c: int, d: int) -> int:
    """Likewise for a Zstandard frame."""
    try:
        frame = ctypes.string_at(int(c), int(d))
        made = zstandard.ZstdDecompressor().decompress(frame, max_output_size=int(b), allow_extra_data=False)
    except zstandard.ZstdError:
        return -1
    if len(made) > b:
        return -1
    ctypes.memmove(int(a), made, len(made))
    return len(made)


# --- joining the two forms ----------------------------------------------------------------------------------------


def address_of(a: Any) -> int:
    """The address of an array's first byte."""
    return int(a.ctypes.data)


def _compiled_as(plain: Any, compiled: Any) -> None:
    """Let compiled callers of a plain function use its compiled form (Numba wants equal argument names)."""
    forms: dict[int, Any] = {
        1: lambda a: lambda a: compiled(a),
        2: lambda a, b: lambda a, b: compiled(a, b),
        3: lambda a, b, c: lambda a, b, c: compiled(a, b, c),
    }
    overload(plain, inline="always")(forms[plain.__code__.co_argcount])


overload(address_of, inline="always")(lambda a: lambda a: np.int64(a.ctypes.data))
_compiled_as(load_u8, _load8)
_compiled_as(load_be16, _load_be16)
_compiled_as(load_be32, _load_be32)
_compiled_as(load_be64, _load_be64)
_compiled_as(load_le64, _load_le64)
_compiled_as(store_8, _store8)
_compiled_as(store_16, _store16)
_compiled_as(store_32, _store32)
_compiled_as(store_64, _store64)
_compiled_as(store_be32, _store_be32)
_compiled_as(store_be64, _store_be64)
_compiled_as(copy, _memcpy)
_compiled_as(compare, _memcmp)
if HAS["LZ4_decompress_safe"]:
    overload(lz4_decompress, inline="always")(
        lambda a, b, c, d: lambda a, b, c, d: np.int64(_lz4(c, a, np.int32(d), np.int32(b)))
    )
if HAS["ZSTD_decompress"]:
    overload(zstd_decompress, inline="always")(
        lambda a, b, c, d: lambda a, b, c, d: np.int64(_zstd(a, np.uint64(b), c, np.uint64(d)))
    )
if HAS["crc32_gzip_refl"]:
    overload(crc32, inline="always")(lambda a, b: lambda a, b: np.int64(_crc32(np.uint32(0), a, np.uint64(b))))
