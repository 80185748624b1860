from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from flightsrv.config import Settings, TableFolder
from flightsrv.scan.engine import Engine
from flightsrv.scan.inventory import Inventory, changes
from tests.reference.fixtures import COPIED

NODE = COPIED / "cassandra-5.0/nb/node"
A, B = (Path("a"), "nb-1-big"), (Path("a"), "nb-2-big")


def test_it_has_the_live_sstables_of_all_tables_and_the_folders_that_would_tell(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(NODE / "data", data)
    (damaged,) = data.glob("layout/indexed-*")
    (damaged / "nb_txn_flush_b558b220-ece9-11f1-8c12-e51b6daaa362.log").write_text("none\nnone\n")
    (named,) = NODE.glob("data2/layout/two_directories-*")
    settings = Settings(data=(data,), tables=(TableFolder("ks", "named", named),))
    with closing(Engine(settings)) as engine:
        found = engine.inventory()
        assert {name for _, name in found.tables["layout.compaction_committed"]} == {"nb-5-big"}
        assert {folder for folder, _ in found.tables["ks.named"]} == {named}
        assert "layout.indexed" not in found.tables
        assert found.problems["layout.indexed"].startswith("nb_txn_flush_")
        assert found.sstable_count == sum(map(len, found.tables.values())) > 10
        assert {data, data / "layout", damaged, named} <= found.folders
        assert not any("snapshots" in folder.parts for folder in found.folders)


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        (Inventory(), Inventory({"ks.t": frozenset({A})}), ["table ks.t appeared, SSTables: 1"]),
        (Inventory({"ks.t": frozenset({A})}), Inventory(), ["table ks.t is gone"]),
        (
            Inventory({"ks.t": frozenset({A})}),
            Inventory({"ks.t": frozenset({B})}),
            ["table ks.t: SSTables new: 1, gone: 1"],
        ),
        (Inventory({"ks.t": frozenset({A})}), Inventory({"ks.t": frozenset({A})}), []),
        (Inventory(), Inventory(problems={"ks.t": "why"}), ["table ks.t cannot be served: why"]),
        (
            Inventory({"ks.t": frozenset({A})}),
            Inventory(problems={"ks.t": "why"}),
            ["table ks.t cannot be served: why"],
        ),
        (Inventory(problems={"ks.t": "why"}), Inventory(problems={"ks.t": "why"}), []),
        (
            Inventory(problems={"ks.t": "why"}),
            Inventory({"ks.t": frozenset({A})}),
            ["table ks.t: SSTables new: 1, gone: 0"],
        ),
    ],
)
def test_what_is_other_is_said_by_table(before: Inventory, now: Inventory, lines: list[str]) -> None:
    assert list(changes(before, now)) == lines
