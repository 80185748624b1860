"""Entries of Index.db, many a call, without a look into promoted indexes.

    entry := u16 key size, key, uvint position, uvint promoted size, promoted index

Source: org.apache.cassandra.io.sstable.format.big.RowIndexEntry.
"""

from __future__ import annotations

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.status import CORRUPT, DONE, NEED_INPUT, OUTPUT_FULL
from flightsrv.kernels.vint import be16_at, uvint_at


@kernel
def index_entries(data, start, stop, previous, key_start, key_size, data_position, promoted_size):
    """Take entries apart until `stop` or the output's end.

    data: uint8 (n,) with stop + SLACK <= n. previous: position of the partition before, -1 if there is none. Outputs:
    int64 (capacity,) each; keys by their index in data. Returns (status, stopped_at, made): NEED_INPUT with the start
    of the first entry that does not end before `stop`, promoted index included; OUTPUT_FULL; CORRUPT with the start of
    the entry when its position is not above the one before, or its key is empty and not the first.
    """
    at = start
    made = 0
    while at < stop:
        if made == key_start.size:
            return OUTPUT_FULL, at, made
        key = at + 2
        if key > stop:
            return NEED_INPUT, at, made
        size = be16_at(data, at)
        if size == 0 and previous >= 0:  # views have an empty key, which is the least
            return CORRUPT, at, made
        if size >= stop - key:
            return NEED_INPUT, at, made
        position, after = uvint_at(data, key + size)
        if after >= stop:
            return NEED_INPUT, at, made
        promoted, after = uvint_at(data, after)
        if after > stop:
            return NEED_INPUT, at, made
        if position <= previous or promoted < 0:
            return CORRUPT, at, made
        if promoted > stop - after:
            return NEED_INPUT, at, made
        key_start[made] = key
        key_size[made] = size
        data_position[made] = position
        promoted_size[made] = promoted
        previous = position
        made += 1
        at = after + promoted
    return DONE, at, made
