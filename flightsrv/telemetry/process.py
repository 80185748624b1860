"""This process as Linux sees it: resident memory, threads, open files. Elsewhere there is nothing to read."""

from __future__ import annotations

from pathlib import Path

_STATUS = Path("/proc/self/status")
_FDS = Path("/proc/self/fd")


def rss_bytes() -> int | None:
    """Resident set size, or None where there is no /proc."""
    kibibytes = _status_field("VmRSS")
    return None if kibibytes is None else kibibytes * 1024


def thread_count() -> int | None:
    """Threads of the kernel's, Python's and C's alike, or None where there is no /proc."""
    return _status_field("Threads")


def fd_count() -> int | None:
    """Open file descriptors, without the one used to count them; None where there is no /proc."""
    try:
        return sum(1 for _ in _FDS.iterdir()) - 1
    except OSError:
        return None


def _status_field(name: str) -> int | None:
    """The number after `name:` in /proc/self/status."""
    try:
        text = _STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return None
