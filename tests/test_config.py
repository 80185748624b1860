from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from flightsrv import config
from flightsrv.config import Address, TableFolder


def from_file(tmp_path, text):
    path = tmp_path / "flightsrv.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_need_no_source():
    settings = config.load({}, {})
    assert settings.listen == Address("127.0.0.1", 8815)
    assert settings.ops_listen == Address("127.0.0.1", 9815)
    assert settings.piece_bytes == 2 << 20
    assert 2 <= settings.max_concurrent_scans <= 64
    assert not settings.telemetry.push_metrics


def test_a_flag_wins_over_the_environment_and_that_over_the_file_and_that_over_the_default(tmp_path):
    path = from_file(tmp_path, "batch_rows = 3\nread_depth = 3\ndrain_s = 3.5")
    environ = {"FLIGHTSRV_BATCH_ROWS": "2", "FLIGHTSRV_READ_DEPTH": "2"}
    settings = config.load({"batch_rows": "1", "read_depth": None}, environ, path)
    assert (settings.batch_rows, settings.read_depth, settings.drain_s) == (1, 2, 3.5)


def test_the_file_may_be_named_by_a_variable(tmp_path):
    path = from_file(tmp_path, "read_depth = 7")
    assert config.load({}, {"FLIGHTSRV_CONFIG": str(path)}).read_depth == 7


def test_lists_come_as_repeated_flags_a_path_like_variable_or_a_list(tmp_path):
    both = (Path("/a"), Path("/b"))
    assert config.load({"data": ("/a", "/b")}, {}).data == both
    assert config.load({}, {"FLIGHTSRV_DATA": "/a:/b"}).data == both
    assert config.load({}, {}, from_file(tmp_path, 'data = ["/a", "/b"]')).data == both


def test_cqlite_flights_variables_are_honoured_behind_our_own():
    peer = {"CQLITE_MAX_CONCURRENT_SCANS": "5", "CQLITE_ADMISSION_WAIT_TIMEOUT_MS": "1500"}
    settings = config.load({}, peer)
    assert (settings.max_concurrent_scans, settings.admission_wait_s) == (5, 1.5)
    assert config.load({}, {**peer, "FLIGHTSRV_MAX_CONCURRENT_SCANS": "9"}).max_concurrent_scans == 9


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:8815", Address("0.0.0.0", 8815)),
        ("localhost:0", Address("localhost", 0)),
        ("[::]:8815", Address("::", 8815)),
    ],
)
def test_an_address_reads_back_as_it_was_written(text, address):
    parsed = config.load({"listen": text}, {}).listen
    assert parsed == address
    assert str(parsed) == text


def test_a_table_folder_names_its_table():
    settings = config.load({"tables": ("ks.t=/some/where",)}, {})
    assert settings.tables == (TableFolder("ks", "t", Path("/some/where")),)


@pytest.mark.parametrize(
    ("flags", "environ", "at_fault"),
    [
        ({"listen": "8815"}, {}, "--listen"),
        ({"listen": "host:70000"}, {}, "--listen"),
        ({"tables": ("t=/x",)}, {}, "--table"),
        ({"piece_bytes": "4096"}, {}, "--piece-bytes"),
        ({}, {"FLIGHTSRV_BATCH_ROWS": "many"}, "FLIGHTSRV_BATCH_ROWS"),
        ({}, {"FLIGHTSRV_DRAIN_S": "nan"}, "FLIGHTSRV_DRAIN_S"),
        ({}, {"CQLITE_MAX_CONCURRENT_SCANS": "0"}, "CQLITE_MAX_CONCURRENT_SCANS"),
        ({}, {"CQLITE_ADMISSION_WAIT_TIMEOUT_MS": "soon"}, "CQLITE_ADMISSION_WAIT_TIMEOUT_MS"),
        ({}, {"CQLITE_OTEL_ENABLED": "true", "CQLITE_OTEL_PROTOCOL": "http"}, "CQLITE_OTEL_PROTOCOL"),
    ],
)
def test_a_bad_value_names_where_it_stands(flags, environ, at_fault):
    with pytest.raises(click.UsageError, match=f"^{at_fault}: "):
        config.load(flags, environ)


@pytest.mark.parametrize("text", ["batch_row = 1", "data = '/a'", "= 1", "batch_rows = [1]"])
def test_a_bad_file_is_refused(tmp_path, text):
    with pytest.raises(click.UsageError):
        config.load({}, {}, from_file(tmp_path, text))


def test_a_command_gets_one_flag_for_each_setting():
    @click.command()
    @config.setting_flags
    def serve(**flags):
        settings = config.load(flags, {})
        click.echo(f"{settings.data} {settings.batch_rows}")

    shown = CliRunner().invoke(serve, ["--help"]).output
    for flag in ("[DATA]...", "--table", "--ddl", "--listen", "--max-concurrent-scans", "--drain-s"):
        assert flag in shown
    assert "telemetry" not in shown
    ran = CliRunner().invoke(serve, ["/a", "/b", "--batch-rows", "9"])
    assert ran.output == f"{(Path('/a'), Path('/b'))} 9\n"
    failed = CliRunner().invoke(serve, ["--batch-rows", "0"])
    assert failed.exit_code == 2
    assert "--batch-rows: '0' is not a whole number" in failed.output


@pytest.mark.parametrize(
    ("flag", "values"), [("arrow_types", ["compatible", "native"]), ("on_unrepresentable", ["error", "null", "text"])]
)
def test_a_choice_is_one_of_some_words(flag, values):
    for value in values:
        assert getattr(config.load({flag: value}, {}), flag) == value
    assert getattr(config.load({}, {}), flag) == values[0]
    with pytest.raises(click.UsageError, match=f"'Native' is none of {', '.join(values)}"):
        config.load({flag: "Native"}, {})
