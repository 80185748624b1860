"""Dashboard and alerts, held against what a server says."""

import json
import math
import re
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from itertools import pairwise

import pytest
import yaml

from deploy.grafana.dashboard import dashboard
from flightsrv.telemetry.clocks import STAGES
from tests.deploy.metrics_text import read_metrics
from tests.deploy.promql import names_of
from tests.reference.fixtures import PROJECT
from tests.server.running import eventually

GRAFANA = PROJECT / "deploy/grafana"
PROMETHEUS = PROJECT / "deploy/prometheus"
DASHBOARD = json.loads((GRAFANA / "dashboards/flightsrv.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RULES = [rule for group in yaml.safe_load((PROMETHEUS / "rules.yml").read_text())["groups"] for rule in group["rules"]]

VARIABLES = {"__rate_interval": "10s", "instance": ".*"}
"""What Grafana puts in; VARIABLES of the dashboard are here and in its templating."""


def filled_in(expression):
    return re.sub(r"\$(\w+)", lambda found: VARIABLES[found[1]], expression)


QUERIES = [
    pytest.param(filled_in(target["expr"]), id=f"{panel['title']} {target['refId']}")
    for panel in PANELS
    for target in panel["targets"]
]
ALERTS = [pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES]


@pytest.fixture(scope="module")
def metrics(busy_server):
    return read_metrics(busy_server.get("/metrics")[1])


def test_the_dashboards_json_is_what_its_panels_say():
    assert dashboard() == DASHBOARD, "run python -m deploy.grafana.dashboard > deploy/grafana/dashboards/flightsrv.json"


@pytest.mark.parametrize("expression", QUERIES + ALERTS)
def test_metrics_labels_and_values_that_are_asked_for_are_there(metrics, expression):
    names = names_of(expression)
    known = set()
    for selector in names.selectors:
        assert selector.metric in metrics
        labels = metrics[selector.metric].labels
        known |= labels.keys()
        for label, _operator, value in selector.matchers:
            assert label in labels
            assert label == "instance" or set(value.split("|")) <= labels[label]
    assert names.labels <= known


@pytest.mark.parametrize("expression", QUERIES + ALERTS)
def test_what_only_grows_is_seen_as_a_rate_and_nothing_else_is(metrics, expression):
    for selector in names_of(expression).selectors:
        assert selector.ranged == metrics[selector.metric].is_counted, selector.metric


def test_legends_use_labels_that_their_queries_keep():
    for panel in PANELS:
        for target in panel["targets"]:
            kept = names_of(filled_in(target["expr"])).labels - {"le"}
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= kept, panel["title"]


def test_panels_have_ids_of_their_own_and_do_not_overlap():
    places = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & places, panel["title"]
        places |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert all(before < after for before, after in pairwise(ids))


def test_every_stage_has_a_panel_in_the_first_row():
    titles = [panel["title"] for panel in DASHBOARD["panels"]]
    start = titles.index(STAGES[0])
    assert tuple(titles[start : start + len(STAGES)]) == STAGES
    assert [panel["type"] for panel in DASHBOARD["panels"][1:start]].count("row") == 0


def test_what_grafana_is_provisioned_with_fits_together():
    compose = yaml.safe_load((PROJECT / "deploy/compose.yaml").read_text())
    (source,) = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    (provider,) = yaml.safe_load((GRAFANA / "provisioning/dashboards/flightsrv.yml").read_text())["providers"]
    scraped = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    assert source["type"] == DASHBOARD["templating"]["list"][0]["query"]
    assert source["url"] == "http://prometheus:9090"
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]
    assert f"./grafana/dashboards:{provider['options']['path']}:ro" in compose["services"]["grafana"]["volumes"]
    (target,) = scraped["scrape_configs"][0]["static_configs"][0]["targets"]
    assert target.split(":")[0] in compose["services"]


def test_images_are_pinned_by_a_version_and_name_no_registry():
    for name, service in yaml.safe_load((PROJECT / "deploy/compose.yaml").read_text())["services"].items():
        repository, tag = service["image"].split(":")
        assert re.fullmatch(r"v?\d+\.\d+\.\d+", tag), name
        assert "." not in repository.split("/")[0], name


def test_promtool_finds_nothing_wrong(tool, busy_server):
    promtool = tool("promtool", "prometheus")
    said = busy_server.get("/metrics")[1]
    for command, given in (
        (["check", "config", str(PROMETHEUS / "prometheus.yml")], ""),
        (["check", "rules", str(PROMETHEUS / "rules.yml")], ""),
        (["check", "metrics"], said),
    ):
        done = subprocess.run([promtool, *command], input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not done.stderr, done.stderr


def test_each_alert_fires_when_it_should_and_not_before(tool):
    cases = PROJECT / "tests/deploy/alerts.yml"
    tried = {
        case["alertname"] for test in yaml.safe_load(cases.read_text())["tests"] for case in test["alert_rule_test"]
    }
    assert tried == {rule["alert"] for rule in RULES}
    command = [tool("promtool", "prometheus"), "test", "rules", str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


class Prometheus:
    """A Prometheus under test."""

    def __init__(self, url):
        self.url = url

    def query(self, expression):
        """The samples of an instant query. Raises HTTPError with what is wrong with the expression."""
        parameters = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{parameters}", timeout=10) as answer:
            result = json.load(answer)["data"]["result"]
        return [sample for sample in result if not math.isnan(float(sample["value"][1]))]

    def is_ready(self):
        try:
            return bool(self.query('up{job="flightsrv"} == 1'))
        except urllib.error.URLError:
            return False


@pytest.fixture(scope="module")
def prometheus(tool, busy_server, tmp_path_factory):
    """Prometheus with our configuration, but for the target and a shorter interval."""
    program = tool("prometheus", "prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    configuration = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    configuration["rule_files"] = [str(PROMETHEUS / name) for name in configuration["rule_files"]]
    configuration["scrape_configs"][0]["static_configs"] = [{"targets": [busy_server.ops.removeprefix("http://")]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            started = Prometheus(f"http://{address}")
            eventually(started.is_ready, within_s=60)
            yield started
        finally:
            process.terminate()
            process.wait(20)


@pytest.mark.parametrize("expression", QUERIES)
def test_every_panel_shows_something_of_a_busy_server(prometheus, expression):
    eventually(lambda: prometheus.query(expression), within_s=30)


@pytest.mark.parametrize("expression", ALERTS)
def test_prometheus_understands_every_alert(prometheus, expression):
    prometheus.query(expression)


def test_the_bottleneck_is_one_stage(prometheus):
    (panel,) = [panel for panel in PANELS if panel["title"] == "Bottleneck"]
    (sample,) = eventually(lambda: prometheus.query(filled_in(panel["targets"][0]["expr"])), within_s=30)
    assert sample["metric"]["flightsrv_stage"] in STAGES
