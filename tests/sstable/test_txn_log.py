from __future__ import annotations

import json
from pathlib import Path

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.txn_log import TransactionLog, is_log_name, parse
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


def read(*lines: bytes) -> TransactionLog:
    return parse(Cursor(b"\n".join(lines), "/data/nb_txn_compaction_x.log"))


def test_names_of_logs_are_known() -> None:
    assert is_log_name("nb_txn_compaction_b558b220-ece9-11f1-8c12-e51b6daaa362.log")
    assert is_log_name("bti-da_txn_flush_b558b220-ece9-11f1-8c12-e51b6daaa362.log")
    assert not is_log_name("nb-1-big-Data.db")


@pytest.mark.parametrize(
    ("lines", "not_live"),
    [
        ([ADD, REMOVE], NEW),
        ([ADD, REMOVE, ABORT], NEW),
        ([ADD, REMOVE, COMMIT], OLD),
        ([ADD, REMOVE, COMMIT, b""], OLD),
        ([ADD, REMOVE, COMMIT[:-1]], NEW),
        ([ADD, REMOVE, b"COMMIT:[,0,0][2613697771]"], NEW),
        ([ADD, REMOVE.replace(b"REMOVE", b"remove"), COMMIT.lower()], OLD),
        ([], frozenset()),
    ],
)
def test_what_is_not_live_depends_on_the_end(lines: list[bytes], not_live: frozenset[str]) -> None:
    assert read(*lines).not_live == not_live


@pytest.mark.parametrize("lines", [(COMMIT, ADD), (ABORT, COMMIT), (ADD[:-1], COMMIT), (b"hello", ADD)], ids=str)
def test_what_no_node_writes_is_corrupt_where_it_stands(lines: tuple[bytes, ...]) -> None:
    with pytest.raises(CorruptSSTableError, match=r"txn_compaction_x\.log: offset \d+, record: "):
        read(*lines)


@pytest.mark.parametrize("table", ["compaction_unfinished", "compaction_committed", "compaction_aborted"])
def test_what_is_not_live_is_what_cassandra_says(table: str) -> None:
    told = json.loads((NODE / "tables.json").read_text())[f"layout.{table}"]["sstableutil_tmp"]
    (log,) = NODE.glob(f"data/layout/{table}-*/*.log")
    assert is_log_name(log.name)
    found = parse(Cursor(log.read_bytes(), str(log))).not_live
    assert found == {Path(path).name.rsplit("-", 1)[0] for path in told}
