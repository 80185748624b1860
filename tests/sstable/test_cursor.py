from __future__ import annotations

import struct
from collections.abc import Callable
from enum import STRICT, IntEnum, IntFlag
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.vint import write_signed_vint, write_unsigned_vint
from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.sstable.cursor import MAX_LINE_SIZE, Cursor, Line, as_i64


class Colour(IntFlag, boundary=STRICT):
    RED = 1
    BLUE = 4


Place = IntEnum("Place", [f"P{i}" for i in range(16)], start=0)


def cursor(data: bytes, **options: Any) -> Cursor:
    return Cursor(data, "/data/nb-1-big-Some.db", **options)


READS: list[tuple[bytes, Callable[[Cursor], Any], Any]] = [
    (b"\xff", lambda c: c.u8("f"), 255),
    (b"\xff\xfe", lambda c: c.u16("f"), 65534),
    (b"\xff\xff\xff\xfe", lambda c: c.u32("f"), 2**32 - 2),
    (b"\xff\xff\xff\xfe", lambda c: c.i32("f"), -2),
    (b"\xff" * 7 + b"\xfe", lambda c: c.i64("f"), -2),
    (struct.pack(">d", -0.5), lambda c: c.f64("f"), -0.5),
    (b"\x01", lambda c: c.bool("f"), True),
    (b"\x05", lambda c: c.flags("f", Colour), Colour.RED | Colour.BLUE),
    (b"\xc0\x40\x00", lambda c: c.uvint("f"), 16384),
    (b"\xff" * 9, lambda c: c.uvint("f"), 2**64 - 1),
    (b"\x03", lambda c: c.svint("f"), -2),
    (b"\x02", lambda c: c.delta("f", -5), -3),
    (b"\xff" * 9, lambda c: c.delta("f", 0), -1),
    (b"\x25", lambda c: c.halves("f", Place), (Place(2), 5)),
    (b"\xfe", lambda c: c.sized("f", 1), -2),
    (b"\x7f\xff\xff", lambda c: c.sized("f", 3), 2**23 - 1),
    (b"\xab\xcd\xef\x12\x30", lambda c: c.packed("f", 12, 3), (0xABC, 0xDEF, 0x123)),
    (b"\x00\x05\xff\xff", lambda c: c.packed("f", 16, 2), (5, 65535)),
    (b"\xff" * 8, lambda c: c.packed("f", 64, 1), (2**64 - 1,)),
    (b"\x00\x03abc", lambda c: c.sbytes("f"), b"abc"),
    (b"\x03abc", lambda c: c.vbytes("f"), b"abc"),
    (b"\x00\x00\x00\x03abc", lambda c: c.ibytes("f"), b"abc"),
    (b"abc", lambda c: c.raw("f", 3), b"abc"),
    (b"\x00\x04\xc3\xa9\xc0\x80", lambda c: c.utf("f"), "é\0"),
    (b"\x00\x06\xed\xa0\xbd\xed\xb8\x80", lambda c: c.utf("f"), "😀"),
    (b"\x04\xf0\x9f\x98\x80", lambda c: c.vtext("f"), "😀"),
    (b"\x00\x00\x00\x02ab", lambda c: c.count("f", "i32", at_least=1), range(2)),
    (b"\x02ab", lambda c: c.count("f", "uvint", at_least=1), range(2)),
    (b"\x00\x01\x00\x02", lambda c: c.array("f", ">u2", 2).tolist(), [1, 2]),
    (b"\x01\x00\x02\x00", lambda c: c.array("f", "<u2", 2).tolist(), [1, 2]),
    (b"abc", lambda c: c.line("f"), "abc"),
    (b"abc\n", lambda c: c.line("f"), "abc"),
    (b"abc\r\n", lambda c: c.line("f"), "abc"),
]


@pytest.mark.parametrize(("data", "read", "value"), READS)
def test_a_read_gives_the_value_and_moves_on(data: bytes, read: Callable[[Cursor], Any], value: Any) -> None:
    at = cursor(b"\x00" + data, start=1)
    assert read(at) == value
    assert at.offset == 1 + len(data) - (2 if isinstance(value, range) else 0)


@pytest.mark.parametrize(("data", "read"), [case[:2] for case in READS if b"abc" not in case[0][:3]])
def test_a_read_beyond_the_end_names_its_field(data: bytes, read: Callable[[Cursor], Any]) -> None:
    for size in range(len(data)):
        with pytest.raises(CorruptSSTableError, match=r"nb-1-big-Some\.db: offset 1, f: ") as caught:
            read(cursor(b"\x00" + data[:size], start=1))
        assert caught.value.where == Where("/data/nb-1-big-Some.db", offset=1, field="f")


@pytest.mark.parametrize(
    ("data", "read", "what"),
    [
        (b"\x02", lambda c: c.bool("f"), "2 is neither 0 nor 1"),
        (b"\x02", lambda c: c.flags("f", Colour), "0x02 has flags that are none of Colour"),
        (b"\x00\x01\xff", lambda c: c.utf("f"), "it is not UTF-8"),
        (b"\x00\x03\xed\xa0\x80", lambda c: c.utf("f"), "it is not UTF-8"),
        (b"\x01\xff", lambda c: c.vtext("f"), "it is not UTF-8"),
        (b"\xff\xff\xff\xff", lambda c: c.ibytes("f"), "its length is -1, 0 bytes are left"),
        (b"\xff" * 9, lambda c: c.vbytes("f"), f"its length is {2**64 - 1}, 0 bytes are left"),
        (b"\xff" * 4, lambda c: c.count("f", "i32", at_least=1), "-1 of at least 1 bytes do not fit"),
        (
            b"\xff" * 9,
            lambda c: c.count("f", "uvint", at_least=2),
            "of at least 2 bytes do not fit in the 0 bytes left",
        ),
        (b"abc", lambda c: c.array("f", "u1", -1), "-1 of 1 bytes do not fit"),
        (b"abc", lambda c: c.array("f", ">i8", 2**31 - 1), "2147483647 of 8 bytes do not fit in the 3 bytes left"),
        (b"abcd", lambda c: c.crc32("f", 5), "0x61626364 in the file, 0x00000005 computed"),
        (b"a" * (MAX_LINE_SIZE + 1), lambda c: c.line("f"), "the line has more than 1024 bytes"),
        (b"abc", lambda c: c.ahead("f", 4), "it is over 4 bytes, 3 are left"),
    ],
)
def test_what_cannot_be_is_corrupt(data: bytes, read: Callable[[Cursor], Any], what: str) -> None:
    with pytest.raises(CorruptSSTableError) as caught:
        read(cursor(data))
    assert what in caught.value.what


def test_a_section_names_its_fields_and_bounds_them() -> None:
    at = cursor(b"\x01\x02\x03\x04")
    with at.section("outer"), at.section("inner", 2):
        at.u8("a")
        with pytest.raises(CorruptSSTableError, match=r"offset 1, outer\.inner\.b: it needs 2 bytes, 1 are left"):
            at.u16("b")
    assert at.left == 3


def test_a_section_cannot_be_larger_than_what_is_around_it() -> None:
    at = cursor(b"\x01\x02\x03\x04")
    with at.section("outer", 2), pytest.raises(CorruptSSTableError, match="inner: its 3 bytes"), at.section("inner", 3):
        pass


def test_the_end_is_where_nothing_is_left() -> None:
    at = cursor(b"ab")
    at.u8("a")
    with pytest.raises(CorruptSSTableError, match="offset 1, end: 1 bytes are left after the last field"):
        at.end()
    at.u8("b")
    at.end()


def test_seek_stays_within_the_data() -> None:
    at = cursor(b"abcd", origin=100)
    at.seek(102, "pointer")
    assert at.raw("f", 2) == b"cd"
    for offset in (99, 105):
        with pytest.raises(CorruptSSTableError, match=f"pointer: it points at {offset}, outside of the file"):
            at.seek(offset, "pointer")


def test_offsets_count_from_the_origin_and_positions_are_named_so() -> None:
    with pytest.raises(CorruptSSTableError, match="offset 1001, f: "):
        cursor(b"ab", start=1, origin=1000).u16("f")
    with pytest.raises(CorruptSSTableError, match="position 1001, f: "):
        cursor(b"ab", start=1, origin=1000, uncompressed=True).u16("f")


def test_the_trace_has_a_line_for_each_field() -> None:
    trace: list[Line] = []
    at = cursor(b"\x07\x02hi\xff", trace=trace)
    at.u8("a")
    with at.section("s"):
        at.vbytes("b")
    with pytest.raises(CorruptSSTableError):
        at.u16("c")
    assert trace == [Line(0, 1, "a", 7), Line(1, 3, "s.b", b"hi")]


@pytest.mark.parametrize("form", [bytes, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_bytes_may_lie_in_any_buffer(form: Callable[[bytes], Any]) -> None:
    assert cursor(form(b"\x00\x02ab")).sbytes("f") == b"ab"


@given(st.integers(0, 2**64 - 1))
def test_every_unsigned_vint_is_read(value: int) -> None:
    assert cursor(write_unsigned_vint(value)).uvint("f") == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_signed_vint_is_read(value: int) -> None:
    assert cursor(write_signed_vint(value)).svint("f") == value


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_a_delta_wraps_like_a_java_long(value: int, base: int) -> None:
    assert cursor(write_unsigned_vint((value - base) % 2**64)).delta("f", base) == value == as_i64(value)
