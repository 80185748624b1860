"""The server that tests of the command line have, too."""

from tests.cli.conftest import served, tables

__all__ = ["served", "tables"]
