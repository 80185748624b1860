"""Imports go one way, as .importlinter says; and what it cannot say: names, and what parsers and kernels keep from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

from tests.reference.fixtures import PROJECT

SOURCES = sorted(PROJECT.glob("flightsrv/**/*.py")) + sorted(PROJECT.glob("corpus/**/*.py"))
ONLY_BYTES = ("arrow", "cql", "kernels", "sstable", "stages")
OPENS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "fromfile", "memmap"}
READ_THEIR_OWN = {"jit.py", "grammar.py"}
"""The kernels' sources, for their digest; the grammar of CQL, which is a file of the package."""
SAYS_NOTHING = {"util", "utils", "common", "helper", "helpers", "base", "manager", "core", "misc"}
ALLOCATES = {"zeros", "empty", "full", "ones", "array", "arange", "concatenate", "append", "tobytes"}


def test_imports_go_one_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(PROJECT)
    status = lint_imports(config_filename=str(PROJECT / ".importlinter"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out


def test_every_module_is_named_after_its_subject() -> None:
    """A module that says nothing of what is in it gathers what belongs elsewhere."""
    words = {path: set(path.relative_to(PROJECT).with_suffix("").parts) for path in SOURCES}
    assert [str(path.relative_to(PROJECT)) for path, names in words.items() if names & SAYS_NOTHING] == []


def calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The last name of each function called, and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield name, node.lineno


@pytest.mark.parametrize("package", ONLY_BYTES)
def test_what_works_on_bytes_opens_no_file(package: str) -> None:
    """Whoever calls it decides where bytes come from: a disk, a test, a network."""
    found = [
        f"{path.relative_to(PROJECT)}:{line} {name}"
        for path in sorted(PROJECT.glob(f"flightsrv/{package}/**/*.py"))
        if path.name not in READ_THEIR_OWN
        for name, line in calls(ast.parse(path.read_text()))
        if name in OPENS
    ]
    assert found == []


def kernels_of(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and any(
            getattr(each, "id", "") in ("kernel", "outlined_kernel") for each in node.decorator_list
        ):
            yield node


def test_kernels_raise_nothing_and_allocate_nothing() -> None:
    """They run without the GIL, over memory and statuses that their callers own."""
    found = [
        f"{path.name}:{node.lineno} {kernel.name}"
        for path in SOURCES
        for kernel in kernels_of(path)
        for node in ast.walk(kernel)
        if isinstance(
            node, ast.Raise | ast.Try | ast.List | ast.Dict | ast.Set | ast.ListComp | ast.With | ast.JoinedStr
        )
    ]
    found += [
        f"{path.name}:{line} {kernel.name} calls {name}"
        for path in SOURCES
        for kernel in kernels_of(path)
        for name, line in calls(kernel)
        if name in ALLOCATES
    ]
    assert found == []


def test_kernels_that_begin_with_an_underscore_are_called_by_kernels_alone() -> None:
    """Python has no way to call them (kernels.jit.kernel)."""
    found = []
    for path in SOURCES + sorted(PROJECT.glob("tests/**/*.py")):
        kernels = list(kernels_of(path))
        inner = {kernel.name for kernel in kernels if kernel.name.startswith("_")}
        by_kernels = {(name, line) for kernel in kernels for name, line in calls(kernel)}
        found += [
            f"{path.name}:{line} {name}"
            for name, line in calls(ast.parse(path.read_text()))
            if name in inner and (name, line) not in by_kernels
        ]
        found += [
            f"{path.name}:{node.lineno} {alias.name}"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and "kernels" in (node.module or "")
            for alias in node.names
            if alias.name.startswith("_")
        ]
    assert found == []
