"""The kernels' tests once more with bounds checked, and with nothing compiled: one source, three ways to run it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.reference.fixtures import PROJECT


@pytest.mark.timeout(900)  # checked kernels are compiled on the first run
@pytest.mark.parametrize(("mode", "selection"), [("checked", ""), ("python", "not flipped and not ends_early")])
def test_kernels_do_the_same_in_every_mode(mode: str, selection: str) -> None:
    arguments = [
        "pytest",
        "-m",
        "kernel",
        "-k",
        selection,
        "--hypothesis-profile=quick",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", *arguments, "tests/kernels", "tests/stages"],
        env=os.environ | {"FLIGHTSRV_KERNELS": mode},
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
