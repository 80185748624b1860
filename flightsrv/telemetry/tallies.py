"""Counts that cost an addition: plain numbers by attribute values, read by OpenTelemetry when it collects.

A counter of OpenTelemetry takes a lock and builds a key at every `add`. A tally is added to by one thread, the event
loop's, and observed by whichever thread collects. What a tally knows beforehand is there with 0 from the start, so
that a rate or an alert over it has something to look at.
"""

from __future__ import annotations

from collections.abc import Iterable

from opentelemetry.metrics import CallbackOptions, Observation


class Tally:
    """One number for each combination of the values of `keys`."""

    def __init__(self, keys: tuple[str, ...] = (), known: Iterable[tuple[str, ...]] = ((),)) -> None:
        self._keys = keys
        self._amounts: dict[tuple[str, ...], float] = dict.fromkeys(known, 0)

    def add(self, amount: float, *values: str) -> None:
        """Add to the number of `values`, one for each key; an empty value leaves its attribute away."""
        self._amounts[values] = self._amounts.get(values, 0) + amount

    def observe(self, _options: CallbackOptions) -> list[Observation]:
        return [Observation(amount, self._attributes(values)) for values, amount in list(self._amounts.items())]

    def _attributes(self, values: tuple[str, ...]) -> dict[str, str]:
        return {key: value for key, value in zip(self._keys, values, strict=True) if value}
