from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.kernels.utf8 import ESCAPED_BYTE_CHARS, gather_utf8
from tests.kernels.gathered import texts

pytestmark = pytest.mark.kernel

NOT_UTF8 = [
    "ff",
    "80",
    "c0 80",  # Java's NUL; Cassandra takes it, and these:
    "ed a0 80",
    "ed bf bf",
    "f4 90 80 80",
    "f5 80 80 80",
    "c1 bf",
    "e0 9f bf",
    "f0 8f bf bf",
    "c3",
    "c3 28",
    "e2 82",
    "e2 28 a1",
    "f0 9f 99",
    "f0 9f 28 82",
]
EDGES = ["00", "7f", "c2 80", "df bf", "e0 a0 80", "ed 9f bf", "ee 80 80", "ef bf bf", "f0 90 80 80", "f4 8f bf bf"]

PIECES = st.text() | st.binary(max_size=5) | st.sampled_from(NOT_UTF8 + EDGES).map(bytes.fromhex)
TEXTS = st.lists(PIECES.map(lambda each: each.encode() if isinstance(each, str) else each), max_size=5).map(b"".join)


def escaped(*values: bytes | None) -> list[str | None] | int:
    return texts(gather_utf8, values, 0, ESCAPED_BYTE_CHARS, how=(True,))


def or_null(*values: bytes | None) -> list[str | None] | int:
    return texts(gather_utf8, values, 0, ESCAPED_BYTE_CHARS, how=(False,))


def decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


@given(st.lists(st.none() | TEXTS, max_size=6))
@example([bytes.fromhex(value) for value in NOT_UTF8 + EDGES])
def test_a_text_that_is_not_utf_8_is_null_or_has_its_bytes_escaped(values: list[bytes | None]) -> None:
    """Python's backslashreplace is the judge."""
    assert escaped(*values) == [value if value is None else value.decode(errors="backslashreplace") for value in values]
    assert or_null(*values) == [decoded(value) for value in values]


@pytest.mark.parametrize("value", NOT_UTF8)
def test_what_is_not_utf_8(value: str) -> None:
    assert or_null(b"a", bytes.fromhex(value), b"b") == ["a", None, "b"]


@pytest.mark.parametrize("value", EDGES)
def test_the_first_and_last_characters_of_each_length(value: str) -> None:
    assert or_null(bytes.fromhex(value)) == [bytes.fromhex(value).decode()]


def test_a_text_ends_with_its_bytes() -> None:
    """What lies behind it would complete the character."""
    assert escaped(b"\xc3", b"\xa9") == ["\\xc3", "\\xa9"]
