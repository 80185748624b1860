"""What is live after a transaction that had not ended is what Cassandra leaves there when it starts."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from flightsrv.errors import CorruptSSTableError
from flightsrv.scan.live import live_sstables
from tests.oracle.cassandra import jvm
from tests.oracle.cassandra.tools import leftovers_command
from tests.sstable.test_txn_log import ABORT, COMMIT, line

pytestmark = pytest.mark.oracle

LOG = "nb_txn_compaction_b558b220-ece9-11f1-8c12-e51b6daaa362.log"
PARTS = ("Data.db", "Statistics.db", "TOC.txt")
DAY_S = 1_700_000_000
SCENARIOS = 600
Live = list[list[str]]
REFUSED: Live = []


def scenario(draw: random.Random, root: Path) -> list[Path]:
    """The folders of a table on one or two disks: SSTables, and a log that is often not as it should be."""
    folders = [root / f"disk{disk}" for disk in range(draw.choice([1, 2, 2]))]
    records = []
    for number in range(1, 7):
        folder = draw.choice(folders)
        fate = draw.choice(["kept", "added", "removed", "removed"])
        parts = PARTS if draw.random() < 0.85 else draw.choice([(), ("Data.db", "Statistics.db")])
        folder.mkdir(parents=True, exist_ok=True)
        changed_s = DAY_S + number
        for part in parts:
            (folder / f"nb-{number}-big-{part}").touch()
            os.utime(folder / f"nb-{number}-big-{part}", (changed_s, changed_s))
        if fate == "added":
            records.append(line("ADD", f"{folder}/nb-{number}-big-"))
        elif fate == "removed":
            stated_s = changed_s if draw.random() < 0.95 else changed_s + 1
            records.append(line("REMOVE", f"{folder}/nb-{number}-big-", stated_s * 1000 + 7, len(PARTS)))
    records += draw.choice([[], [COMMIT], [COMMIT], [ABORT]])
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        content = b"".join(each + b"\n" for each in damaged(draw, records))
        if draw.random() < 0.2:
            content = content[: max(0, len(content) - draw.randrange(60))]
        (folder / LOG).write_bytes(content)
    return folders


def damaged(draw: random.Random, records: list[bytes]) -> list[bytes]:
    """A replica of a log, seldom one that no node would write."""
    lines = list(records)
    match draw.randrange(20):
        case 0 if lines:
            lines.append(draw.choice(lines))
        case 1 if lines:
            place = draw.randrange(len(lines))
            lines[place] = lines[place].replace(b"nb-", b"nb-1", 1)
        case 2 if lines:
            lines.pop()
        case 3:
            lines.insert(draw.randrange(len(lines) + 1), b"nonsense")
    return lines


def ours(folders: list[Path]) -> Live:
    try:
        return [sorted(each.name for each in found) for found in live_sstables(folders).values()]
    except CorruptSSTableError:
        return REFUSED


def left(folders: list[Path]) -> Live:
    return [sorted(path.name.removesuffix("-Data.db") for path in each.glob("*-Data.db")) for each in folders]


def ends_with(folders: list[Path], *ends: bytes) -> bool:
    """Whether any replica of the log does."""
    return any((folder / LOG).read_bytes().rstrip().endswith(ends) for folder in folders)


def test_what_cassandra_leaves_is_what_is_live(tmp_path: Path) -> None:
    jvm.fetch()
    cases = []
    for seed in range(SCENARIOS):
        folders = scenario(random.Random(seed), tmp_path / str(seed))
        cases.append((folders, ours(folders), explained(folders)))
    asked = "".join("\t".join(map(str, folders)) + "\n" for folders, _, _ in cases)
    told = subprocess.run(leftovers_command(), input=asked, capture_output=True, text=True, check=False)
    starts = [answer == "true" for answer in told.stdout.splitlines()]
    assert len(starts) == len(cases), told.stderr[-2000:]
    for (folders, found, allowed), does_start in zip(cases, starts, strict=True):
        theirs = left(folders) if does_start else REFUSED
        assert found == theirs or (found == REFUSED, theirs == REFUSED) in allowed, folders[0].parent.name
    assert min(starts.count(True), starts.count(False)) > SCENARIOS // 5


def explained(folders: list[Path]) -> set[tuple[bool, bool]]:
    """Differences there may be, (we refuse, Cassandra does), as docs/operations.md says: an old SSTable that is missing
    is an error of ours before the end; times and counts of files do not matter where nothing is left out for their
    sake."""
    allowed = set()
    if not ends_with(folders, COMMIT, ABORT):
        allowed.add((True, False))
    if not ends_with(folders, COMMIT):
        allowed.add((False, True))
    return allowed
