"""Settings of all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# A law's time says nothing on a machine that does other things too; faulthandler_timeout still ends what hangs.
# CI draws the same few examples each time; who runs the tests by hand looks further.
IN_CI = bool(os.environ.get("CI"))
settings.register_profile(
    "laws",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI,
    max_examples=40 if IN_CI else 100,
)
settings.load_profile("laws")
# For laws that are repeated in every mode of the kernels (tests/kernels/test_modes.py).
settings.register_profile("quick", settings.get_profile("laws"), max_examples=10)

# A shell that runs tests in the background has them ignore Ctrl-C, and with them the processes they send it to.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kernels in other modes come first: while one worker compiles those, no two compile the same for the others."""
    items.sort(key=lambda item: item.path.name != "test_modes.py")
