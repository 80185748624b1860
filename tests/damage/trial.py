"""A table put to the test: one file of it damaged, everything asked for, the file made whole again."""

from __future__ import annotations

from collections.abc import Iterator

from flightsrv.errors import SSTableError
from flightsrv.sstable.cursor import Line
from flightsrv.sstable.describe import describe
from tests.damage.damages import Damage
from tests.damage.outcomes import UNNOTICED, WRONG, Answer, Outcome, ask, outcome
from tests.damage.tables import Damageable
from tests.damage.unnoticed import reason_for

TEXTS = (".cql", ".json", ".log")


class Trial:
    """What a table answers whole, to compare with what it answers damaged."""

    def __init__(self, table: Damageable) -> None:
        self.name = table.folder.name
        self._table = table
        self._whole = {file: (table.folder / file).read_bytes() for file in table.files}
        self._fields: dict[str, list[Line]] = {}
        self._right = {each.name: ask(table.settings, each.request) for each in table.questions}

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
            for question in self._table.asked_of(file):
                right = self._right[question.name]
                found = outcome(self._table.settings, question.request, right)
                yield question.name, self._excused(file, damage, found, right)
        finally:
            path.write_bytes(self._whole[file])

    def _excused(self, file: str, damage: Damage, found: Outcome, right: Answer) -> Outcome:
        if found.kind != WRONG or found.answer is None:
            return found
        reason = reason_for(file, self.field(file, damage), found.answer, right)
        return found if reason is None else Outcome(UNNOTICED, reason)

    def field(self, file: str, damage: Damage) -> str:
        """The field that a changed bit belongs to; of a cut, the first that is missing. Of a text it is the line."""
        offset = damage.at if damage.is_cut else damage.at >> 3
        whole = self._whole[file]
        if file.endswith(TEXTS):
            return whole[whole.rfind(b"\n", 0, offset) + 1 :].partition(b"\n")[0].decode()
        return next((line.field for line in self._lines(file) if line.offset <= offset < line.offset + line.size), "")

    def _lines(self, file: str) -> list[Line]:
        """The fields of a component, as far as they can be told without others."""
        if file not in self._fields:
            try:
                self._fields[file] = list(describe(str(self._table.folder / file), self._whole[file]))
            except SSTableError:
                self._fields[file] = []
        return self._fields[file]
