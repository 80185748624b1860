"""The tables of docs/*.md that say what the code says. `python -m docs.tables` writes them; a test checks them.

In a file, the table NAME stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from flightsrv.arrow.types import NATIVE_TYPES, PUSHDOWN, SIMPLE_TYPES
from flightsrv.config import Settings
from flightsrv.errors import FlightsrvError, NotServedError, SchemaError
from flightsrv.scan.request import ScanRequest
from flightsrv.server.admission import AdmissionError
from flightsrv.server.statuses import GONE, ClientGoneError, Failure, failure_of

FOLDER = Path(__file__).parent
FILES = ("operations.md", "protocol.md")

COMPUTED = {
    "disk_threads": "twice the cores, 8 at least",
    "cpu_threads": "the cores less one, 1 at least",
    "max_concurrent_scans": "twice the cores, 2 to 64",
}
"""Defaults that are another on each machine."""

NESTED_TYPES = {
    "list, set": ("List(item)", ""),
    "vector": ("List(item)", "FixedSizeList(item)"),
    "map": ("Map(entries: key, value)", ""),
    "tuple": ("Struct(field_0, field_1, …)", ""),
    "user-defined": ("Struct of its fields", ""),
}
"""Their Arrow types, and the native ones where they are others."""

ARROW_NAMES = {
    "string": "Utf8",
    "bool": "Boolean",
    "float": "Float32",
    "double": "Float64",
    "date32[day]": "Date32",
    "fixed_size_binary[16]": "FixedSizeBinary(16), as `arrow.uuid`",
    str(NATIVE_TYPES["duration"]): "Struct(months: Int32, days: Int32, nanoseconds: Int64)",
}
"""What pyarrow calls otherwise than Arrow's own documents do."""


def settings_table() -> str:
    rows = []
    for setting in fields(Settings):
        if setting.metadata:
            flag = "DATA…" if setting.name == "data" else "--" + _flag_name(setting.name)
            variable = f"FLIGHTSRV_{setting.name.upper()}"
            about = setting.metadata["help"].replace("<", "&lt;")
            rows.append([f"`{flag}`", f"`{variable}`", _default(setting), about])
    return _table(["flag", "variable", "default", "what it is"], rows)


def statuses_table() -> str:
    """Every error of the tree, and how its RPC ends."""
    in_tree = [kind for kind in _tree(FlightsrvError) if kind.__module__ == FlightsrvError.__module__]
    rows = [_status_row(kind, None) for kind in (*in_tree[1:], AdmissionError)]
    rows.append(_status_row(NotServedError, ScanRequest("ks", "t", snapshot="s"), " It is a snapshot."))
    rows.append(_status_row(SchemaError, ScanRequest("ks", "t", ddl="…"), " The ticket brings its DDL."))
    rows.append([*_outcome(GONE), _about(ClientGoneError)])
    unexpected = "Anything else: a fault of the server's. The client sees an id, under which the log has the traceback."
    rows.append([*_outcome(failure_of(RuntimeError(), None)), unexpected])
    return _table(["status", "category", "reason", "cause"], sorted(rows))


def types_table() -> str:
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for kind, into in SIMPLE_TYPES.items():
        native = _arrow_name(str(NATIVE_TYPES[kind])) if kind in NATIVE_TYPES else ""
        pushdown = PUSHDOWN.get(kind, b"none").decode()
        kinds.setdefault((_arrow_name(str(into)), native, pushdown), []).append(kind)
    rows = [[", ".join(names), *row] for row, names in kinds.items()]
    rows += [[name, *into, "none"] for name, into in NESTED_TYPES.items()]
    return _table(["CQL", "compatible", "native", "`cqlite:pushdown`"], rows)


TABLES = {"settings": settings_table, "statuses": statuses_table, "types": types_table}


def with_tables(text: str) -> str:
    """A file's text with its tables as they should be."""

    def renewed(found: re.Match[str]) -> str:
        return f"{found[1]}\n{TABLES[found[2]]()}{found[3]}"

    return re.sub(r"(<!-- table: (\w+) -->)\n.*?(<!-- end -->)", renewed, text, flags=re.DOTALL)


def _flag_name(name: str) -> str:
    return "table" if name == "tables" else name.replace("_", "-")


def _default(setting: Field[Any]) -> str:
    if setting.default_factory is not MISSING:
        return COMPUTED[setting.name]
    if setting.default in (None, ()):
        return "—"
    return str(setting.default)


def _tree(kind: type[FlightsrvError]) -> Iterator[type[FlightsrvError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


def _status_row(kind: type[FlightsrvError], request: ScanRequest | None, more: str = "") -> list[str]:
    return [*_outcome(failure_of(kind.__new__(kind), request)), _about(kind) + more]


def _about(kind: type[FlightsrvError]) -> str:
    """The first paragraph of its docstring."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


def _outcome(failure: Failure) -> list[str]:
    return [failure.code.name, failure.category, failure.reason]


def _arrow_name(name: str) -> str:
    parameters = re.sub(r"\[(.*)\]$", r"(\1)", name)
    return ARROW_NAMES.get(name, parameters[0].upper() + parameters[1:])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    for file in FILES:
        path = FOLDER / file
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
