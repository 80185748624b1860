"""Counter contexts: who counted how much. Source: org.apache.cassandra.db.context.CounterContext."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

from tests.reference.reader import Reader, signed

REMOTE, LOCAL, GLOBAL = range(3)


@dataclass(frozen=True, slots=True)
class Shard:
    """What one node counted: only its newest clock is true."""

    id: bytes
    clock: int
    count: int
    kind: int


def shards_of(context: bytes) -> list[Shard]:
    """Shards in the order of their ids. Contexts that ask for their local shards to be cleared get remote ones."""
    if not context:
        return []
    reader = Reader(context, "a counter")
    header = reader.number("h")
    kinds = {}
    for entry in [reader.number("h") for _ in range(abs(header))]:
        if entry < 0:
            kinds[entry + 2**15] = GLOBAL
        elif header >= 0:
            kinds[entry] = LOCAL
    shards: list[Shard] = []
    while reader.at < len(context):
        shards.append(Shard(reader.take(16), reader.i64(), reader.i64(), kinds.get(len(shards), REMOTE)))
    return shards


def total(context: bytes) -> int:
    """The counter's value: all counts added up, wrapping at 64 bits."""
    return signed(sum(shard.count for shard in shards_of(context)))


def merged_context(contexts: Iterable[bytes]) -> bytes:
    shards = sorted((shard for context in contexts for shard in shards_of(context)), key=lambda shard: shard.id)
    return context_of([reduce(_newer, group) for _, group in groupby(shards, key=lambda shard: shard.id)])


def _newer(a: Shard, b: Shard) -> Shard:
    if a.kind != b.kind:
        return max(a, b, key=lambda shard: shard.kind)
    if a.kind == LOCAL:
        return Shard(a.id, signed(a.clock + b.clock), signed(a.count + b.count), LOCAL)
    return max(a, b, key=lambda shard: _age(shard))


def _age(shard: Shard) -> tuple[bool, int, int]:
    """Remote shards with a negative clock are newer than others, and the newer the more negative."""
    is_negative = shard.kind == REMOTE and shard.clock < 0
    return is_negative, -shard.clock if is_negative else shard.clock, shard.count


def context_of(shards: list[Shard]) -> bytes:
    entries = [i - 2**15 if shard.kind == GLOBAL else i for i, shard in enumerate(shards) if shard.kind != REMOTE]
    parts = [len(entries).to_bytes(2, "big")]
    parts += [entry.to_bytes(2, "big", signed=True) for entry in entries]
    parts += [
        shard.id + shard.clock.to_bytes(8, "big", signed=True) + shard.count.to_bytes(8, "big", signed=True)
        for shard in shards
    ]
    return b"".join(parts)
