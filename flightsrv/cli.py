"""The command line. Each command imports what it needs when it runs, so that `--help` answers at once.

Errors of ours are one line on stderr and exit status 1, wrong usage is 2, Ctrl-C is 130. --debug shows tracebacks.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import Any, get_args

import click

from flightsrv import config
from flightsrv.errors import FlightsrvError

EXAMPLES = """\b
Serve Cassandra's data folder, then ask from another terminal:
  flightsrv serve /var/lib/cassandra/data
  flightsrv tables grpc://127.0.0.1:8815
  flightsrv scan grpc://127.0.0.1:8815 ks.tbl -o rows.parquet

\b
Look at files without a server:
  flightsrv describe nb-1-big-Statistics.db
  flightsrv verify /var/lib/cassandra/data/ks/tbl-5f1c

\b
Try it without a Cassandra:
  flightsrv demo
"""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its status."""
    debug = "--debug" in sys.argv
    try:
        sys.exit(flightsrv.main(prog_name="flightsrv", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Nobody reads any more. What is still buffered must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except FlightsrvError as error:
        if debug:
            raise
        _fail(str(error))
    except OSError as error:
        if debug:
            raise
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        if debug:
            raise
        _fail(f"internal error: {type(error).__name__}: {error} (--debug shows where)")


def _fail(text: str) -> None:
    click.echo(f"flightsrv: {text}", err=True)
    sys.exit(1)


class _TableName(click.ParamType[Any]):
    name = "ks.tbl"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        found = re.fullmatch(r"(\w+)\.(\w+)", value, re.ASCII)
        if not found:
            self.fail(f"{value!r} is not keyspace.table", param, ctx)
        return found[1], found[2]


class _TokenRange(click.ParamType[Any]):
    name = "A:B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = re.fullmatch(r"(-?\d+)?:(-?\d+)?", value, re.ASCII)
        if not found:
            self.fail(f"{value!r} is not A:B; either may be left away", param, ctx)
        return tuple(None if bound is None else int(bound) for bound in found.groups())


class _Columns(click.ParamType[Any]):
    name = "a,b"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        names = [name.strip() for name in value.split(",")]
        if "" in names:
            self.fail(f"{value!r} is not a list of names with commas between them", param, ctx)
        return names


class _OutputFile(click.ParamType[Any]):
    name = "FILE"
    suffixes = (".parquet", ".arrow", ".csv", ".jsonl")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(value)
        if path.suffix not in self.suffixes:
            self.fail(f"{value!r} ends with none of {', '.join(self.suffixes)}", param, ctx)
        return path


class _InOrder(click.Group):
    """Commands in the order they are written here."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings=_CONTEXT, epilog=EXAMPLES)
@click.option("--debug", is_flag=True, help="Show tracebacks, and log more.")
@click.version_option(package_name="flightsrv", message="%(prog)s %(version)s")
def flightsrv(debug: bool) -> None:
    """Serve Apache Cassandra's SSTables as Apache Arrow over Flight, straight from disk."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("flightsrv").setLevel(logging.DEBUG if debug else logging.INFO)
    # gRPC's C core logs on its own what its callers are told anyway.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


@flightsrv.command()
@config.setting_flags
@click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file of these settings.")
def serve(file: Path | None, **flags: Any) -> None:
    """Serve tables until SIGTERM or Ctrl-C.

    DATA: folders of Cassandra's, each a data folder, a keyspace's, a table's or a snapshot's. Every flag is also a
    variable: --batch-rows is FLIGHTSRV_BATCH_ROWS.
    """
    settings = config.load(flags, file=file)
    if not settings.data and not settings.tables:
        raise click.UsageError("nothing to serve: name a folder of Cassandra's, or a --table")
    from flightsrv.scan.engine import Engine
    from flightsrv.scan.warm import warm
    from flightsrv.server.lifecycle import serve as serve_engine

    serve_engine(Engine(settings), settings, warm)


@flightsrv.command()
@click.argument("url")
def tables(url: str) -> None:
    """List the tables that the server at URL serves."""
    from flightsrv.client import connect, report

    with connect(url) as connection:
        report.console().print(report.tables_served(connection.tables()))


@flightsrv.command()
@click.argument("url")
@click.argument("table", type=_TableName(), metavar="KS.TBL")
@click.option("--columns", type=_Columns(), metavar="a,b", help="Only these columns.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="At most so many rows.")
@click.option("--token-range", type=_TokenRange(), help="Only partitions with tokens above A, up to B.")
@click.option("--types", type=click.Choice(get_args(config.ArrowTypes)), help="Arrow types; else as the server is set.")
@click.option("--now", "now_s", type=click.IntRange(0), metavar="SECONDS", help="When TTLs are judged, since 1970.")
@click.option("--tombstones", is_flag=True, help="Deletions, and the times of rows and cells, as well.")
@click.option("-o", "--output", type=_OutputFile(), help="FILE.parquet, .arrow, .csv or .jsonl")
def scan(url: str, table: tuple[str, str], output: Path | None, **asked: Any) -> None:
    """Fetch a table's rows from the server at URL.

    With -o they go to a file. Without it, a terminal gets the first ten and how fast all came; a pipe gets all rows as
    JSON lines.
    """
    from flightsrv.client import connect
    from flightsrv.client.fetch import fetch

    if asked["token_range"] is None:
        del asked["token_range"]
    with connect(url) as connection:
        fetch(connection.scan(*table, **asked), ".".join(table), output)


@flightsrv.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def describe(file: Path) -> None:
    """Dump an SSTable's component: offset, bytes, field, value."""
    from flightsrv.scan.describe import describe_file

    for line in describe_file(file):
        click.echo(line)


@flightsrv.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def verify(folder: Path) -> int:
    """Check every checksum, row and index entry of SSTables.

    FOLDER is a data folder of Cassandra's, a keyspace's, a table's or a snapshot's. The exit status is 1 when an
    SSTable is damaged.
    """
    from flightsrv.client.progress import progress
    from flightsrv.verify import verify_folder

    with progress("verifying", "bytes") as tell:
        findings = verify_folder(folder, lambda _sstable, done, total: tell(done, total))
        for finding in findings:
            click.echo(f"{finding.severity}: {finding}")
    found = findings.summary
    click.echo(
        f"{_count(found.sstables, 'SSTable')}, {found.damaged_sstables} damaged: {_count(found.bytes, 'byte')}, "
        f"{_count(found.partitions, 'partition')}, {_count(found.rows, 'row')} as stored; "
        f"{_count(found.errors, 'error')}, {_count(found.notes, 'note')}"
    )
    return 1 if found.damaged_sstables else 0


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


@flightsrv.command()
def warm() -> None:
    """Compile the kernels and cache them; no scan waits for it then."""
    from time import monotonic

    from flightsrv.client.progress import progress
    from flightsrv.kernels.jit import cache_folder
    from flightsrv.scan.warm import warm as warm_kernels

    began = monotonic()
    with progress("compiling", "kernels") as tell:
        warm_kernels(tell)
    click.echo(f"kernels ready in {monotonic() - began:.1f} s, cached in {cache_folder()}")


@flightsrv.command(context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def corpus(arguments: tuple[str, ...]) -> None:
    """Write SSTables of made-up rows, to try and to measure with."""
    from corpus.cli import corpus as command

    command.main(list(arguments), prog_name="flightsrv corpus", standalone_mode=False)


@flightsrv.command()
@click.option(
    "--partitions", type=click.IntRange(1), default=3_400_000, show_default=True, help="Of the made-up table."
)
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), default=".cache/demo", show_default=True,
    help="Where the made-up table is kept for the next time.",
)  # fmt: skip
def demo(partitions: int, folder: Path) -> None:
    """Write a table, serve it, scan it, and say where time went."""
    from flightsrv.demo import run

    run(folder, partitions)
