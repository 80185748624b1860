"""A table put to the test: one file of it damaged, everything asked for, the file made whole again."""

from __future__ import annotations

from collections.abc import Iterator

from flightsrv.errors import SSTableError
from flightsrv.sstable.describe import describe
from tests.damage.damages import Damage
from tests.damage.outcomes import UNNOTICED, WRONG, Answer, Outcome, ask, outcome
from tests.damage.tables import Damageable
from tests.damage.unnoticed import reason_for


class Trial:
    """What a table answers whole, to compare with what it answers damaged."""

    def __init__(self, table: Damageable) -> None:
        self.name = table.name
        self._table = table
        self._whole = {name: (table.folder / name).read_bytes() for name in table.names}
        self._right: dict[str, Answer] = {}
        for name in table.names:
            for question, request in table.requests(component_of(name)).items():
                if question not in self._right:
                    self._right[question] = ask(table.settings, request)

    def files(self) -> list[str]:
        """All that can be damaged."""
        return list(self._whole)

    def size_of(self, file: str) -> int:
        return len(self._whole[file])

    def outcomes(self, file: str, damage: Damage) -> Iterator[tuple[str, Outcome]]:
        """What comes of one damage, for each question."""
        path = self._table.folder / file
        path.write_bytes(damage.of(self._whole[file]))
        try:
            for question, request in self._table.requests(component_of(file)).items():
                right = self._right[question]
                found = outcome(self._table.settings, request, right)
                yield question, self._excused(file, damage, found, right)
        finally:
            path.write_bytes(self._whole[file])

    def _excused(self, file: str, damage: Damage, found: Outcome, right: Answer) -> Outcome:
        if found.kind != WRONG or found.answer is None:
            return found
        reason = reason_for(component_of(file), self.field(file, damage), found.answer, right)
        return found if reason is None else Outcome(UNNOTICED, reason)

    def field(self, file: str, damage: Damage) -> str:
        """The field that a changed bit belongs to; of a cut, the first that is missing."""
        offset = damage.at if damage.is_cut else damage.at >> 3
        try:
            lines = list(describe(str(self._table.folder / file), self._whole[file]))
        except SSTableError:
            return ""
        return next((line.field for line in lines if line.offset <= offset < line.offset + line.size), "")


def component_of(file: str) -> str:
    """`Data.db` of `nb-1-big-Data.db`."""
    return file.rpartition("-")[2].rpartition("/")[2]
