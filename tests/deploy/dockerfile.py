"""A Dockerfile as a list of instructions."""

from __future__ import annotations

import re
import shlex
from pathlib import Path


def instructions(path: Path) -> list[tuple[str, str]]:
    """(INSTRUCTION, its text), continued lines joined and comments left out."""
    lines = [line for line in path.read_text().splitlines() if not re.match(r"\s*#", line)]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in joined.splitlines() if line.strip()]


def last_stage(all_of_them: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What makes the image, from its FROM on."""
    start = max(i for i, (name, _text) in enumerate(all_of_them) if name == "FROM")
    return all_of_them[start:]


def environment(stage: list[tuple[str, str]]) -> dict[str, str]:
    """What ENV sets."""
    pairs = [pair for name, text in stage if name == "ENV" for pair in shlex.split(text)]
    return dict(pair.split("=", 1) for pair in pairs)
