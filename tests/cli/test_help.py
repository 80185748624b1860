"""What the command line says of itself, and how fast."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from click.testing import CliRunner

from flightsrv.cli import flightsrv
from tests.cli.commands import refused, succeeded

HELP_S = 0.3
HEAVY = ("aiohttp", "grpc", "llvmlite", "numba", "numpy", "opentelemetry", "pyarrow", "rich")


def test_help_names_every_command_and_ends_no_line_early() -> None:
    text = said("--help")
    for name in ("serve", "tables", "scan", "describe", "verify", "warm", "corpus", "demo"):
        assert f"\n  {name}" in text
    assert "..." not in text.partition("Commands:")[2]


def test_help_comes_at_once() -> None:
    """As time of the CPU: other tests run at the same time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    succeeded("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < HELP_S


def test_no_command_that_is_not_run_imports_anything_heavy() -> None:
    code = f"import sys, flightsrv.cli; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def said(*arguments: str, status: int = 0) -> str:
    """What a command says, in this process."""
    done = CliRunner().invoke(flightsrv, arguments, prog_name="flightsrv")
    assert done.exit_code == status
    return done.output


@pytest.mark.parametrize("name", sorted(set(flightsrv.commands) - {"corpus"}))
def test_every_command_explains_itself(name: str) -> None:
    text = said(name, "--help")
    assert text.startswith(f"Usage: flightsrv {name} ")
    assert text.count("\n") > 3


def test_corpus_explains_its_own_commands() -> None:
    assert said("corpus", "--help").startswith("Usage: flightsrv corpus [OPTIONS] COMMAND")
    assert "--partitions" in said("corpus", "keyvalue", "--help")


def test_the_version_is_the_packages() -> None:
    assert said("--version") == "flightsrv 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["scan", "grpc://127.0.0.1:1", "table"], "'table' is not keyspace.table"),
        (["scan", "grpc://127.0.0.1:1", "ks.t", "--token-range", "5"], "'5' is not A:B"),
        (["scan", "grpc://127.0.0.1:1", "ks.t", "--columns", "a,,b"], "is not a list of names"),
        (["scan", "grpc://127.0.0.1:1", "ks.t", "-o", "rows.txt"], "ends with none of .parquet, .arrow, .csv, .jsonl"),
        (["serve"], "nothing to serve"),
        (["serve", "/nowhere", "--listen", "here"], "--listen: 'here' is not host:port"),
        (["describe", "/nowhere/nb-1-big-Data.db"], "does not exist"),
    ],
)
def test_wrong_usage_is_told_and_is_2(arguments: list[str], what: str) -> None:
    assert what in said(*arguments, status=2)


def test_a_process_ends_with_2_on_wrong_usage_of_its_own_and_of_others_commands() -> None:
    assert "'table' is not keyspace.table" in refused("scan", "grpc://127.0.0.1:1", "table")
    assert "Missing option" in refused("corpus", "keyvalue")
    assert refused().startswith("Usage: flightsrv")
