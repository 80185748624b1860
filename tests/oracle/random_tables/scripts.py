"""What a seed stands for: a schema, and rounds of statements with a flush after each.

Few keys, few values and few timestamps, so that everything meets everything: ties, deletions at the time of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from flightsrv.cql.schema import Column
from flightsrv.cql.types import CqlType, quoted
from tests.oracle.random_tables.elements import changes, deletions
from tests.oracle.random_tables.schemas import OPTIONS, Schema, draw_options, draw_schema
from tests.oracle.random_tables.statements import Alter, Batch, Delete, Insert, Statement, Term, Update, Using, Write
from tests.oracle.random_tables.values import contains, draw_type, empty, literal, with_type

ROUNDS = 7
STATEMENTS = (10, 30)
PARTITIONS, VALUES = 6, 4
TTLS_S = (1, 2, 30, 86_400, 300_000_000)
"""The longest ends before 2038, which is as far as nb goes."""
EXTREME_TIMESTAMPS_US = (-(2**63) + 1, -1, 0, 2**63 - 1)
"""The last one not where columns are dropped: Cassandra fails to read cells that are newer than their column's drop."""
COMPACTED_SHARE, ALTERED_SHARE = 0.25, 0.5


@dataclass(frozen=True, slots=True)
class Script:
    schema: Schema
    rounds: tuple[tuple[Statement, ...], ...]
    """A flush after each."""
    compacted_after: int | None = None
    """Round after whose flush there is a major compaction."""

    def cql(self, keyspace: str) -> str:
        """All of it as text to be read, and to be run by hand."""
        lines = [f"{statement};" for statement in self.schema.cql(keyspace)]
        for number, statements in enumerate(self.rounds):
            lines += [f"{statement.cql(keyspace)};" for statement in statements]
            lines += ["-- flush", *(["-- compact"] if number == self.compacted_after else [])]
        return "\n".join(lines)


def draw_script(seed: int) -> Script:
    random = Random(seed)
    schema = draw_schema(random)
    compacted_after = 1 if random.random() < COMPACTED_SHARE else None
    statements = Statements(random, schema)
    rounds = []
    for number in range(ROUNDS):
        altered = statements.alter() if number and statements.is_altered and random.random() < 0.7 else []
        rounds.append((*altered, *statements.round(random.randint(*STATEMENTS))))
    return Script(schema, tuple(rounds), compacted_after)


@dataclass
class Statements:
    """Draws statements about one table, whose columns change on the way."""

    random: Random
    schema: Schema
    columns: dict[str, Column] = field(init=False)
    """Static and regular ones, as they are now."""
    dropped: dict[str, Column] = field(default_factory=dict)
    literals: dict[str, list[str]] = field(init=False)
    """A few for each column."""

    def __post_init__(self) -> None:
        self.columns = {column.name: column for column in self.schema.columns if column.position < 0}
        self.literals = {column.name: self._draw(column.type) for column in self.schema.columns}
        keys = self.schema.of_kind("partition_key")
        if len(keys) == 1:
            self.literals[keys[0].name] = [self._not_empty(keys[0].type) for _ in range(VALUES)]
        self.partition_keys = [[self._value(column) for column in keys] for _ in range(PARTITIONS)]
        self.user_types = self.schema.user_types
        start = self.random.choice([1, 1_700_000_000_000_000, 1_790_000_000_000_000])
        self.timestamps_us = range(start, start + 6)
        self.is_altered = not self.schema.view and self.random.random() < ALTERED_SHARE
        self.is_counter = any(column.type.kind == "counter" for column in self.columns.values())

    def _draw(self, type_: CqlType) -> list[str]:
        return [] if type_.kind == "counter" else [literal(type_, self.random) for _ in range(VALUES)]

    def _not_empty(self, type_: CqlType) -> str:
        """Cassandra takes no empty key, but empty parts of a composite one."""
        while (drawn := literal(type_, self.random)) in ("''", "0x", empty(type_)):
            pass
        return drawn

    def _value(self, column: Column) -> str:
        return self.random.choice(self.literals[column.name])

    def _using(self, may_expire: bool = True) -> Using:
        draw, random = self.random.random, self.random
        if self.is_counter:
            return Using()
        timestamp_us = random.choice(self.timestamps_us) if draw() < (0.8 if may_expire else 0.98) else None
        if draw() < 0.01:
            timestamp_us = random.choice(EXTREME_TIMESTAMPS_US[: -1 if self.is_altered else None])
        return Using(timestamp_us, random.choice(TTLS_S) if may_expire and draw() < 0.25 else None)

    def round(self, count: int) -> Iterator[Statement]:
        """The last one always writes something."""
        for _ in range(count):
            yield self._batch() if self.random.random() < 0.08 else self._write()
        yield replace(self._upsert(), using=Using())

    def _batch(self) -> Batch:
        writes = tuple(self._write() for _ in range(self.random.randint(2, 5)))
        if self.is_counter:
            return Batch("COUNTER", tuple(write for write in writes if isinstance(write, Update)) or (self._upsert(),))
        if self.random.random() < 0.3:
            writes = tuple(replace(write, using=replace(write.using, timestamp_us=None)) for write in writes)
            return Batch("UNLOGGED", writes, Using(self.random.choice(self.timestamps_us)))
        return Batch(self.random.choice(["", "UNLOGGED"]), writes)

    def _write(self) -> Write:
        kinds = {self._upsert: 15, self._delete_row: 2, self._delete_partition: 0.2, self._delete_columns: 3}
        if self.schema.of_kind("clustering"):
            kinds[self._delete_range] = 2
        (draw,) = self.random.choices(list(kinds), list(kinds.values()))
        return draw()

    def _upsert(self) -> Write:
        if self.is_counter or (self.columns and self.random.random() < 0.5):
            return self._update()
        return self._insert()

    def _insert(self) -> Insert:
        key = self._partition() + self._clustering()
        chosen = self._some(list(self.columns.values()), most=8)
        if chosen and all(column.kind == "static" for column in chosen) and self.random.random() < 0.7:
            key = key[: len(self.schema.of_kind("partition_key"))]
        values = tuple((column.name, self._value_or_null(column)) for column in chosen)
        return Insert(tuple((term.columns[0], term.cql) for term in key) + values, self._using())

    def _value_or_null(self, column: Column) -> str:
        return "null" if self.random.random() < 0.12 else self._value(column)

    def _update(self) -> Update:
        of_static = [column for column in self.columns.values() if column.kind == "static"]
        of_rows = [column for column in self.columns.values() if column.kind == "regular"]
        is_static = bool(of_static) and (not of_rows or self.random.random() < 0.25)
        chosen = self._some(of_static if is_static else of_rows, least=1, most=4)
        assignments = tuple(
            Term((column.name,), change)
            for column in chosen
            for change in changes(column, self.random, partial(self._value_or_null, column))
        )
        return Update(assignments, self._where(self._key(is_static)), self._using())

    def _delete_columns(self) -> Write:
        if not self.columns:
            return self._delete_row()
        kind = self.random.choice(list(self.columns.values())).kind
        chosen = self._some([column for column in self.columns.values() if column.kind == kind], least=1, most=3)
        targets = tuple(Term((column.name,), deletions(column, self.random)) for column in chosen)
        return Delete(targets, self._where(self._key(kind == "static")), self._using(may_expire=False))

    def _delete_row(self) -> Delete:
        return Delete((), self._where(self._key()), self._using(may_expire=False))

    def _delete_partition(self) -> Delete:
        return Delete((), self._where(self._partition()), self._using(may_expire=False))

    def _delete_range(self) -> Delete:
        """All bounds: a prefix, slices of the next column, of several columns at once, and IN."""
        clustering = self.schema.of_kind("clustering")
        depth = self.random.randrange(len(clustering))
        terms = self._where(self._partition() + self._clustering()[:depth])
        names = clustering[depth : self.random.randint(depth + 1, len(clustering))]
        is_tuple = len(names) > 1 or self.random.random() < 0.2

        def bound(operators: str) -> Term:
            columns = tuple(column.name for column in names)
            values = [self._value(column) for column in names]
            left, right = ", ".join(map(quoted, columns)), ", ".join(values)
            operator = self.random.choice(operators.split())
            return Term(columns, f"({left}) {operator} ({right})" if is_tuple else f"{left} {operator} {right}")

        match self.random.randrange(5):
            case 0 if depth:
                return Delete((), terms, self._using(may_expire=False))
            case 1 if not is_tuple:
                values = ", ".join(self._value(names[0]) for _ in range(2))
                terms += (Term((names[0].name,), f"{quoted(names[0].name)} IN ({values})"),)
            case 2:
                terms += (bound("> >="),)
            case 3:
                terms += (bound("< <="),)
            case _:
                terms += (bound("> >="), bound("< <="))
        return Delete((), terms, self._using(may_expire=False))

    def _partition(self) -> tuple[Term, ...]:
        """Columns with their values: not yet conditions."""
        values = self.random.choice(self.partition_keys)
        columns = self.schema.of_kind("partition_key")
        return tuple(Term((column.name,), value) for column, value in zip(columns, values, strict=True))

    def _clustering(self) -> tuple[Term, ...]:
        return tuple(Term((column.name,), self._value(column)) for column in self.schema.of_kind("clustering"))

    def _key(self, is_static: bool = False) -> tuple[Term, ...]:
        return self._partition() + (() if is_static else self._clustering())

    def _where(self, values: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(Term(term.columns, f"{quoted(term.columns[0])} = {term.cql}") for term in values)

    def _some(self, columns: list[Column], most: int, least: int = 0) -> list[Column]:
        return self.random.sample(columns, self.random.randint(min(least, len(columns)), min(most, len(columns))))

    def alter(self) -> list[Alter]:
        """Drop a column, add one that was dropped or a new one, add a field to a user type, or change options."""
        table, random = "TABLE {}.t", self.random
        match random.choice(["drop", "drop", "add", "add", "option", "field"]):
            case "drop" if self._droppable():
                column = random.choice(self._droppable())
                drop = Alter(table, f"DROP {quoted(column.name)}", column.name)
                if random.random() < 0.4 and not self.is_counter:  # at once back, see EXTREME_TIMESTAMPS_US
                    time_us = random.choice(self.timestamps_us) // 1000 * 1000 + random.choice((0, 1000))
                    at = f" USING TIMESTAMP {time_us}"  # on disk it is in milliseconds, so a node forgets the rest
                    return [replace(drop, change=drop.change + at), self._add(column)]
                self.dropped[column.name] = self.columns.pop(column.name)
                return [drop]
            case "add":
                column = self._added()
                self.columns[column.name] = column
                return [self._add(column)]
            case "field" if self._growing():
                return [self._add_field(random.choice(self._growing()))]
            case _:
                names = [name for name in OPTIONS if not (self.is_counter and name == "default_time_to_live")]
                options = draw_options(random, names) or ("gc_grace_seconds = 0",)
                return [Alter(table, f"WITH {' AND '.join(options)}")]

    def _add(self, column: Column) -> Alter:
        static = " static" if column.kind == "static" else ""
        return Alter("TABLE {}.t", f"ADD {quoted(column.name)} {column.type}{static}", column.name)

    def _droppable(self) -> list[Column]:
        """Cassandra does not drop a user type that is not frozen; and one column remains."""
        kept = [each for each in self.columns.values() if each.type.kind == "udt" and each.type.is_multicell]
        return [each for each in self.columns.values() if each not in kept] if len(self.columns) > 1 else []

    def _added(self) -> Column:
        """One that was dropped comes back, but not a counter: Cassandra does not take it."""
        if self.dropped and not self.is_counter and self.random.random() < 0.8:
            _, column = self.dropped.popitem()
        else:
            type_ = CqlType("counter") if self.is_counter else draw_type(self.random, self.user_types, ordered=False)
            column = Column(f"new{len(self.literals)}", type_, "regular")
            self.literals[column.name] = self._draw(type_)
        return column

    def _growing(self) -> list[CqlType]:
        """User types that no key is made of: a key keeps its type."""
        keys = [column.type for column in self.schema.columns if column.position >= 0]
        return [each for each in self.user_types if not any(contains(key, each.name) for key in keys)]

    def _add_field(self, type_: CqlType) -> Alter:
        """Values of columns of this type have the field from now on; what is on disk has not."""
        name, added = f"g{len(type_.field_names)}", draw_type(self.random, (), ordered=True, depth=1)
        grown = replace(type_, field_names=(*type_.field_names, name), arguments=(*type_.arguments, added))
        self.user_types = tuple(with_type(each, grown) for each in self.user_types)
        for columns in (self.columns, self.dropped):
            for column in list(columns.values()):
                columns[column.name] = replace(column, type=with_type(column.type, grown))
                if columns[column.name] != column:
                    self.literals[column.name] += self._draw(columns[column.name].type)
        return Alter(f"TYPE {{}}.{type_.name}", f"ADD {name} {added.freeze()}")
