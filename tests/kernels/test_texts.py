from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flightsrv.cql.vint import write_signed_vint
from flightsrv.kernels.gather import WRONG_SIZE
from flightsrv.kernels.texts import DURATION_TEXT_BYTES, INET_TEXT_BYTES, gather_duration, gather_inet
from tests.kernels.places import is_valid, places_of

pytestmark = pytest.mark.kernel

MINUTE, HOUR = 60 * 10**9, 3600 * 10**9


def texts(gather: Callable[..., Any], room: int, values: list[bytes | None]) -> list[str | None] | int:
    found = places_of(values)
    offsets, valid = np.zeros(found.count + 1, np.int32), np.full(found.count // 8 + 1, 255, np.uint8)
    out = np.full(found.count * room + 1, 0x5A, np.uint8)
    nulls = gather(found.at, found.size, 0, found.count, offsets, out, valid, 0)
    if nulls < 0:
        return int(nulls)
    assert out[-1] == 0x5A
    content, validity = out.tobytes(), is_valid(valid, found.count)
    assert nulls == validity.count(False)
    ends = offsets.tolist()
    return [content[ends[i] : ends[i + 1]].decode() if validity[i] else None for i in range(found.count)]


def inets(*values: bytes | None) -> list[str | None] | int:
    return texts(gather_inet, INET_TEXT_BYTES, list(values))


def durations(*values: bytes | None) -> list[str | None] | int:
    return texts(gather_duration, DURATION_TEXT_BYTES, list(values))


def duration(months: int, days: int, nanoseconds: int) -> bytes:
    return b"".join(map(write_signed_vint, (months, days, nanoseconds)))


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


@given(st.lists(st.none() | st.ip_addresses() | st.lists(st.sampled_from([0, 0, 0, 1, 0xABC]), min_size=8, max_size=8)))
def test_inet_is_what_ipaddress_says(drawn: list[Any]) -> None:
    values = [
        b"".join(n.to_bytes(2, "big") for n in each) if isinstance(each, list) else each and each.packed
        for each in drawn
    ]
    # Newer Pythons write IPv4-mapped addresses with dots.
    values = [value for value in values if value is None or value[:12] != bytes(10) + b"\xff\xff"]
    assert inets(*values) == [value and str(ipaddress.ip_address(value)) for value in values]


@pytest.mark.parametrize("size", [1, 3, 5, 15, 17])
def test_an_inet_of_another_size_is_refused(size: int) -> None:
    assert inets(bytes(4), bytes(size)) == WRONG_SIZE


def test_null_and_empty_are_null() -> None:
    assert inets(None, bytes(4), b"") == [None, "0.0.0.0", None]
    assert durations(b"", duration(1, 2, 3), None) == [None, "1mo2d3ns", None]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((0, 0, 0), ""),
        ((14, 3, 4 * HOUR + 5 * MINUTE + 6 * 10**9 + 7_008_009), "1y2mo3d4h5m6s7ms8us9ns"),
        ((-14, -3, -1), "-1y2mo3d1ns"),
        ((0, -1, 0), "-1d"),
        ((12, 0, HOUR), "1y1h"),
        ((2**31 - 1, 2**31 - 1, 2**63 - 1), "178956970y7mo2147483647d2562047h47m16s854ms775us807ns"),
        ((-(2**31), -(2**31), -(2**63)), "-178956970y8mo2147483648d2562047h47m16s854ms775us808ns"),
    ],
)
def test_a_duration_is_written_as_cql_does(parts: tuple[int, int, int], text: str) -> None:
    assert durations(duration(*parts)) == [text]


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), st.sampled_from([1, -1]))
@example(2**31 - 1, 2**31 - 1, 2**63 - 1, -1)
def test_a_durations_text_adds_up_to_it(months: int, days: int, nanoseconds: int, sign: int) -> None:
    made = durations(duration(sign * months, sign * days, sign * nanoseconds))
    assert isinstance(made, list)
    text = made[0] or ""
    assert text.startswith("-") == (sign < 0 and (months, days, nanoseconds) != (0, 0, 0))
    assert parsed(text.lstrip("-")) == (months, days, nanoseconds)


UNITS = {"y": (12, 0, 0), "mo": (1, 0, 0), "d": (0, 1, 0), "h": (0, 0, HOUR), "m": (0, 0, MINUTE), "s": (0, 0, 10**9)}
UNITS |= {"ms": (0, 0, 10**6), "us": (0, 0, 1000), "ns": (0, 0, 1)}


def parsed(text: str) -> tuple[int, ...]:
    total = (0, 0, 0)
    for count, unit in re.findall(r"(\d+)([a-z]+)", text):
        total = tuple(sum(pair) for pair in zip(total, (int(count) * part for part in UNITS[unit]), strict=True))
    return total


@pytest.mark.parametrize(
    "value",
    [
        b"\x02",
        b"\x02\x02",
        b"\x02\x02\x02\x02",
        b"\x02\x02\xff",
        b"\x02\x02" + b"\xff" * 8,
        duration(2**31, 0, 0),
        duration(0, -(2**31) - 1, 0),
        duration(-(2**63), 0, 0),
        duration(1, -1, 0),
        duration(0, -1, 1),
        duration(-1, 0, 1),
    ],
)
def test_bytes_that_are_no_duration_are_refused(value: bytes) -> None:
    assert durations(value) == WRONG_SIZE
