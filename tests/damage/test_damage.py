"""Every prefix and every changed bit of any component: the right rows or an error that names the file, in no time.

Here some of them; `python -m tests.damage --all` tries them all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.damage.damages import Damage, every, some
from tests.damage.outcomes import WRONG, bounded_memory, peak_bytes
from tests.damage.tables import TABLES
from tests.damage.trial import Trial

A_FILE = 10
"""How many damages of each file are tried."""
MOST_BYTES = 128 << 20
"""Memory that a process may take more for them, kernels that it loads included."""


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_file_is_an_error_or_costs_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    trial = Trial(TABLES[name](folder))
    before = peak_bytes()
    with bounded_memory():
        wrong = [
            f"{file}, {damage}, {trial.field(file, damage)}: {question}: {found.text}"
            for file in trial.files()
            for damage in some(trial.size_of(file), A_FILE)
            for question, found in trial.outcomes(file, damage)
            if found.kind == WRONG
        ]
    assert not wrong, "\n".join(wrong)
    assert peak_bytes() - before < MOST_BYTES


def test_every_damage_is_every_prefix_and_every_bit() -> None:
    whole = b"\x00\xff\x10"
    assert [damage.of(whole) for damage in every(3) if damage.is_cut] == [b"", b"\x00", b"\x00\xff"]
    flipped = {damage.of(whole) for damage in every(3) if not damage.is_cut}
    assert len(flipped) == 24
    assert all((int.from_bytes(each) ^ int.from_bytes(whole)).bit_count() == 1 for each in flipped)


@pytest.mark.parametrize("size", [0, 1, 5, 6, 100, 100_000])
def test_some_damages_are_few_and_reach_both_ends(size: int) -> None:
    found = list(some(size, 50))
    assert len(found) == min(50, 9 * size)
    assert set(found) <= set(every(size))
    if size:
        assert {Damage(True, 0), Damage(True, size - 1), Damage(False, 0), Damage(False, 8 * size - 1)} <= set(found)
