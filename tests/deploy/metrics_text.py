"""Prometheus text, read as far as to check expressions against it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)
_HISTOGRAM_PARTS = ("_bucket", "_count", "_sum")


@dataclass
class Metric:
    """One name a sample may have."""

    labels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Values of each label."""
    is_counted: bool = False
    """Only ever grows: a counter, or a part of a histogram."""


def read_metrics(text: str) -> dict[str, Metric]:
    """What a server says, and what Prometheus adds when it scrapes it."""
    types = dict(_TYPE.findall(text))
    metrics: dict[str, Metric] = defaultdict(Metric)
    for name, labels in _SAMPLE.findall(text):
        family = next((name.removesuffix(part) for part in _HISTOGRAM_PARTS if name.endswith(part)), name)
        metrics[name].is_counted = types.get(name) == "counter" or types.get(family) == "histogram"
        for label, value in _LABEL.findall(labels):
            metrics[name].labels[label].add(value)
    metrics["up"] = Metric()  # Prometheus's own
    for metric in metrics.values():
        metric.labels |= {"job": {"flightsrv"}, "instance": set()}
    return dict(metrics)
