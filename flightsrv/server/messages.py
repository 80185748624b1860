"""Protobuf messages from and to bytes, with an error that is fit for a client."""

from __future__ import annotations

from typing import Protocol, TypeVar

from google.protobuf.message import DecodeError

from flightsrv.errors import RequestError


class _Message(Protocol):
    def ParseFromString(self, serialized: bytes) -> int: ...  # noqa: N802
    def SerializeToString(self) -> bytes: ...  # noqa: N802


Kind = TypeVar("Kind", bound=_Message)


def read_message(kind: type[Kind], payload: bytes) -> Kind:
    """`payload` as a message of `kind`. Raises RequestError when it is none."""
    message = kind()
    try:
        message.ParseFromString(payload)
    except DecodeError:
        raise RequestError(f"the request is no {kind.__name__} message") from None
    return message


def written(message: _Message) -> bytes:
    return message.SerializeToString()
