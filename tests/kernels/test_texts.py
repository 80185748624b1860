from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.kernels.gather import WRONG_SIZE
from flightsrv.kernels.texts import INET_TEXT_BYTES, gather_hex, gather_inet
from tests.kernels.gathered import texts

pytestmark = pytest.mark.kernel


def inets(*values: bytes | None, tells_mapped: bool = False) -> list[str | None] | int:
    return texts(gather_inet, values, INET_TEXT_BYTES, how=(tells_mapped,))


@pytest.mark.parametrize(
    "text",
    [
        "::",
        "::1",
        "1::",
        "1::2",
        "2001:db8::1",
        "2001:db8::1:0:0:1",  # of two runs as long, the first
        "2001:0:0:1::1",  # the longest run, though another comes first
        "2001:db8:0:1:1:1:1:1",  # a single zero stays
        "0:1:1:1:1:1:1:1",
        "1:1:1:1:1:1:1:0",
        "::1:1:1:1:1:1",
        "1:1:1:1:1:1::",
        "a:b:c:d:e:f:ffff:abcd",  # lower case
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "1:20:300:4000::",  # no leading zeros
    ],
)
def test_ipv6_is_written_as_rfc_5952_says(text: str) -> None:
    assert inets(ipaddress.IPv6Address(text).packed) == [text]


@pytest.mark.parametrize("text", ["0.0.0.0", "127.0.0.1", "255.255.255.255", "10.20.30.4"])
def test_ipv4_is_dotted(text: str) -> None:
    assert inets(ipaddress.IPv4Address(text).packed) == [text]


MAPPED = bytes(10) + b"\xff\xff"


@pytest.mark.parametrize("text", ["0.0.0.0", "1.2.3.4", "255.255.255.255"])
def test_a_mapped_address_is_the_ipv4_address_as_java_has_it_or_tells_what_it_is(text: str) -> None:
    """SELECT JSON of blob_as_inet(0x00000000000000000000ffff01020304) shows 1.2.3.4 (5.0.4)."""
    mapped = MAPPED + ipaddress.IPv4Address(text).packed
    assert inets(mapped) == [text]
    assert inets(mapped, tells_mapped=True) == [f"::ffff:{text}"]


@pytest.mark.parametrize("text", ["::1.2.3.4", "::fffe:1.2.3.4", "::ffff:0:1.2.3.4", "1::ffff:1.2.3.4"])
def test_what_only_resembles_a_mapped_address_is_ipv6(text: str) -> None:
    packed = ipaddress.IPv6Address(text).packed
    assert inets(packed) == inets(packed, tells_mapped=True) == [str(ipaddress.ip_address(packed))]


@given(st.lists(st.none() | st.ip_addresses() | st.lists(st.sampled_from([0, 0, 0, 1, 0xABC]), min_size=8, max_size=8)))
def test_inet_is_what_ipaddress_says(drawn: list[Any]) -> None:
    values = [
        b"".join(n.to_bytes(2, "big") for n in each) if isinstance(each, list) else each and each.packed
        for each in drawn
    ]
    values = [value for value in values if value is None or value[:12] != MAPPED]
    assert inets(*values) == [value and str(ipaddress.ip_address(value)) for value in values]


@pytest.mark.parametrize("size", [1, 3, 5, 15, 17])
def test_an_inet_of_another_size_is_refused(size: int) -> None:
    assert inets(bytes(4), bytes(size)) == WRONG_SIZE


def test_null_and_empty_are_null() -> None:
    assert inets(None, bytes(4), b"") == [None, "0.0.0.0", None]


@given(st.lists(st.none() | st.binary(max_size=20), max_size=6))
def test_bytes_are_written_as_a_blob_is(values: list[bytes | None]) -> None:
    assert texts(gather_hex, values, 2, 2) == [None if value is None else f"0x{value.hex()}" for value in values]
