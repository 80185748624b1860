"""How a kernel is compiled: without the GIL, cached, in one of three modes.

A kernel is a function over arrays and integers that opens nothing, raises nothing and allocates nothing. Write it in
the subset of Python that Numba compiles and put `@kernel` on it.

FLIGHTSRV_KERNELS chooses the mode of the process: `fast` (default), `checked` (array bounds are checked) or `python`
(nothing is compiled: to debug, and to test what the source says). Compiled code is cached below FLIGHTSRV_CACHE, by
default the user's cache folder, in a folder whose name carries the mode and a digest of all kernel sources: Numba's own
key knows neither, and would run stale or unchecked code (ARCHITECTURE.md, Kernels).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event

MODE = os.environ.get("FLIGHTSRV_KERNELS", "fast")
if MODE not in ("fast", "checked", "python"):
    raise SystemExit(f"FLIGHTSRV_KERNELS must be fast, checked or python, not {MODE!r}")


def source_digest() -> str:
    """SHA-256 over all kernel sources, the first 12 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def cache_folder() -> Path:
    """Where this process keeps compiled kernels."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    root = Path(os.environ.get("FLIGHTSRV_CACHE") or Path(user_cache, "flightsrv")).expanduser()
    return root / f"kernels-{MODE}-{source_digest()}"


KERNELS: list[Any] = []
"""Every compiled kernel of the process, in the order of import: what `flightsrv warm` goes through."""

if MODE != "python":
    numba.config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, or take it from the cache.

    A kernel that another calls becomes part of it (`forceinline`): passing its arrays would cost more than most of them
    do. Arrays are not reference-counted (`_nrt`), which a kernel that allocates nothing does not need: both together
    made decoding a row five times as fast. Hand a kernel np.int64(0), not 0: for a literal it is compiled once more,
    with all that it calls, which made the first compilation half as long again.

    One with a name that begins with _ is for other kernels only: it gets no wrapper, and Python crashes when it calls
    it. Wrappers took a quarter of the first compilation.
    """
    return _compiled(function, forceinline=True)


def outlined_kernel(function: Callable[..., Any]) -> Any:
    """Likewise, but one that its callers call: for what is long and seldom done, and would make each of them longer."""
    return _compiled(function, forceinline=False)


def _compiled(function: Callable[..., Any], forceinline: bool) -> Any:
    if MODE == "python":
        return function
    options: dict[str, Any] = {"_nrt": False, "forceinline": forceinline, "boundscheck": MODE == "checked"}
    if function.__name__.startswith("_"):
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled = numba.njit(nogil=True, cache=True, error_model="numpy", **options)(function)
    KERNELS.append(compiled)
    return compiled


@contextmanager
def watched_compiler(heard: Callable[[int], None]) -> Iterator[None]:
    """Tell, after each compilation in the body, by whatever thread, how many of KERNELS were compiled in it by then."""
    compiled = set()

    class Listener(event.Listener):
        def on_start(self, _event: event.Event) -> None:
            pass

        def on_end(self, ended: event.Event) -> None:
            if ended.data["dispatcher"] in KERNELS:
                compiled.add(ended.data["dispatcher"])
                heard(len(compiled))

    with event.install_listener("numba:compile", Listener()):
        yield
