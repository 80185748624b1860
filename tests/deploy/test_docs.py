"""What ARCHITECTURE.md and docs/ say, held against the code."""

import re
import tomllib
from dataclasses import fields

import pytest

from docs.tables import COMPUTED, FILES, FOLDER, TABLES, with_tables
from flightsrv import config
from flightsrv.scan.request import ScanRequest
from flightsrv.server import tickets
from flightsrv.server.do_get import STAGES_TRAILER
from flightsrv.telemetry.clocks import STAGES
from tests.reference.fixtures import PROJECT

ARCHITECTURE = (PROJECT / "ARCHITECTURE.md").read_text()
OPERATIONS = (FOLDER / "operations.md").read_text()
PROTOCOL = (FOLDER / "protocol.md").read_text()


@pytest.mark.parametrize("file", FILES)
def test_tables_say_what_the_code_says(file):
    text = (FOLDER / file).read_text()
    assert with_tables(text) == text, "run python -m docs.tables"


def test_every_table_stands_somewhere():
    assert set(re.findall(r"<!-- table: (\w+) -->", OPERATIONS + PROTOCOL)) == TABLES.keys()


def test_defaults_that_depend_on_the_machine_are_as_told():
    cores = config._cores()
    as_told = {
        "disk_threads": max(8, 2 * cores),
        "cpu_threads": max(1, cores - 1),
        "max_concurrent_scans": min(max(2, 2 * cores), 64),
    }
    settings = config.load({}, {})
    assert {name: getattr(settings, name) for name in COMPUTED} == as_told


def test_every_field_of_a_ticket_is_told():
    (section,) = re.findall(r"## Ticket\n(.*?)\n## ", PROTOCOL, re.DOTALL)
    told = {name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    read = {field.name for field in fields(ScanRequest)} | {"version", "wraparound"} | set(tickets._NOT_SERVED)
    assert told == read


def test_every_metric_is_told_with_its_labels_and_its_meaning(busy_server):
    text = busy_server.get("/metrics")[1]
    is_there = {}
    for name, about in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE):
        samples = re.findall(rf"^{name}(?:_bucket|_count|_sum)?\{{(.*?)\}} ", text, re.MULTILINE)
        labels = {label for sample in samples for label in re.findall(r'(\w+)="', sample)}
        is_there[name] = ({label for label in labels if not label.startswith("otel_")} - {"le"}, about)
    del is_there["target_info"]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| (.*) \|$", OPERATIONS, re.MULTILINE)
    told = {
        name: (set(re.findall(r"`(\w+)`", labels)), about) for name, labels, about in rows if "FLIGHTSRV" not in name
    }
    assert told == is_there


def test_the_trailer_is_told():
    assert f"`{STAGES_TRAILER}`" in PROTOCOL
    assert all(f'"{stage}": {{' in PROTOCOL for stage in STAGES)


def test_the_architecture_is_short_and_names_what_is_there():
    source = "\n".join(path.read_text() for path in PROJECT.glob("flightsrv/**/*.py"))
    assert len(ARCHITECTURE.splitlines()) <= 200
    for limit in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", ARCHITECTURE):
        assert limit in source, limit
    for path in re.findall(r"\b((?:\w+/)+\w+\.\w+)\b", ARCHITECTURE):
        assert (PROJECT / path).exists() or (PROJECT / "flightsrv" / path).exists(), path


def test_the_architecture_says_why_each_package_is_needed():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    (reasons,) = re.findall(r"^\d+\. \*\*Packages\*\*.*?(?=^\d+\. )", ARCHITECTURE, re.DOTALL | re.MULTILINE)
    for requirement in project["dependencies"]:
        assert re.split(r"[<>=]", requirement)[0] in reasons
