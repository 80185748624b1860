"""Values that Arrow's types cannot hold: an error, null, or text, as the server is set to."""

from __future__ import annotations

import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.arrow.builders import builder_of
from flightsrv.arrow.parts import array_of
from flightsrv.arrow.types import COMPATIBLE, NATIVE, TypeMapping
from flightsrv.cql.types import CqlType
from flightsrv.cql.values import EMPTY, encode
from flightsrv.errors import UnrepresentableError
from tests.arrow.columns import found
from tests.kernels.places import places_of

INT, TEXT, TIME, DECIMAL, VARINT = (CqlType(kind) for kind in ("int", "text", "time", "decimal", "varint"))
OR_NULL, OR_TEXT = TypeMapping(on_unrepresentable="null"), TypeMapping(on_unrepresentable="text")
NATIVE_OR_NULL = TypeMapping(native=True, on_unrepresentable="null")

TEN_DECIMALS = b"\0\0\0\x0a\x01"
THIRTY_DIGITS = b"\0\0\0\0\x0d" + bytes(12)
NO_TEXT = b"M\xfcller"
NO_TIME = struct.pack(">q", -1)


def shown(type_: CqlType, stored: list[bytes | None], mapping: TypeMapping) -> list[Any]:
    """Values as pyarrow has them, appended in two pieces."""
    builder, places = builder_of(type_, mapping), places_of(stored)
    for start, stop in ((0, 1), (1, places.count)):
        builder.append(places.at, places.size, start, stop)
    array = array_of(builder.parts())
    array.validate(full=True)
    return list(array.to_pylist())


@pytest.mark.parametrize(
    ("type_", "value", "mapping", "what"),
    [
        (DECIMAL, TEN_DECIMALS, COMPATIBLE, 'a decimal with more than 9 decimals; ask for "types": "native", or'),
        (DECIMAL, THIRTY_DIGITS, COMPATIBLE, "a decimal with more than 29 digits before the point; ask for"),
        (VARINT, b"\x7f" * 16, COMPATIBLE, "a varint with more than 38 digits before the point; ask for"),
        (TEXT, NO_TEXT, COMPATIBLE, "a text that is not UTF-8; set --on-unrepresentable of the server to null or text"),
        (TEXT, NO_TEXT, NATIVE, "a text that is not UTF-8"),
        (TIME, NO_TIME, COMPATIBLE, "a time that is not within a day; set --on-unrepresentable of the server to null"),
        (TIME, NO_TIME, NATIVE, "a time that is not within a day"),
        (TIME, NO_TIME, OR_TEXT, "a time that is not within a day"),
        (VARINT, b"\x7f" * 4097, NATIVE, "a varint of more than 4096 bytes"),
        (DECIMAL, bytes(4) + b"\x7f" * 4097, OR_TEXT, "a decimal of more than 4096 bytes"),
        (CqlType("map", (INT, INT)), encode(CqlType("map", (INT, INT)), {EMPTY: 1}), NATIVE, "a map with an empty key"),
        (
            CqlType("map", (INT, INT)),
            encode(CqlType("map", (INT, INT)), {EMPTY: 1}),
            OR_TEXT,
            "a map with an empty key",
        ),
        (CqlType("list", (DECIMAL,)), b"\0\0\0\1\0\0\0\5" + TEN_DECIMALS, COMPATIBLE, "a decimal with more than 9"),
        (CqlType("tuple", (TEXT,)), b"\0\0\0\6" + NO_TEXT, COMPATIBLE, "a text that is not UTF-8"),
    ],
)
def test_it_is_an_error_that_says_why(type_: CqlType, value: bytes, mapping: TypeMapping, what: str) -> None:
    with pytest.raises(UnrepresentableError, match=f"^{what}"):
        shown(type_, [None, value], mapping)


@pytest.mark.parametrize("mapping", [OR_NULL, NATIVE_OR_NULL], ids=["compatible", "native"])
@pytest.mark.parametrize(
    ("type_", "value", "other"),
    [
        (TEXT, NO_TEXT, "é"),
        (TIME, NO_TIME, 5),
        (CqlType("list", (TEXT,)), None, ["a"]),
        (CqlType("map", (INT, TEXT)), encode(CqlType("map", (INT, TEXT)), {5: "x", EMPTY: "y"}), [(6, "z")]),
    ],
)
def test_it_is_null_and_all_others_are_as_ever(
    type_: CqlType, value: bytes | None, other: Any, mapping: TypeMapping
) -> None:
    good = encode(type_, other)
    assert found(type_, array_after(type_, [good, value, good], mapping)) == found(
        type_, array_after(type_, [good, None, good], mapping)
    )


def array_after(type_: CqlType, stored: list[bytes | None], mapping: TypeMapping) -> Any:
    builder, places = builder_of(type_, mapping), places_of(stored)
    builder.append(places.at, places.size, 0, 1)
    builder.append(places.at, places.size, 1, places.count)
    return array_of(builder.parts())


def test_numbers_that_decimal128_cannot_hold_are_null() -> None:
    fits = encode(DECIMAL, Decimal("1.5"))
    assert [value and str(value) for value in shown(DECIMAL, [TEN_DECIMALS, fits, THIRTY_DIGITS, None], OR_NULL)] == [
        None,
        "1.500000000",
        None,
        None,
    ]


def test_or_text_makes_texts_of_all_decimals_and_varints_of_a_stream() -> None:
    fits = b"\0\0\0\2\x00\x96"
    assert shown(DECIMAL, [fits, TEN_DECIMALS, None], OR_TEXT) == ["1.50", "1E-10", None]
    assert shown(VARINT, [b"\x80", b"\x7f" + b"\xff" * 16, b""], OR_TEXT) == ["-128", str(2**135 - 1), None]
    assert shown(TEXT, [NO_TEXT, b"ok", "é".encode()], OR_TEXT) == ["M\\xfcller", "ok", "é"]


def test_a_map_whose_key_is_no_value_of_arrows_is_null_and_no_key_is() -> None:
    """Whatever the reason: Arrow's maps have no null keys, not even under a null map."""
    type_ = CqlType("map", (DECIMAL, INT))
    maps = [
        struct.pack(">i", len(keys)) + b"".join(struct.pack(">i", len(key)) + key + b"\0\0\0\4\0\0\0\1" for key in keys)
        for keys in ([b"\0\0\0\0\1"], [b"\0\0\0\0\1", TEN_DECIMALS], [], [b""], [b"\0\0\0\0\2", b"\0\0\0\0\3"])
    ]
    builder, places = builder_of(type_, OR_NULL), places_of([*maps, None])
    builder.append(places.at, places.size, 0, 2)
    builder.append(places.at, places.size, 2, places.count)
    parts = builder.parts()
    keys = parts.children[0].children[0]
    assert (parts.null_count, keys.null_count, keys.buffers[0]) == (3, 0, None)
    assert [value and [int(key) for key, _ in value] for value in array_of(parts).to_pylist()] == [
        [1],
        None,
        [],
        None,
        [2, 3],
        None,
    ]
    builder.reset()
    builder.append(places.at, places.size, 4, 5)
    assert array_of(builder.parts()).null_count == 0


@given(st.lists(st.none() | st.text() | st.binary(max_size=6), max_size=8), st.integers(0, 8))
def test_texts_are_what_python_makes_of_them(values: list[str | bytes | None], cut: int) -> None:
    stored = [value.encode() if isinstance(value, str) else value for value in values]
    builder, places = builder_of(TEXT, OR_TEXT), places_of(stored)
    builder.append(places.at, places.size, 0, min(cut, places.count))
    builder.append(places.at, places.size, min(cut, places.count), places.count)
    assert array_of(builder.parts()).to_pylist() == [
        value if value is None else value.decode(errors="backslashreplace") for value in stored
    ]
