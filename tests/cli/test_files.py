"""Commands that look at files, and those that make some."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flightsrv.kernels.jit import cache_folder
from tests.cli.commands import FLIGHTSRV, failed, flightsrv, serving, succeeded
from tests.reference.fixtures import COPIED
from tests.sstable.golden import PAIRS, file_of

TTL = COPIED / "cassandra-5.0/nb/ttl"
NB = COPIED / "cassandra-5.0/nb"


def test_a_dump_is_what_the_parsers_traced() -> None:
    assert ("nb-ttl", "Data.db") in PAIRS
    assert succeeded("describe", TTL / "nb-1-big-Data.db") == file_of("nb-ttl", "Data.db").read_text()


def test_a_damaged_file_is_told_behind_what_could_be_read() -> None:
    done = flightsrv("describe", COPIED / "corrupt/derived/nb_chunk_bitflip/nb-1-big-Data.db")
    assert done.returncode == 1
    assert done.stdout.count("\n") > 10
    assert done.stderr.startswith("flightsrv: nb-1-big-Data.db: offset 2933: chunk 7 checksum: ")
    assert done.stderr.count("\n") == 1


def test_other_files_are_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    assert failed("describe", tmp_path / "notes.txt") == "notes.txt: it does not have the name of an SSTable's file"


def test_a_dump_that_nobody_reads_to_its_end_is_no_error() -> None:
    command = [*FLIGHTSRV, "describe", str(COPIED / "cassandra-5.0/oa/wide/oa-1-big-Data.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        process.wait(20)
        assert process.stderr.read() == b""


def test_verify_says_what_it_looked_at_and_that_all_is_well() -> None:
    said = succeeded("verify", NB / "deletes")
    assert said == "3 SSTables, 0 damaged: 1,671 bytes, 80 partitions, 126 rows as stored; 0 errors, 0 notes\n"


def test_verify_names_what_is_damaged_and_its_status_is_1() -> None:
    done = flightsrv("verify", COPIED / "corrupt/derived/nb_chunk_bitflip")
    assert done.returncode == 1
    assert done.stdout.startswith("error: nb-1-big-Data.db: offset 2933: chunk 7 checksum: ")
    assert "1 SSTable, 1 damaged: " in done.stdout
    assert done.stderr == ""


def test_warm_says_how_long_it_took_and_where_the_kernels_are() -> None:
    said = flightsrv("warm", timeout_s=240)
    assert said.returncode == 0
    assert said.stdout.startswith("kernels ready in ")
    assert said.stdout.endswith(f" s, cached in {cache_folder()}\n")


def test_a_corpus_is_written_once_and_can_be_served(tmp_path: Path) -> None:
    made = flightsrv("corpus", "keyvalue", "--partitions", 1000, "--out", tmp_path / "data")
    assert made.returncode == 0
    assert "1,000 rows" in made.stdout
    again = flightsrv("corpus", "keyvalue", "--partitions", 1000, "--out", tmp_path / "data")
    assert again.returncode == 1
    assert "already holds SSTables" in again.stderr
    with serving(tmp_path, tmp_path / "data") as server:
        assert succeeded("scan", server.url, "bench.keyvalue").count("\n") == 1000


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["/nowhere"], "nowhere: is not a folder"),
        (["--table", "ks.t=/nowhere", "--ddl", "/nowhere.cql"], "the DDL file nowhere.cql cannot be read"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(arguments: list[str], what: str) -> None:
    assert what in failed("serve", *arguments)


def test_an_address_that_is_not_this_machines_is_told_behind_the_log() -> None:
    done = flightsrv("serve", NB / "deletes", "--listen", "192.0.2.1:8815", "--ops-listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "flightsrv: cannot listen on 192.0.2.1:8815"
