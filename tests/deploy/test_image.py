"""The Dockerfile, as far as it can be checked where no Docker is."""

import re
from fnmatch import fnmatch

import yaml

from flightsrv import config
from tests.deploy.dockerfile import environment, instructions, last_stage
from tests.reference.fixtures import PROJECT

ALL = instructions(PROJECT / "Dockerfile")
IMAGE = last_stage(ALL)
ENVIRONMENT = environment(IMAGE)


def texts(stage, wanted):
    return [text for name, text in stage if name == wanted]


def test_images_are_pinned_by_a_version_and_name_no_registry():
    for text in texts(ALL, "FROM"):
        assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+( AS \w+)?", text)


def test_what_is_copied_is_there_and_not_ignored():
    rules = [line for line in (PROJECT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    for text in texts(ALL, "COPY"):
        *sources, _target = text.split()
        for source in sources if not text.startswith("--from") else []:
            assert (PROJECT / source).exists(), source
            kept = [rule.startswith("!") for rule in rules if fnmatch(source, rule.removeprefix("!"))]
            assert kept[-1], source


def test_what_is_installed_is_what_the_lock_says():
    installs = [text for text in texts(ALL, "RUN") if "pip install" in text]
    assert any("--require-hashes --requirement requirements.lock" in text for text in installs)
    assert any("--no-deps ." in text for text in installs)


def test_the_server_is_not_root_and_its_kernels_are_its_own():
    names = [name for name, _text in IMAGE]
    (user,) = texts(IMAGE, "USER")
    assert int(user.split(":")[0]) >= 10_000
    assert names.index("USER") < names.index("CMD")
    (warm,) = [i for i, (name, text) in enumerate(IMAGE) if name == "RUN" and text == "flightsrv warm"]
    assert names.index("USER") < warm
    made = " ".join(text for name, text in IMAGE[: names.index("USER")] if name == "RUN")
    assert f"--owner=flightsrv --group=flightsrv --mode=0700 {ENVIRONMENT['FLIGHTSRV_CACHE']}" in made
    assert f"--uid {user.split(':')[0]} " in made


def test_its_settings_are_settings_and_its_ports_the_usual_ones():
    settings = config.load({}, ENVIRONMENT)
    assert (settings.listen.port, settings.ops_listen.port) == (config.Settings().listen.port, 9815)
    assert {settings.listen.host, settings.ops_listen.host} == {"0.0.0.0"}
    assert texts(IMAGE, "EXPOSE") == [f"{settings.listen.port} {settings.ops_listen.port}"]
    known = {f"FLIGHTSRV_{name}".upper() for name in config.Settings.__dataclass_fields__} | {"FLIGHTSRV_CACHE"}
    assert {name for name in ENVIRONMENT if name.startswith("FLIGHTSRV_")} <= known


def test_its_health_is_what_the_ops_port_says():
    (check,) = texts(IMAGE, "HEALTHCHECK")
    assert f"http://127.0.0.1:{config.Settings().ops_listen.port}/readyz" in check


def test_compose_lets_it_write_to_its_cache():
    """Numba refuses to import a kernel whose cache folder cannot be written to."""
    service = yaml.safe_load((PROJECT / "deploy/compose.yaml").read_text())["services"]["flightsrv"]
    writable = not service.get("read_only", False)
    assert writable or any(ENVIRONMENT["FLIGHTSRV_CACHE"] in volume for volume in service["volumes"])
