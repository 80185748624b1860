"""How a file can be other than it was written: cut off anywhere, or with one bit changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """One of them."""

    is_cut: bool
    at: int
    """Bytes that are left of a file that is cut off; else the bit that is changed, 8 a byte, the lowest first."""

    def __str__(self) -> str:
        return f"cut to {self.at} bytes" if self.is_cut else f"bit {self.at & 7} of byte {self.at >> 3}"

    def of(self, whole: bytes) -> bytes:
        """The file as it is then."""
        if self.is_cut:
            return whole[: self.at]
        damaged = bytearray(whole)
        damaged[self.at >> 3] ^= 1 << (self.at & 7)
        return bytes(damaged)


def every(size: int) -> Iterator[Damage]:
    """All there are of a file of so many bytes."""
    yield from (Damage(True, at) for at in range(size))
    yield from (Damage(False, at) for at in range(8 * size))


def some(size: int, count: int) -> Iterator[Damage]:
    """`count` of them, the same each time, or all if they are fewer: a fifth are cuts; spread over the file."""
    cuts = spread(size, count // 5 if 9 * size > count else size)
    yield from (Damage(True, at) for at in cuts)
    yield from (Damage(False, at) for at in spread(8 * size, count - len(cuts)))


def spread(stop: int, count: int) -> list[int]:
    """`count` of range(stop), about as far apart: the first, and the last unless it is one; all if they are fewer."""
    if count >= stop:
        return list(range(stop))
    return [i * (stop - 1) // max(count - 1, 1) for i in range(count)]
