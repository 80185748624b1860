"""Values that hold others sort as cql.ordering says, which spells out Cassandra's order in plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flightsrv.cql.types import CqlType
from flightsrv.cql.values import encode
from tests.cql.strategies import types, values
from tests.kernels.test_order import kernel_order, plain_order

pytestmark = pytest.mark.kernel

INT, TEXT, VARINT = CqlType("int"), CqlType("text"), CqlType("varint")
FEW = {"int": st.integers(-2, 2), "text": st.sampled_from(["", "a", "aa", "b"]), "varint": st.integers(-200, 200)}
"""So few that values are often equal, or begin alike."""
COMPOUND_TYPES = types(FEW).filter(lambda type_: type_.arguments)


@given(COMPOUND_TYPES.flatmap(lambda type_: st.tuples(st.just(type_), values(type_, FEW), values(type_, FEW))))
def test_values_sort_as_plain_python_sorts_them(drawn: tuple[CqlType, object, object]) -> None:
    type_, *two = drawn
    a, b = (encode(type_, value) for value in two)
    assert kernel_order(type_, a, b) == plain_order(type_, a, b)
    assert kernel_order(type_, a, a) == 0
