"""Prints the dashboard as Grafana reads it; how dashboards/flightsrv.json is made:

    python -m deploy.grafana.dashboard > deploy/grafana/dashboards/flightsrv.json

The panels are data in panels.py, because Grafana's JSON says each thing ten times. tests/deploy checks that the JSON is
current and evaluates every expression against a server.
"""

from __future__ import annotations

import json
from typing import Any

from deploy.grafana.panels import ROWS, Panel

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 24, 7
"""Grafana's grid has 24 columns; a panel is 7 of its rows high."""


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in ROWS:
        panels.append(row_json(title, len(panels) + 1, top))
        top += 1
        left = 0
        for panel in row:
            if left + panel.width > WIDTH:
                left, top = 0, top + HEIGHT
            panels.append(panel_json(panel, len(panels) + 1, left, top))
            left += panel.width
        top += HEIGHT
    return {
        "uid": "flightsrv",
        "title": "flightsrv",
        "description": "Cassandra SSTables over Arrow Flight: which stage is the bottleneck, and what clients see.",
        "tags": ["flightsrv"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [datasource_variable(), instance_variable()]},
        "panels": panels,
    }


def row_json(title: str, id: int, top: int) -> dict[str, Any]:
    place = {"h": 1, "w": WIDTH, "x": 0, "y": top}
    return {"id": id, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def panel_json(panel: Panel, id: int, left: int, top: int) -> dict[str, Any]:
    is_stat = panel.type == "stat"
    defaults: dict[str, Any] = {"unit": panel.unit, "min": 0}
    if panel.most is not None:
        defaults["max"] = panel.most
    if not is_stat:
        filled = 8 if panel.stacking == "none" else 40
        stacking = {"mode": panel.stacking, "group": "A"}
        defaults["custom"] = {"fillOpacity": filled, "lineWidth": 1, "stacking": stacking}
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True}
    return {
        "id": id,
        "type": panel.type,
        "title": panel.title,
        "description": panel.about,
        "datasource": DATASOURCE,
        "gridPos": {"h": HEIGHT, "w": panel.width, "x": left, "y": top},
        "fieldConfig": {"defaults": defaults, "overrides": [color_json(*each) for each in panel.colors.items()]},
        "options": panel.options or {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {
                "refId": chr(ord("A") + i),
                "datasource": DATASOURCE,
                "expr": expression,
                "legendFormat": legend_text,
                "instant": is_stat,
                "range": not is_stat,
            }
            for i, (expression, legend_text) in enumerate(panel.queries)
        ],
    }


def color_json(series: str, color: str) -> dict[str, Any]:
    return {
        "matcher": {"id": "byName", "options": series},
        "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": color}}],
    }


def datasource_variable() -> dict[str, Any]:
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "hide": 0}


def instance_variable() -> dict[str, Any]:
    query = "label_values(cqlite_rpc_requests_total, instance)"
    return {
        "name": "instance",
        "label": "Instance",
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": "instances"},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
        "sort": 1,
    }


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
