"""Cassandra's offline tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracle.cassandra.jvm import KIT, java, library
from tests.oracle.cassandra.node import Settings, write_configuration

TOOLS = {
    "sstabledump": "org.apache.cassandra.tools.SSTableExport",
    "sstablemetadata": "org.apache.cassandra.tools.SSTableMetadataViewer",
    "sstableverify": "org.apache.cassandra.tools.StandaloneVerifier",
    "sstableupgrade": "org.apache.cassandra.tools.StandaloneUpgrader",
    "sstableutil": "org.apache.cassandra.tools.StandaloneSSTableUtil",
}


def tool_command(name: str, arguments: Sequence[str], home: Path | None = None) -> list[str]:
    """A tool with its own arguments; home: the node whose configuration, and so whose tables, it uses."""
    if home:
        config = home.resolve() / "conf" / "cassandra.yaml"
    else:
        settings = Settings(storage_port=7000, native_port=9042)
        config = write_configuration(library().parent / "tools", settings)
    return java(f"-Dcassandra.config={config.as_uri()}", TOOLS[name], *arguments)


def dump_all_command(pairs: Sequence[tuple[Path, Path]]) -> list[str]:
    """`sstabledump -t` of many Data.db files in one JVM. pairs: (Data.db, the .json.gz to write)."""
    paths = [str(path) for pair in pairs for path in pair]
    return java(str(KIT / "java" / "DumpAll.java"), *paths)


def leftovers_command() -> list[str]:
    """What a node does with unfinished transactions in folders that lines of stdin name: see the source."""
    return java(str(KIT / "java" / "Leftovers.java"))


def comparable_bytes_command() -> list[str]:
    """Byte-comparable forms for lines of stdin: see the source."""
    return java(str(KIT / "java" / "ComparableBytes.java"))
