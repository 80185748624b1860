"""Which tables there are, by which schema and from which SSTables, in folders that a node left behind."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from flightsrv.config import Settings, TableFolder
from flightsrv.errors import NotServedError, SchemaError, SSTableError
from flightsrv.scan.engine import Engine
from flightsrv.scan.request import ScanRequest
from tests.reference.fixtures import COPIED, FixtureSet, params
from tests.reference.render import rows_of_arrow, sha256_of
from tests.scan.nodes import BOTH_DISKS, INDEXED, NODE, MakeEngine, columns, named, rows
from tests.scan.scanning import copied


def is_of_a_5_0_node(fixture: FixtureSet) -> bool:
    return fixture.id.startswith("cassandra-5.0/") and "/node/layout." in fixture.id


@pytest.mark.parametrize("fixture", params(is_of_a_5_0_node))
def test_the_tables_of_a_node_read_as_it_said(engine: MakeEngine, fixture: FixtureSet) -> None:
    """Of both its disks, with a table that was made anew, and compactions that ended in all ways."""
    node = fixture.folder.parents[2]
    request = ScanRequest("layout", fixture.id.rpartition(".")[2], now_s=fixture.read_at)
    with closing(engine(node / "data", node / "data2").open_scan(request)) as scan:
        found = rows_of_arrow([copied(batch) for batch in scan.batches()], fixture.schema)
    assert sha256_of(found, fixture.types) == fixture.schema["rows_sha256"]


def test_tables_come_by_name_with_what_their_statistics_say(engine: MakeEngine) -> None:
    infos = engine(*BOTH_DISKS).tables()
    assert [(info.keyspace, info.table) for info in infos] == sorted((info.keyspace, info.table) for info in infos)
    by_name = {(info.keyspace, info.table): info for info in infos}
    indexed = by_name["layout", "indexed"]
    assert indexed.problem is None
    assert indexed.schema is not None
    assert indexed.sstable_count > 1
    assert indexed.partition_count > 0
    assert indexed.row_count > 0
    files = [path for disk in BOTH_DISKS for path in (disk / "layout" / INDEXED).glob("*-Data.db")]
    assert indexed.bytes_on_disk == sum(path.stat().st_size for path in files)
    assert by_name["system_schema", "columns"].problem is not None or by_name["system_schema", "columns"].schema


@pytest.mark.parametrize("below", ["", "layout", f"layout/{INDEXED}"])
def test_a_folder_may_be_that_of_data_a_keyspace_or_a_table(engine: MakeEngine, below: str) -> None:
    found = engine(NODE / "data" / below)
    assert len(rows(found, "layout", "indexed", now_s=0)) > 0
    names = columns(found, "layout", "indexed")
    # Only a data folder has the system_schema that knows the names of keys.
    assert names[0] == ("pk" if below == "" else "key")


def test_a_snapshots_folder_brings_its_own_schema(engine: MakeEngine) -> None:
    found = engine(NODE / "data2/layout" / INDEXED / "snapshots/first")
    assert columns(found, "layout", "indexed")[:2] == ["pk", "ck"]
    assert len(rows(found, "layout", "indexed", now_s=0)) > 0


def test_one_table_lies_in_several_data_folders(engine: MakeEngine) -> None:
    apart = [len(rows(engine(disk), "layout", "indexed", ddl=DDL, now_s=0)) for disk in BOTH_DISKS]
    together = len(rows(engine(*BOTH_DISKS), "layout", "indexed", now_s=0))
    assert max(apart) <= together <= sum(apart)
    assert engine(*BOTH_DISKS, NODE / "data").table_stats("layout", "indexed", None) == engine(*BOTH_DISKS).table_stats(
        "layout", "indexed", None
    )


DDL = "CREATE TABLE layout.indexed (pk int, ck int, v int, w int, x text, PRIMARY KEY (pk, ck))"


def test_the_id_in_system_schema_tells_a_table_from_one_of_its_name_that_was_dropped(
    engine: MakeEngine, node: Path
) -> None:
    (dropped,) = [path for path in node.glob("layout/recreated-*") if not list(path.glob("*-Data.db"))]
    for path in (dropped / "snapshots/before_drop").glob("nb-*"):
        shutil.copy(path, dropped)
    assert rows(engine(node), "layout", "recreated") == [{"pk": 1, "w": 2}]
    assert columns(engine(node), "layout", "recreated") == ["pk", "w"]


def test_the_dropped_tables_snapshot_can_be_read_from_its_folder(engine: MakeEngine) -> None:
    (path,) = NODE.glob("data/layout/recreated-*/snapshots/before_drop")
    assert rows(engine(path), "layout", "recreated") == [{"pk": 1, "v": "of the dropped table"}]


def test_a_table_that_system_schema_does_not_know_was_dropped(engine: MakeEngine, node: Path) -> None:
    """Unless somebody names its folder."""
    source = node / "layout" / INDEXED
    gone = node / "layout/gone-a904b870ece911f18c12e51b6daaa363"
    shutil.copytree(source, gone)
    found = engine(node)
    with pytest.raises(NotServedError, match=r"^table layout\.gone was dropped: system_schema does not know it"):
        columns(found, "layout", "gone")
    assert "gone" not in [info.table for info in found.tables()]
    for named_one in (engine(node, gone), engine(node, tables=(TableFolder("layout", "gone", gone),))):
        assert len(rows(named_one, "layout", "gone", now_s=0)) > 0
    shutil.rmtree(node / "system_schema")
    assert len(rows(found, "layout", "gone", now_s=0)) > 0


def test_tables_that_a_node_has_without_writing_them_down_are_there(engine: MakeEngine, node: Path) -> None:
    shutil.copytree(node / "layout" / INDEXED, node / "system/secret-a904b870ece911f18c12e51b6daaa363")
    assert columns(engine(node), "system", "secret")[0] == "key"


def test_a_table_may_be_named_by_several_folders(engine: MakeEngine) -> None:
    folders = [disk / "layout" / INDEXED for disk in BOTH_DISKS]
    named_ones = tuple(TableFolder("ks", "t", folder) for folder in folders)
    together = engine(tables=named_ones).table_stats("ks", "t", None)
    apart = [engine(tables=(each,)).table_stats("ks", "t", None) for each in named_ones]
    assert together["sstable_count"] == sum(each["sstable_count"] for each in apart)


def test_the_disks_of_a_node_may_be_named_by_their_keyspaces(engine: MakeEngine) -> None:
    """system_schema of one folder says what the tables of another are."""
    found = engine(NODE / "data", NODE / "data2/layout")
    assert found.table_stats("layout", "indexed", None) == engine(*BOTH_DISKS).table_stats("layout", "indexed", None)
    assert columns(engine(NODE / "data/system_schema", NODE / "data2/layout"), "layout", "indexed")[0] == "pk"


# --- schemas, the first that is there -----------------------------------------------------------------------------


def test_a_ddl_file_wins_over_all(engine: MakeEngine, tmp_path: Path) -> None:
    ddl = tmp_path / "tables.cql"
    ddl.write_text(DDL.replace("w int", "w2 int") + ";")
    found = engine(*BOTH_DISKS, ddl=(ddl,))
    assert "w2" in columns(found, "layout", "indexed")
    assert "w2" in columns(found, "layout", "indexed", snapshot="first")
    assert columns(found, "layout", "recreated") == ["pk", "w"]


def test_a_requests_ddl_wins_over_a_ddl_file(engine: MakeEngine, tmp_path: Path) -> None:
    ddl = tmp_path / "tables.cql"
    ddl.write_text(DDL.replace("w int", "w2 int"))
    assert "w3" in columns(engine(*BOTH_DISKS, ddl=(ddl,)), "layout", "indexed", ddl=DDL.replace("w int", "w3 int"))


def test_a_requests_ddl_is_enough_to_tell_a_schema(engine: MakeEngine, tmp_path: Path) -> None:
    ddl = "CREATE TABLE ks.nowhere (k int PRIMARY KEY)"
    assert columns(engine(tmp_path), "ks", "nowhere", ddl=ddl) == ["k"]


def test_system_schema_wins_over_a_schema_file_beside_live_sstables(engine: MakeEngine, node: Path) -> None:
    (node / "layout" / INDEXED / "schema.cql").write_text(DDL.replace("w int", "w2 int"))
    assert "w2" not in columns(engine(node), "layout", "indexed")
    shutil.rmtree(node / "system_schema")
    assert "w2" in columns(engine(node), "layout", "indexed")


def test_a_snapshots_schema_file_wins_over_system_schema(engine: MakeEngine, node: Path) -> None:
    snapshot = node / "layout" / INDEXED / "snapshots/first"
    (snapshot / "schema.cql").write_text(DDL.replace("w int", "w2 int"))
    found = engine(node)
    assert "w2" in columns(found, "layout", "indexed", snapshot="first")
    assert "w2" not in columns(found, "layout", "indexed")


def test_the_schema_file_of_a_snapshot_may_lie_on_another_disk(engine: MakeEngine) -> None:
    assert not (NODE / "data/layout" / INDEXED / "snapshots/first/schema.cql").exists()
    found = engine(*BOTH_DISKS)
    assert columns(found, "layout", "indexed", snapshot="first") == ["pk", "ck", "v", "w", "x"]
    live, snapshot = (len(rows(found, "layout", "indexed", snapshot=name, now_s=0)) for name in (None, "first"))
    assert 0 < snapshot <= live


def test_an_sstable_that_does_not_fit_is_told_before_the_scan_with_its_columns_and_types(engine: MakeEngine) -> None:
    ddl = "CREATE TABLE layout.indexed (pk int, ck text, v text, w int, x text, PRIMARY KEY (pk, ck))"
    with pytest.raises(SchemaError) as caught:
        engine(*BOTH_DISKS).open_scan(ScanRequest("layout", "indexed", ddl=ddl))
    assert str(caught.value).endswith(
        "-big-Statistics.db: HEADER: does not fit the schema of layout.indexed: clustering column ck is int, not text; "
        "column v is regular int, not regular text"
    )


def test_a_header_is_the_last_resort(engine: MakeEngine) -> None:
    found = engine(tables=named(NODE / "data/layout" / INDEXED))
    assert columns(found, "ks", "t")[:2] == ["key", "column1"]


def test_without_a_schema_or_an_sstable_there_is_an_error(engine: MakeEngine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = engine(tables=named(tmp_path / "empty"))
    with pytest.raises(SchemaError, match=r"table ks\.t has neither a schema nor an SSTable to tell one"):
        columns(found, "ks", "t")
    assert found.tables() == []


def test_a_ddl_file_with_an_error_in_the_table_is_an_error(engine: MakeEngine, tmp_path: Path) -> None:
    ddl = tmp_path / "tables.cql"
    ddl.write_text("CREATE TABLE layout.indexed (pk int, ck frozen<nothing>, PRIMARY KEY (pk, no_column))")
    with pytest.raises(SchemaError, match=r"line 1, column 1: .*no_column"):
        columns(engine(*BOTH_DISKS, ddl=(ddl,)), "layout", "indexed")


@pytest.mark.parametrize("content", [None, b"\xff"])
def test_a_ddl_file_that_cannot_be_read_is_an_error_at_the_start(tmp_path: Path, content: bytes | None) -> None:
    ddl = tmp_path / "tables.cql"
    if content is not None:
        ddl.write_bytes(content)
    with pytest.raises(SchemaError, match=r"the DDL file tables\.cql cannot be read"):
        Engine(Settings(ddl=(ddl,)))


# --- what is not there, or damaged --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keyspace", "table", "snapshot", "what"),
    [
        ("layout", "nothing", None, "table layout.nothing is not served here"),
        ("nowhere", "indexed", None, "table nowhere.indexed is not served here"),
        ("layout", "indexed", "nothing", "table layout.indexed has no snapshot 'nothing'"),
        ("layout", "indexed", "../snapshots/first", "has no snapshot"),
    ],
)
def test_what_is_not_there_is_not_served(
    engine: MakeEngine, keyspace: str, table: str, snapshot: str | None, what: str
) -> None:
    found = engine(*BOTH_DISKS)
    for ask in (found.open_scan, found.arrow_schema):
        with pytest.raises(NotServedError, match=what):
            ask(ScanRequest(keyspace, table, snapshot=snapshot))


def test_a_table_with_a_corrupt_sstable_has_a_problem_and_the_others_are_listed(engine: MakeEngine, node: Path) -> None:
    statistics = next((node / "layout" / INDEXED).glob("*-Statistics.db"))
    statistics.write_bytes(statistics.read_bytes()[:100])
    found = engine(node)
    infos = {(info.keyspace, info.table): info for info in found.tables()}
    problem = infos["layout", "indexed"].problem
    assert problem is not None
    assert problem.startswith(f"{statistics.name}: ")
    assert str(node) not in problem
    assert infos["layout", "recreated"].problem is None
    assert rows(found, "layout", "recreated") == [{"pk": 1, "w": 2}]
    with pytest.raises(SSTableError, match=statistics.name):
        found.open_scan(ScanRequest("layout", "indexed"))
    stats = found.table_stats("layout", "indexed", None)
    assert (stats["complete"], stats["skipped_sstables"]) == (False, 1)


def test_a_table_that_is_not_served_says_why(engine: MakeEngine) -> None:
    (data_file,) = COPIED.glob("other-versions/aa/**/aa-*-Data.db")
    (info,) = engine(tables=named(data_file.parent)).tables()
    assert info.problem is not None
    assert "aa" in info.problem
    assert info.schema is None


def test_a_system_schema_that_is_damaged_is_an_error_of_every_table_that_needs_it(
    engine: MakeEngine, node: Path
) -> None:
    for path in node.glob("system_schema/columns-*/*-Data.db"):
        path.write_bytes(path.read_bytes()[:-20])
    found = engine(node)
    with pytest.raises(SSTableError, match=r"Data\.db"):
        columns(found, "layout", "indexed")
    assert columns(found, "layout", "indexed", ddl=DDL) == ["pk", "ck", "v", "w", "x"]
    assert {info.problem is None for info in found.tables() if info.keyspace == "layout"} == {False}


def test_the_statistics_of_a_table_are_those_of_its_files(engine: MakeEngine) -> None:
    found = engine(*BOTH_DISKS)
    stats = found.table_stats("layout", "two_directories", None)
    assert stats == {
        "live_rows": stats["live_rows"],
        "partition_count": 155 + 80 + 145 + 70,
        "sstable_count": 4,
        "complete": True,
        "skipped_sstables": 0,
    }
    assert stats["live_rows"] >= len(rows(found, "layout", "two_directories", now_s=0))
