"""Which version of a row's data is seen: newest wins, and how ties end.

A row has one version a run. Versions are reconciled cell by cell, under the deletion that is active at the row.
Source: org.apache.cassandra.db.rows.Cells.reconcile, Rows.merge, Row.Merger, db.LivenessInfo.supersedes,
db.DeletionTime.
"""

from __future__ import annotations

import numpy as np

from flightsrv.kernels.jit import kernel
from flightsrv.kernels.native import compare
from flightsrv.slab import (
    ABSENT,
    DELETION_S,
    DELETION_US,
    LIVENESS_EXPIRES_S,
    LIVENESS_TTL_S,
    LIVENESS_US,
    NO_TIMESTAMP,
    SHADOWABLE,
    TOMBSTONE_TTL,
)

EXPIRED_LIVENESS_TTL_S = 0x7FFFFFFF
"""TTL of a view row's liveness that says: not there (Cassandra: LivenessInfo.EXPIRED_LIVENESS_TTL)."""


@kernel
def supersedes(us, seconds, other_us, other_s):
    """Whether a deletion is stronger than another: later timestamp, then later local deletion time."""
    return us > other_us or (us == other_us and us != NO_TIMESTAMP and seconds > other_s)


@kernel
def _liveness_wins(a_us, a_ttl_s, a_expires_s, b_us, b_ttl_s, b_expires_s):
    """Whether liveness a replaces b."""
    if a_us != b_us:
        return a_us > b_us
    a_expired = a_ttl_s == EXPIRED_LIVENESS_TTL_S
    b_expired = b_ttl_s == EXPIRED_LIVENESS_TTL_S
    if a_expired != b_expired:
        return a_expired
    if (a_ttl_s > 0) != (b_ttl_s > 0):
        return a_ttl_s > 0
    return a_ttl_s > 0 and a_expires_s > b_expires_s


@kernel
def row_liveness(slabs, versions, count, cursor_row, active):
    """Reconcile the versions' liveness and row deletion.

    slabs: Slabs of all runs. versions: int64 (runs,), `count` of them are runs that have the row, at row
    cursor_row[run]. active: int64 (2,), the deletion above the row; replaced by the row's own where that is stronger.
    Returns the liveness (timestamp, ttl, expiry), NO_TIMESTAMP if none or deleted.
    """
    us = np.int64(NO_TIMESTAMP)
    ttl_s = np.int64(0)
    expires_s = np.int64(0)
    deleted_us = np.int64(NO_TIMESTAMP)
    deleted_s = np.int64(0)
    shadowable = False
    for i in range(count):
        run = versions[i]
        row = cursor_row[run]
        row_us = slabs.rows[run, row, LIVENESS_US]
        row_ttl_s = slabs.rows[run, row, LIVENESS_TTL_S]
        row_expires_s = slabs.rows[run, row, LIVENESS_EXPIRES_S]
        if row_us != NO_TIMESTAMP and (
            us == NO_TIMESTAMP or _liveness_wins(row_us, row_ttl_s, row_expires_s, us, ttl_s, expires_s)
        ):
            us = row_us
            ttl_s = row_ttl_s
            expires_s = row_expires_s
        row_deleted_us = slabs.rows[run, row, DELETION_US]
        row_deleted_s = slabs.rows[run, row, DELETION_S]
        if supersedes(row_deleted_us, row_deleted_s, deleted_us, deleted_s):
            deleted_us = row_deleted_us
            deleted_s = row_deleted_s
            shadowable = slabs.rows[run, row, SHADOWABLE] != 0
        elif row_deleted_us == deleted_us and row_deleted_s == deleted_s and slabs.rows[run, row, SHADOWABLE] != 0:
            shadowable = True  # whichever run comes first
    if shadowable and us > deleted_us:
        deleted_us = np.int64(NO_TIMESTAMP)
    if supersedes(deleted_us, deleted_s, active[0], active[1]):
        active[0] = deleted_us
        active[1] = deleted_s
    if us != NO_TIMESTAMP and us <= active[0]:
        us = np.int64(NO_TIMESTAMP)
    return us, ttl_s, expires_s


@kernel
def liveness_is_live(us, ttl_s, expires_s, now_s):
    """Whether a liveness makes its row seen."""
    return us != NO_TIMESTAMP and (ttl_s == 0 or (ttl_s != EXPIRED_LIVENESS_TTL_S and now_s < expires_s))


@kernel
def cell_wins(a_us, a_ttl_s, a_expires_s, a, a_size, b_us, b_ttl_s, b_expires_s, b, b_size):
    """Whether cell a replaces cell b: by timestamp, then tombstone over expiring over plain, then the later local
    deletion time, then the greater value as unsigned bytes. a, b: addresses of their values.
    """
    if a_us != b_us:
        return a_us > b_us
    a_rank = 2 if a_ttl_s == TOMBSTONE_TTL else (1 if a_ttl_s > 0 else 0)
    b_rank = 2 if b_ttl_s == TOMBSTONE_TTL else (1 if b_ttl_s > 0 else 0)
    if a_rank != b_rank:
        return a_rank > b_rank
    if a_expires_s != b_expires_s:
        return a_expires_s > b_expires_s
    order = np.int64(compare(a, b, min(a_size, b_size)))
    return order > 0 or (order == 0 and a_size > b_size)


@kernel
def _cell_wins(slabs, cell, value, a, a_row, b, b_row):
    """Whether run a's cell replaces run b's."""
    return cell_wins(
        slabs.cell_us[a, cell, a_row],
        np.int64(slabs.cell_ttl_s[a, cell, a_row]),
        slabs.cell_expires_s[a, cell, a_row],
        slabs.at[a, value, a_row],
        np.int64(slabs.size[a, value, a_row]),
        slabs.cell_us[b, cell, b_row],
        np.int64(slabs.cell_ttl_s[b, cell, b_row]),
        slabs.cell_expires_s[b, cell, b_row],
        slabs.at[b, value, b_row],
        np.int64(slabs.size[b, value, b_row]),
    )


@kernel
def reconcile_cell(slabs, versions, count, cursor_row, cell, active_us):
    """The run whose cell wins, -1 if none of the versions has one that the active deletion leaves."""
    value = slabs.size.shape[1] - slabs.cell_us.shape[1] + cell
    if count == 1:
        run = versions[0]
        row = cursor_row[run]
        return run if slabs.size[run, value, row] != ABSENT and slabs.cell_us[run, cell, row] > active_us else -1
    best = np.int64(-1)
    for i in range(count):
        run = versions[i]
        row = cursor_row[run]
        if slabs.size[run, value, row] == ABSENT or slabs.cell_us[run, cell, row] <= active_us:
            continue
        if best < 0 or _cell_wins(slabs, cell, value, run, row, best, cursor_row[best]):
            best = run
    return best


@kernel
def is_live(ttl_s, expires_s, now_s):
    """Whether a cell's value is seen now."""
    return ttl_s == 0 or (ttl_s > 0 and now_s < expires_s)


@kernel
def cell_is_live(slabs, run, cell, row, now_s):
    """Likewise of a cell in a slab."""
    return is_live(np.int64(slabs.cell_ttl_s[run, cell, row]), slabs.cell_expires_s[run, cell, row], now_s)
