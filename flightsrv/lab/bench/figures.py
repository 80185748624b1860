"""Which figures there are, of which tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from corpus import collections, mixed, sparse, wide
from flightsrv.lab.bench import measures
from flightsrv.lab.bench.measures import Measured, Tell
from flightsrv.lab.bench.tables import BenchTable, cassandras_table, keyvalue_table, series_table

PEER_REPETITIONS = 3


@dataclass(slots=True)
class Bench:
    """A run of all measurements."""

    folder: Path
    repetitions: int
    scale: float
    """Of the tables' sizes."""
    cassandra: Path | None
    """Tables that Cassandra wrote."""
    bti: Path | None
    """The same tables as BTI."""
    tell: Tell
    figures: list[Measured] = field(default_factory=list)
    stages: dict[str, dict[str, float]] = field(default_factory=dict)
    """CPU seconds per million input rows by table and stage."""

    def run(self) -> None:
        """Measure everything; what comes out is in `figures` and `stages`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        keyvalue = keyvalue_table(self.folder, self._scaled(3_400_000))
        a_series = series_table(self.folder, mixed.SERIES, self._scaled(100_000), 20)
        self._streams(keyvalue, keyvalue.input_rows)
        self._streams(a_series, self._scaled(300_000))
        runs_4 = keyvalue_table(self.folder, self._scaled(1_600_000), runs=4)
        one = self._engine_alone(keyvalue)
        self._engine_alone(a_series)
        four = self._engine_alone(runs_4)
        self.figures.append(Measured("CPU per input row, 4 overlapping runs to 1", "ratio", [four / one]))
        self.figures += measures.cold_faults(keyvalue, self.repetitions, self.tell)
        for partitions in (1_000_000, 10_000_000):
            self.figures.append(measures.peak_memory(keyvalue_table(self.folder, self._scaled(partitions)), self.tell))
        for series, sensors in ((wide.SERIES, 50_000), (collections.SERIES, 25_000), (sparse.SERIES, 25_000)):
            table = series_table(self.folder, series, self._scaled(sensors), 20)
            self._streams(table, self._scaled(60_000))
            self._engine_alone(table)
        if self.cassandra is not None:
            self._cassandras_tables(self.cassandra)

    def _scaled(self, count: int) -> int:
        return int(count * self.scale)

    def _streams(self, table: BenchTable, peer_rows: int) -> None:
        """Over Flight, and by the peer, which reads fewer rows where it is slow."""
        streamed = measures.streams(table, self.repetitions, self.tell)
        peer = measures.peer(table, peer_rows, min(self.repetitions, PEER_REPETITIONS), self.tell)
        ratio = Measured(f"{table.table} times cqlite-py", "ratio")
        ratio.values = [value / peer.median for value in streamed[0].values]
        self.figures += [*streamed, peer, ratio]

    def _engine_alone(self, table: BenchTable) -> float:
        """Returns CPU ns per input row."""
        measured, self.stages[table.name] = measures.engine_alone(table, self.repetitions, self.tell)
        self.figures += measured
        return measured[-1].median

    def _cassandras_tables(self, data: Path) -> None:
        for name in ("keyvalue", "mixed"):
            table = cassandras_table(data, name)
            if table is not None:
                streamed = measures.streams(table, self.repetitions, self.tell)
                self.figures += [Measured(f"Cassandra's {each.what}", each.unit, each.values) for each in streamed]
        for name in ("keyvalue", "mixed", "wide", "collections", "sparse"):
            big, bti = cassandras_table(data, name), self.bti and cassandras_table(self.bti, name)
            if big and bti:
                self.figures += measures.formats(big, bti, self.repetitions, self.tell)
