"""Tickets: JSON bytes of a client's to a ScanRequest.

The ticket is cqlite-flight's, so that its connector works here; `ddl` may be left away; `now_s`, `tombstones` and
`types` are ours.

    keyspace, table          string     letters, digits and _
    ddl                      string     CREATE TABLE and CREATE TYPE statements; without it the schema on disk is used
    snapshot                 string     letters, digits, _ and -
    token_start, token_end   integer    exclusive, inclusive; a string of its digits will do, for those of 127 bits
    columns                  [string]   at least one
    limit                    u64
    now_s                    i64        seconds since 1970 at which TTLs are judged, at least 0
    tombstones               bool       deletions, and the times of rows and cells, as well: see scan/history.py
    types                    string     "compatible" or "native"
    version                  u8         read, and not used
    wraparound               bool       read, and not used: whether a range wraps is seen from its bounds
    predicates, filter, aggregation     refused by name when they ask for something

Null is the same as absent; unknown fields are ignored. A field that is understood but not served is refused, never
skipped: skipping it would answer with rows the client did not ask for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from flightsrv.config import ArrowTypes
from flightsrv.errors import RequestError, UnsupportedRequestError
from flightsrv.scan.request import ScanRequest

_NAME = re.compile(r"[A-Za-z0-9_]+")
_SNAPSHOT = re.compile(r"[A-Za-z0-9_-]+")
_NOT_SERVED = ("filter", "aggregation", "predicates")

_TOKENS = range(-(1 << 63), (1 << 127) + 1)
"""Of Murmur3Partitioner and RandomPartitioner together: which of them a table has is found out by the scan."""
_DIGITS = re.compile(r"-?[0-9]{1,39}")
_U64 = range(1 << 64)
_U8 = range(1 << 8)

Kind = TypeVar("Kind")


def parse(ticket: bytes) -> ScanRequest:
    """Read and check a ticket. Raises RequestError that names the field, UnsupportedRequestError for one not served."""
    fields = _fields(ticket, "flight ticket")
    _refuse_what_is_not_served(fields)
    _integer(fields, "version", _U8)
    _optional(fields, "wraparound", bool, "true or false")
    columns = _optional(fields, "columns", list, "a list of strings")
    if columns is not None and not all(isinstance(name, str) for name in columns):
        raise _field_error("columns", "is not a list of strings")
    if columns == []:
        raise _field_error("columns", "is empty; leave it away to get all columns")
    return ScanRequest(
        keyspace=_required_name(fields, "keyspace"),
        table=_required_name(fields, "table"),
        ddl=_optional(fields, "ddl", str, "a string"),
        snapshot=_snapshot(fields),
        token_start=_token(fields, "token_start"),
        token_end=_token(fields, "token_end"),
        columns=None if columns is None else tuple(columns),
        limit=_integer(fields, "limit", _U64),
        now_s=_integer(fields, "now_s", range(1 << 63)),
        tombstones=bool(_optional(fields, "tombstones", bool, "true or false")),
        types=_types(fields),
    )


def parse_table(body: bytes) -> tuple[str, str, str | None]:
    """Keyspace, table and snapshot of a table_stats action's body. Raises RequestError that names the field."""
    fields = _fields(body, "table_stats body")
    return _required_name(fields, "keyspace"), _required_name(fields, "table"), _snapshot(fields)


def for_table(keyspace: str, table: str) -> bytes:
    """The ticket for all rows of a table."""
    return json.dumps({"keyspace": keyspace, "table": table}).encode()


def _fields(text: bytes, what: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RequestError(f"invalid {what}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise RequestError(f"invalid {what}: {error}") from None
    except RecursionError:
        raise RequestError(f"invalid {what}: nested too deeply") from None
    if not isinstance(fields, dict):
        raise RequestError(f"invalid {what}: not a JSON object")
    return fields


def _refuse_what_is_not_served(fields: Mapping[str, Any]) -> None:
    for name in _NOT_SERVED:
        if fields.get(name) not in (None, []):
            raise UnsupportedRequestError(f"unsupported flight ticket field: {name} is not served")


def _required_name(fields: Mapping[str, Any], name: str) -> str:
    value = _optional(fields, name, str, "a string")
    if value is None:
        raise RequestError(f"invalid flight ticket: {name} is missing")
    if not _NAME.fullmatch(value):
        raise _field_error(name, "may hold letters, digits and _ only, at least one")
    return value


def _snapshot(fields: Mapping[str, Any]) -> str | None:
    value = _optional(fields, "snapshot", str, "a string")
    if value is not None and not _SNAPSHOT.fullmatch(value):
        raise _field_error("snapshot", "may hold letters, digits, _ and - only, at least one")
    return value


def _types(fields: Mapping[str, Any]) -> ArrowTypes | None:
    value = fields.get("types")
    if value is None or value in get_args(ArrowTypes):
        return value
    raise _field_error("types", f"is none of {', '.join(get_args(ArrowTypes))}")


def _integer(fields: Mapping[str, Any], name: str, allowed: range) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value in allowed:
        return value
    raise _field_error(name, f"is not a whole number from {allowed.start} to {allowed.stop - 1}")


def _token(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return _integer({name: int(value)}, name, _TOKENS)
    return _integer(fields, name, _TOKENS)


def _optional(fields: Mapping[str, Any], name: str, kind: type[Kind], expected: str) -> Kind | None:
    value = fields.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise _field_error(name, f"is not {expected}")


def _field_error(name: str, what: str) -> RequestError:
    return RequestError(f"invalid flight ticket field: {name} {what}")
