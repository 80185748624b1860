"""What Cassandra answers, value by value as bytes, at any second.

The native protocol can say at which second a SELECT is judged (now_in_seconds, version 5), so that a TTL can be seen to
end. The driver cannot; `_AtMessage` adds the field to the query's end, where the protocol has it.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from cassandra.cluster import Cluster
from cassandra.protocol import QueryMessage, ResultMessage, _ProtocolHandler, read_int, read_short, read_string
from cassandra.query import SimpleStatement, tuple_factory

NOW_IN_SECONDS_FLAG = 0x100
CONSISTENCY_BYTES = 2
PAGE_ROWS = 500

RawRow = tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    names: Sequence[str]
    rows: Sequence[RawRow]


class Asker:
    """Sends SELECTs on a session of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self._session = cluster.connect()
        self._session.row_factory = tuple_factory
        self._session.client_protocol_handler = _Handler

    def select(self, statement: str, now_s: int) -> Answer:
        """All rows at a second, in order."""
        query = SimpleStatement(statement, fetch_size=PAGE_ROWS)
        result = self._session.execute(query, custom_payload={"now_s": struct.pack(">I", now_s)})
        return Answer(result.column_names, list(result))


class _RawResult(ResultMessage):  # type: ignore[misc]
    """Rows as they are sent."""

    def recv_results_rows(self, f: BinaryIO, _version: int, user_types: Any, *_: Any) -> None:
        self.recv_results_metadata(f, user_types)
        self.column_names = [column[2] for column in self.column_metadata]
        self.column_types = self.column_names
        self.parsed_rows = [tuple(self.recv_row(f, len(self.column_names))) for _ in range(read_int(f))]

    @classmethod
    def read_type(cls, f: BinaryIO, user_types: Any) -> None:
        """Steps over a type: the schema knows it, and the driver does not know all vectors."""
        match read_short(f):
            case 0x00:  # custom
                read_string(f)
            case 0x20 | 0x22:  # list, set
                cls.read_type(f, user_types)
            case 0x21:  # map
                cls.read_type(f, user_types), cls.read_type(f, user_types)
            case 0x30:  # user-defined
                read_string(f), read_string(f)
                for _ in range(read_short(f)):
                    read_string(f), cls.read_type(f, user_types)
            case 0x31:  # tuple
                for _ in range(read_short(f)):
                    cls.read_type(f, user_types)


class _AtMessage(QueryMessage):  # type: ignore[misc]
    now_s: bytes

    def send_body(self, f: BinaryIO, protocol_version: int) -> None:
        """query as long string, consistency, flags as uint32, …, now_in_seconds"""
        buffer = io.BytesIO()
        super().send_body(buffer, protocol_version)
        body = bytearray(buffer.getvalue())
        flags_at = 4 + struct.unpack_from(">i", body)[0] + CONSISTENCY_BYTES
        (flags,) = struct.unpack_from(">I", body, flags_at)
        struct.pack_into(">I", body, flags_at, flags | NOW_IN_SECONDS_FLAG)
        f.write(bytes(body) + self.now_s)


class _Handler(_ProtocolHandler):  # type: ignore[misc]
    message_types_by_opcode = {**_ProtocolHandler.message_types_by_opcode, ResultMessage.opcode: _RawResult}  # noqa: RUF012

    @classmethod
    def encode_message(cls, msg: Any, *arguments: Any, **options: Any) -> bytes:
        """The custom payload, which the driver takes with any query, brings `now_s` here; it is not sent."""
        if isinstance(msg, QueryMessage) and msg.custom_payload:
            msg.__class__ = _AtMessage
            msg.now_s, msg.custom_payload = msg.custom_payload["now_s"], None
        return bytes(super().encode_message(msg, *arguments, **options))
