"""As much of PromQL as tells which metrics and labels an expression names."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>\d[\w.]*)|(?P<name>[a-zA-Z_:][\w:]*)|(?P<mark>[=!]~|[=!<>]=|\S))"""
)
_WITH_LABELS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_AGGREGATIONS = {"sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile", "stddev", "group", "count_values"}
_WORDS = {"and", "or", "unless", "offset", "bool", "inf", "nan"}


@dataclass(frozen=True)
class Selector:
    """metric{matchers}, with [range] or without."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]
    """(label, operator, value)."""
    ranged: bool


@dataclass(frozen=True)
class Names:
    """What an expression names."""

    selectors: tuple[Selector, ...]
    labels: frozenset[str]
    """Of by, without, on and ignoring."""


def names_of(expression: str) -> Names:
    tokens = list(_TOKEN.finditer(expression.strip()))
    assert "".join(found.group() for found in tokens) == expression.strip(), f"not understood: {expression}"
    texts = [found.group(found.lastgroup or 0) for found in tokens]
    kinds = [found.lastgroup for found in tokens]
    selectors, labels, at = [], set(), 0
    while at < len(texts):
        following = texts[at + 1] if at + 1 < len(texts) else ""
        if kinds[at] == "mark" and texts[at] == "[":
            at = texts.index("]", at)
        elif kinds[at] == "name" and texts[at] in _WITH_LABELS:
            end = texts.index(")", at)
            labels.update(text for text in texts[at + 2 : end] if text != ",")
            at = end
        elif kinds[at] == "name" and following != "(" and texts[at] not in _AGGREGATIONS | _WORDS:
            end = texts.index("}", at) if following == "{" else at
            ranged = end + 1 < len(texts) and texts[end + 1] == "["
            selectors.append(Selector(texts[at], _matchers(texts[at + 2 : end]), ranged))
            at = end
        at += 1
    return Names(tuple(selectors), frozenset(labels))


def _matchers(texts: list[str]) -> tuple[tuple[str, str, str], ...]:
    """From the tokens between the braces."""
    items = [text for text in texts if text != ","]
    return tuple((items[i], items[i + 1], items[i + 2][1:-1]) for i in range(0, len(items), 3))
