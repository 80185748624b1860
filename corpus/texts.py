"""The loops that draw texts.

`draw` here is the same function as in draw.py, which is for arrays.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import address_of, copy, store_8

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix64(value):
    """SplitMix64's finaliser: uint64 to uint64."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel
def draw(stream, counter):
    """Number `counter` of a stream: SplitMix64 with the counter in place of its state. Returns uint64."""
    return mix64(stream + (np.uint64(counter) + np.uint64(1)) * _GOLDEN)


@kernel
def put_keys(prefix, numbers, width, starts, out):
    """Keys made of a prefix and a number of at least `width` decimal digits.

    prefix: uint8; numbers: int64 (n,), not negative; starts: int64 (n + 1,) made here; out: uint8 with room.
    """
    at = address_of(out)
    for i in range(numbers.size):
        starts[i] = at - address_of(out)
        copy(at, address_of(prefix), prefix.size)
        at += prefix.size
        digits, limit = width, 10**width
        while limit <= numbers[i]:
            digits, limit = digits + 1, limit * 10
        left = numbers[i]
        for j in range(digits):
            store_8(at + digits - 1 - j, 48 + left % 10)
            left //= 10
        at += digits
    starts[numbers.size] = at - address_of(out)


@kernel
def draw_texts(streams, numbers, words, word_starts, alphabet, starts, out):
    """Texts that compress a little: four words of a list, then 120 to 160 characters of an alphabet of 64.

    streams: uint64 (n,), numbers: int64 (n,) what to draw for; words: uint8, word_starts: int64 (17,) of 16 words;
    starts: int64 (n + 1,) made here; out: uint8 with room for n texts. Draw 32 * number chooses words and length, the
    next ones give 10 characters each.
    """
    at = address_of(out)
    begin = at
    word_base = address_of(words)
    for i in range(numbers.size):
        starts[i] = at - begin
        choice = np.int64(draw(streams[i], 32 * numbers[i]) >> np.uint64(1))
        for j in range(4):
            word = (choice >> (4 * j)) & 15
            size = word_starts[word + 1] - word_starts[word]
            copy(at, word_base + word_starts[word], size)
            at += size
        left = 120 + (choice >> 16) % 41
        block = 1
        while left > 0:
            bits = np.int64(draw(streams[i], 32 * numbers[i] + block) >> np.uint64(1))
            for j in range(10 if left > 10 else left):
                store_8(at, alphabet[(bits >> (6 * j)) & 63])
                at += 1
            left -= 10
            block += 1
    starts[numbers.size] = at - begin
