"""What both are asked: a SELECT for Cassandra, a scan for us."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from flightsrv.config import ArrowTypes
from flightsrv.cql.types import quoted
from flightsrv.scan.request import ScanRequest
from tests.reference.model import Complex, Partition, Row

FAR_FUTURE_S = 40 * 365 * 86_400
EDGES, PARTS = 2, 6


@dataclass(frozen=True, slots=True)
class Question:
    keyspace: str
    table: str
    now_s: int
    columns: tuple[str, ...] | None = None
    token_start: int | None = None
    token_end: int | None = None
    limit: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.columns is self.token_start is self.token_end is self.limit is None

    def with_part_of(self, other: Question, columns: Container[str]) -> Question:
        """The same part of this table. columns: it has."""
        kept = None if other.columns is None else tuple(name for name in other.columns if name in columns)
        return replace(other, keyspace=self.keyspace, table=self.table, now_s=self.now_s, columns=kept or None)

    def request(self, columns: Sequence[str] | None = None, types: ArrowTypes | None = None) -> ScanRequest:
        """The scan; columns: those of `columns` that Arrow can hold in these types."""
        return ScanRequest(
            self.keyspace,
            self.table,
            token_start=self.token_start,
            token_end=self.token_end,
            columns=None if columns is None else tuple(columns),
            limit=self.limit,
            now_s=self.now_s,
            types=types,
        )

    def cql(self, partition_key: Sequence[str]) -> str:
        """The SELECT, of all columns."""
        token = f"token({', '.join(map(quoted, partition_key))})"
        bounds = [
            *([] if self.token_start is None else [f"{token} > {self.token_start}"]),
            *([] if self.token_end is None else [f"{token} <= {self.token_end}"]),
        ]
        where = f" WHERE {' AND '.join(bounds)}" if bounds else ""
        limit = "" if self.limit is None else f" LIMIT {self.limit}"
        return f"SELECT * FROM {self.keyspace}.{self.table}{where}{limit}"


def expiries_of(partitions: Sequence[Partition]) -> set[int]:
    """The seconds at which something in these partitions expires."""
    return {at_s for partition in partitions for at_s in _expiries(partition) if at_s is not None}


def _expiries(partition: Partition) -> Iterator[int | None]:
    for row in [*([partition.static] if partition.static else []), *partition.unfiltered]:
        if isinstance(row, Row):
            yield row.liveness.expires_s if row.liveness else None
            for column in row.columns.values():
                cells = column.cells if isinstance(column, Complex) else (column,)
                yield from (cell.local_s for cell in cells if cell.ttl_s)


def draw_questions(
    random: Random, whole: Question, columns: Sequence[str], tokens: Sequence[int], expiries: set[int]
) -> list[Question]:
    """The whole table now, just before and when something expires, and when all has; parts of it now.

    columns: the table's; tokens: of its partitions, ascending. No second before the last write is asked about:
    Cassandra shows a row whose deletions are all to come as it is.
    """
    keyspace, table, now_s = whole.keyspace, whole.table, whole.now_s
    to_come = sorted(at_s for at_s in expiries if at_s > now_s)
    edges = random.sample(to_come, min(EDGES, len(to_come)))
    moments = [at_s - before for at_s in edges for before in (1, 0)] + [now_s + FAR_FUTURE_S]
    questions = [whole, *(Question(keyspace, table, at_s) for at_s in moments)]
    for _ in range(PARTS):
        start, end = sorted(random.choice([*tokens, 0]) + random.choice([-1, 0]) for _ in range(2))
        some = tuple(name for name in columns if random.random() < 0.5)
        questions.append(
            Question(
                keyspace,
                table,
                now_s,
                columns=(some or None) if random.random() < 0.7 else None,
                token_start=start if random.random() < 0.6 else None,
                token_end=end if start < end and random.random() < 0.6 else None,
                limit=random.randint(1, 30) if random.random() < 0.3 else None,
            )
        )
    return questions
