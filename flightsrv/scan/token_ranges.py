"""Parts of the ring of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from flightsrv.cql.partitioners import MURMUR3_PARTITIONER, Partitioner


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Tokens above `after` up to `upto`."""

    after: int
    upto: int
    partitioner: Partitioner = MURMUR3_PARTITIONER

    @property
    def is_whole_ring(self) -> bool:
        return self.after == self.partitioner.least_token and self.upto == self.partitioner.greatest_token


def whole_ring(partitioner: Partitioner) -> TokenRange:
    """All tokens there are."""
    return TokenRange(partitioner.least_token, partitioner.greatest_token, partitioner)


def token_ranges(
    start: int | None, end: int | None, partitioner: Partitioner = MURMUR3_PARTITIONER
) -> tuple[TokenRange, ...]:
    """The range (start, end], which wraps round the ring if start is not below end; equal bounds are all of it."""
    least, greatest = partitioner.least_token, partitioner.greatest_token
    after = least if start is None else start
    upto = greatest if end is None else end
    if after == upto:
        return (whole_ring(partitioner),)
    if after < upto:
        return (TokenRange(after, upto, partitioner),)
    parts = TokenRange(least, upto, partitioner), TokenRange(after, greatest, partitioner)
    return tuple(each for each in parts if each.after < each.upto)
