"""Tries written plainly: any node in any form that its children and payload fit, as Cassandra would only write the
smallest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from flightsrv.kernels.tries import DISTANCE_BITS
from flightsrv.sstable.trie import NodeType

PAGE_BYTES = 4096

Choose = Callable[[list[NodeType]], NodeType]
"""Picks one of the forms that a node may have, the smallest first."""


class Payload(NamedTuple):
    """What a node holds, and the flags that tell how long it is."""

    flags: int
    data: bytes


def smallest(forms: list[NodeType]) -> NodeType:
    return forms[0]


def write_trie(entries: Mapping[bytes, Payload], choose: Choose = smallest, before: bytes = b"") -> tuple[bytes, int]:
    """`before` and a trie behind it that holds entries under strings; and the offset of its root."""
    written = bytearray(before)
    root = _write(sorted(entries.items()), choose, written)
    return bytes(written), root


def _write(entries: list[tuple[bytes, Payload]], choose: Choose, written: bytearray) -> int:
    """Write the node of the empty string, its children before it."""
    payload = Payload(0, b"")
    below: dict[int, list[tuple[bytes, Payload]]] = {}
    for string, held in entries:
        if not string:
            payload = held
        else:
            below.setdefault(string[0], []).append((string[1:], held))
    children = {byte: _write(rest, choose, written) for byte, rest in below.items()}
    offset = len(written)
    forms = _forms(offset, children, payload)
    data = _node(choose(forms), offset, children, payload) + payload.data
    if offset // PAGE_BYTES != (offset + len(data) - 1) // PAGE_BYTES:
        written += bytes(-offset % PAGE_BYTES)
        offset = len(written)
        data = _node(choose(_forms(offset, children, payload)), offset, children, payload) + payload.data
    written += data
    return offset


def _forms(offset: int, children: Mapping[int, int], payload: Payload) -> list[NodeType]:
    """What a node may be written as, from small to large."""
    if not children:
        return [NodeType.PAYLOAD_ONLY]
    bits = (offset - min(children.values())).bit_length()
    fitting = [form for form in NodeType if form and DISTANCE_BITS[form] >= bits]
    if len(children) > 1:
        fitting = [form for form in fitting if form >= NodeType.SPARSE_8]
    if len(children) == 256:
        fitting = [form for form in fitting if form >= NodeType.DENSE_12]
    if payload.flags:
        fitting = [form for form in fitting if form not in (NodeType.SINGLE_NOPAYLOAD_4, NodeType.SINGLE_NOPAYLOAD_12)]
    return sorted(fitting, key=lambda form: len(_node(form, offset, children, payload)))


def _node(form: NodeType, offset: int, children: Mapping[int, int], payload: Payload) -> bytes:
    """A node without its payload."""
    head, bits = bytes([form << 4 | payload.flags]), DISTANCE_BITS[form]
    distances = {byte: offset - child for byte, child in sorted(children.items())}
    transitions = bytes(distances)
    if form == NodeType.PAYLOAD_ONLY:
        return head
    if form == NodeType.SINGLE_NOPAYLOAD_4:
        return bytes([form << 4 | distances[transitions[0]]]) + transitions
    if form == NodeType.SINGLE_NOPAYLOAD_12:
        return (form << 12 | distances[transitions[0]]).to_bytes(2) + transitions
    if form < NodeType.SPARSE_8:
        return head + transitions + _packed(list(distances.values()), bits)
    if form < NodeType.DENSE_12:
        return head + bytes([len(transitions)]) + transitions + _packed(list(distances.values()), bits)
    span = range(transitions[0], transitions[-1] + 1)
    return head + bytes([span[0], len(span) - 1]) + _packed([distances.get(byte, 0) for byte in span], bits)


def _packed(numbers: list[int], bits: int) -> bytes:
    text = "".join(format(number, f"0{bits}b") for number in numbers)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8)
