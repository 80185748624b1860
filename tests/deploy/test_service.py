"""The systemd unit, as far as it can be checked where it does not run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flightsrv import config
from flightsrv.cli import flightsrv
from tests.deploy.dockerfile import environment, instructions, last_stage
from tests.reference.fixtures import PROJECT

UNIT = PROJECT / "deploy/flightsrv.service"
TEXT = UNIT.read_text()


def values(key):
    return re.findall(rf"^{key}=(.*)$", TEXT, re.MULTILINE)


def settings_of(command_line, environ):
    """What a command line and its environment would serve with; the command line is parsed as the program does."""
    program, name, *arguments = command_line
    assert Path(program).name == "flightsrv"
    given = flightsrv.commands[name].make_context(name, arguments).params
    return config.load(given, environ, given.pop("file"))


@pytest.fixture
def unit(tmp_path):
    """The unit with a program that is there, which systemd looks for."""
    (program,) = [value.split()[0] for value in values("ExecStart")]
    copied = tmp_path / UNIT.name
    copied.write_text(TEXT.replace(program, sys.executable))
    return copied


def systemd_analyze(*arguments):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("there is no systemd-analyze here")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


def test_every_line_is_a_section_a_comment_or_a_key_with_its_value():
    sections = re.findall(r"^\[(\w+)\]$", TEXT, re.MULTILINE)
    assert sections == ["Unit", "Service", "Install"]
    for line in TEXT.splitlines():
        assert re.fullmatch(r"|#.*|\[\w+\]|[A-Z]\w+=.*", line), line


def test_systemd_finds_nothing_wrong(unit):
    done = systemd_analyze("verify", str(unit))
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_thinks_it_is_exposed_little(unit):
    done = systemd_analyze("security", "--offline=true", "--threshold=20", str(unit))
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_it_runs_is_accepted_and_serves_cassandras_folder_to_this_machine():
    (command_line,) = values("ExecStart")
    settings = settings_of(command_line.split(), dict(value.split("=", 1) for value in values("Environment")))
    assert settings.data == (Path("/var/lib/cassandra/data"),)
    assert settings.listen.host == settings.ops_listen.host == "127.0.0.1"


def test_its_cache_is_its_own_and_it_has_time_to_stop():
    assert f"FLIGHTSRV_CACHE=%C/{values('CacheDirectory')[0]}" in values("Environment")
    assert values("CacheDirectoryMode") == ["0700"]
    assert int(values("TimeoutStopSec")[0]) > config.Settings().drain_s + 5


def test_code_may_be_compiled():
    assert values("MemoryDenyWriteExecute") == []


def test_what_the_image_runs_is_accepted_and_serves_the_mounted_folder():
    image = dict(last_stage(instructions(PROJECT / "Dockerfile")))
    command_line = re.findall(r'"([^"]+)"', image["ENTRYPOINT"] + image["CMD"])
    environ = environment(last_stage(instructions(PROJECT / "Dockerfile")))
    assert settings_of(command_line, environ).data == (Path("/data"),)
