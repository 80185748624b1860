"""What a kernel says when it stops: zlib's contract."""

from __future__ import annotations

DONE = 0
"""All input was used, or what was asked for is complete."""
NEED_INPUT = 1
"""Come back with the same bytes from `stopped_at` on, and more behind them."""
OUTPUT_FULL = 2
"""Take what was made, come back from `stopped_at` on."""
CORRUPT = 3
"""The bytes at `stopped_at` cannot be what the format says."""
NEED_ROOM = 4
"""Come back with more memory for what is made."""
