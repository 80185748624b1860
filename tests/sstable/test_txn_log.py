from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.txn_log import Record, TransactionLog, is_log_name, parse
from tests.reference.fixtures import COPIED

NODE = COPIED / "cassandra-5.0/nb/node"
ADD = (
    b"ADD:[/var/lib/cassandra/data/layout/compaction_aborted-b3d74240ece911f18c12e51b6daaa362/nb-5-big-,0,8][938072943]"
)
COMMIT = b"COMMIT:[,0,0][2613697770]"
ABORT = b"ABORT:[,0,0][737437348]"
FOLDER = b"/var/lib/cassandra/data/layout/compaction_committed-b2a6d890ece911f18c12e51b6daaa362"
REMOVE = b"REMOVE:[" + FOLDER + b"/nb-3-big-,1796062391161,8][992507175]"
NEW, OLD = frozenset({"nb-5-big"}), frozenset({"nb-3-big"})

OF_3_11 = b"""\
ADD:[/var/lib/cassandra/data/snap/big-cff469f0ed0f11f1936b6fc7a8778f25/me-7-big,0,8][2288655138]
REMOVE:[/var/lib/cassandra/data/snap/big-cff469f0ed0f11f1936b6fc7a8778f25/me-1-big,1796078778804,8][1087797092]
REMOVE:[/var/lib/cassandra/data/snap/big-cff469f0ed0f11f1936b6fc7a8778f25/me-3-big,1796078806512,8][4121534177]
REMOVE:[/var/lib/cassandra/data/snap/big-cff469f0ed0f11f1936b6fc7a8778f25/me-5-big,1796078833874,8][4118811456]
COMMIT:[,0,0][2613697770]
"""


def line(kind: str, path: str, changed_ms: int = 0, file_count: int = 8) -> bytes:
    """A record as a node would write it."""
    numbers = (changed_ms.to_bytes(8, "big"), file_count.to_bytes(4, "big"))
    checksum = zlib.crc32(path.encode() + kind.encode() + numbers[0][4:] + numbers[0][:4] + numbers[1])
    return f"{kind}:[{path},{changed_ms},{file_count}][{checksum}]".encode()


def read(*lines: bytes) -> TransactionLog:
    return read_replicas(b"\n".join(lines))


def read_replicas(*contents: bytes) -> TransactionLog:
    return parse([Cursor(content, "/data/nb_txn_compaction_x.log") for content in contents])


def doomed(log: TransactionLog) -> frozenset[str]:
    return frozenset(record.sstable for record in log.doomed)


def test_names_of_logs_are_known() -> None:
    assert is_log_name("nb_txn_compaction_b558b220-ece9-11f1-8c12-e51b6daaa362.log")
    assert is_log_name("bti-da_txn_flush_b558b220-ece9-11f1-8c12-e51b6daaa362.log")
    assert is_log_name("txn_flush_b558b220-ece9-11f1-8c12-e51b6daaa362.log")
    assert not is_log_name("nb-1-big-Data.db")
    assert not is_log_name("nb_txn_compaction.log")


def test_a_record_tells_all_there_is_to_know() -> None:
    assert read(REMOVE).removed == (Record(FOLDER.decode(), "nb-3-big", 1796062391161, 8),)
    assert line("REMOVE", f"{FOLDER.decode()}/nb-3-big-", 1796062391161) == REMOVE


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([ADD, REMOVE], NEW),
        ([ADD, REMOVE, ABORT], NEW),
        ([ADD, REMOVE, COMMIT], OLD),
        ([ADD, REMOVE, COMMIT, b""], OLD),
        ([ADD, REMOVE, COMMIT[:-1]], NEW),
        ([ADD, REMOVE, b"COMMIT:[,0,0][2613697771]"], NEW),
        ([ADD, REMOVE.replace(b"REMOVE", b"remove"), COMMIT.lower()], OLD),
        ([ADD, REMOVE[:-1]], NEW),
        ([ADD, REMOVE[:50]], NEW),
        ([ADD[:-3]], frozenset()),
        ([ADD[:-2] + b"]"], NEW),
        ([], frozenset()),
    ],
)
def test_what_is_doomed_depends_on_the_end(lines: list[bytes], expected: frozenset[str]) -> None:
    assert doomed(read(*lines)) == expected


def test_a_log_of_3_11_has_paths_without_their_last_hyphen() -> None:
    log = read_replicas(OF_3_11)
    assert log.is_committed
    assert doomed(log) == {"me-1-big", "me-3-big", "me-5-big"}
    assert [record.sstable for record in log.added] == ["me-7-big"]
    assert not log.is_cut


@pytest.mark.parametrize("size", range(len(OF_3_11)))
def test_every_log_that_a_node_was_not_done_with_is_one(size: int) -> None:
    """Until the last byte but the line feed it takes away what is new."""
    log = read_replicas(OF_3_11[:size])
    is_whole = size >= len(OF_3_11) - 1
    assert log.is_committed == is_whole
    assert doomed(log) <= ({"me-1-big", "me-3-big", "me-5-big"} if is_whole else {"me-7-big"})


@pytest.mark.parametrize(
    "lines",
    [(COMMIT, ADD), (ABORT, COMMIT), (ADD[:-1], COMMIT), (b"hello", ADD), (ADD, REMOVE, ADD), (b"", ADD)],
    ids=str,
)
def test_what_no_node_writes_is_corrupt_where_it_stands(lines: tuple[bytes, ...]) -> None:
    with pytest.raises(CorruptSSTableError, match=r"txn_compaction_x\.log: offset \d+, record: ") as caught:
        read(*lines)
    assert "/var/lib" not in str(caught.value)


# --- replicas, one in each data folder ----------------------------------------------------------------------------


ALL = b"\n".join([ADD, REMOVE, COMMIT]) + b"\n"


def test_a_log_ends_as_the_replica_that_got_furthest() -> None:
    without_end = b"\n".join([ADD, REMOVE]) + b"\n"
    for contents in ([ALL, without_end], [without_end, ALL], [ALL, ALL, b""]):
        log = read_replicas(*contents)
        assert doomed(log) == OLD
        assert not log.is_cut


@pytest.mark.parametrize("missing", range(1, len(COMMIT) + 1))
def test_the_last_line_may_be_cut_off_in_a_replica(missing: int) -> None:
    cut = ALL[: -1 - missing]
    for contents in ([ALL, cut], [cut, ALL]):
        log = read_replicas(*contents)
        assert log.is_committed
        assert log.is_cut == (missing < len(COMMIT))


@pytest.mark.parametrize(
    "other",
    [
        b"\n".join([ADD, REMOVE.replace(b"nb-3", b"nb-4"), COMMIT]),
        b"\n".join([ADD, REMOVE, ABORT]),
        b"\n".join([ADD, REMOVE[:-4], COMMIT]),
        ADD[:-4],
    ],
)
def test_replicas_that_differ_are_corrupt(other: bytes) -> None:
    for contents in ([ALL, other], [other, ALL]):
        with pytest.raises(CorruptSSTableError, match=r"record: .*another replica of the log"):
            read_replicas(*contents)


@pytest.mark.parametrize("table", ["compaction_unfinished", "compaction_committed", "compaction_aborted"])
def test_what_is_doomed_is_what_cassandra_says(table: str) -> None:
    told = json.loads((NODE / "tables.json").read_text())[f"layout.{table}"]["sstableutil_tmp"]
    (log,) = NODE.glob(f"data/layout/{table}-*/*.log")
    assert is_log_name(log.name)
    assert doomed(read_replicas(log.read_bytes())) == {Path(path).name.rsplit("-", 1)[0] for path in told}
