from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.kernels.strings import compare_strings
from tests.kernels.guarded import Guarded
from tests.reference.ordering import java_string

pytestmark = pytest.mark.kernel

CHARACTERS = st.sampled_from("a0f\u00e9\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff")
TEXTS = st.text(CHARACTERS, max_size=4).map(str.encode)
NOT_UTF8 = [bytes.fromhex(each) for each in ("80", "c1bf", "c3", "e09fbf", "eda080", "f08fbfbf", "f4908080", "f5808080",
                                            "e282", "f09f98", "61ff")]  # fmt: skip
STRINGS = TEXTS | st.binary(max_size=5) | st.sampled_from(NOT_UTF8)
GUARDED_A, GUARDED_B = Guarded(), Guarded()


@given(STRINGS, STRINGS)
@example("\uffff".encode(), "\U00010000".encode())
@example(b"\xff", b"ff")
def test_bytes_sort_as_the_java_strings_that_they_are(a: bytes, b: bytes) -> None:
    left, right = (java_string(each).encode("utf-16-be") for each in (a, b))
    order = compare_strings(GUARDED_A.place(a), len(a), GUARDED_B.place(b), len(b))
    assert order == (left > right) - (left < right)


@pytest.mark.parametrize("data", NOT_UTF8, ids=bytes.hex)
def test_bytes_that_are_not_utf8_count_as_their_hex_digits(data: bytes) -> None:
    digits = data.hex().encode()
    assert compare_strings(GUARDED_A.place(data), len(data), GUARDED_B.place(digits), len(digits)) == 0
