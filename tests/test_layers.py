"""Imports go one way, as .importlinter says."""

from importlinter.cli import lint_imports

from tests.reference.fixtures import PROJECT


def test_imports_go_one_way(monkeypatch, capsys):
    monkeypatch.chdir(PROJECT)
    status = lint_imports(config_filename=str(PROJECT / ".importlinter"), no_cache=True, no_logo=True)
    assert status == 0, capsys.readouterr().out
