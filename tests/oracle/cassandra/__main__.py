"""The kit's command line."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tests.oracle.cassandra import jvm, node
from tests.oracle.cassandra.tools import TOOLS, dump_all_command, tool_command

FOLDER = click.Path(path_type=Path, file_okay=False)
_PASS_ON = {"ignore_unknown_options": True, "help_option_names": []}


@click.group(help=__doc__)
def kit() -> None:
    """Commands below."""


@kit.command()
def fetch() -> None:
    """Copy Cassandra's jars into the cache with Maven."""
    click.echo(f"{jvm.fetch()} jars in {jvm.library()}")


@kit.command()
@click.option("--data", type=FOLDER, required=True, help="The node's folder.")
@click.option("--compat", type=click.Choice(["none", "cassandra_4"]), default="none", help="cassandra_4 writes nb.")
@click.option("--format", "sstable_format", type=click.Choice(["big", "bti"]), default="big", help="none: oa or da.")
@click.option("--data-directories", type=click.IntRange(1), default=1, help="data, data2, …", show_default=True)
@click.option("--set", "lines", multiple=True, metavar="KEY=VALUE", help="A line of cassandra.yaml.")
@click.option("--java-option", "java_options", multiple=True, help="For example -Xmx2g.")
@click.option("--native-port", type=int, default=0, help="Else a free one.")
@click.option("--jmx-port", type=int, default=0, help="Else a free one.")
@click.option("--storage-port", type=int, default=0, help="Else a free one.")
@click.option("--timeout", "timeout_s", type=float, default=120.0, help="Seconds.", show_default=True)
def start(data: Path, **settings: Any) -> None:
    """Start a node, wait until its native port is up, print its pid and ports as JSON."""
    began = time.monotonic()
    started = node.start(data, node.Settings(**settings))
    click.echo(json.dumps(asdict(started) | {"seconds": round(time.monotonic() - began, 1)}))


@kit.command()
@click.option("--data", type=FOLDER, required=True, help="The node's folder.")
def stop(data: Path) -> None:
    """Stop the node."""
    node.stop(data)


@kit.command()
@click.option("--data", type=FOLDER, required=True, help="The node's folder.")
def remove(data: Path) -> None:
    """Stop the node and delete its folder."""
    node.remove(data)


@kit.command(context_settings=_PASS_ON)
@click.option("--data", type=FOLDER, required=True)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def nodetool(data: Path, arguments: tuple[str, ...]) -> None:
    """Run nodetool against the node; `-` reads commands from stdin, one a line."""
    sys.exit(subprocess.call(node.nodetool_command(data, *arguments)))


@kit.command()
@click.option("--into", type=FOLDER, help="Else sstabledump/ beside each file.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def dump_all(into: Path | None, files: tuple[Path, ...]) -> None:
    """Run sstabledump -t on many Data.db files in one JVM."""
    pairs = []
    for path in files:
        folder = into or path.parent / "sstabledump"
        folder.mkdir(parents=True, exist_ok=True)
        pairs.append((path, folder / path.name.replace("-Data.db", ".json.gz")))
    sys.exit(subprocess.call(dump_all_command(pairs)))


def _tool(name: str) -> Callable[..., None]:
    @click.option("--data", type=FOLDER, help="Use this node's configuration.")
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def run(data: Path | None, arguments: tuple[str, ...]) -> None:
        sys.exit(subprocess.call(tool_command(name, arguments, data)))

    run.__doc__ = f"Run Cassandra's {name} with its own arguments."
    return run


for _name in TOOLS:
    kit.command(_name, context_settings=_PASS_ON)(_tool(_name))

if __name__ == "__main__":
    try:
        kit()
    except (jvm.KitError, subprocess.CalledProcessError) as error:
        sys.exit(f"cassandra kit: {error}")
