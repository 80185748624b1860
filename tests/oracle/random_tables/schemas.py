"""Schemas drawn at random: keys, columns of every type, user types, options, materialized views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from flightsrv.cql.schema import Column
from flightsrv.cql.types import CqlType, quoted
from tests.oracle.random_tables.values import draw_type, has_order

TABLE, VIEW = "t", "v"
COMPACTION = "compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}"
COMPRESSIONS = [
    "{'enabled': 'false'}",
    "{'class': 'LZ4Compressor', 'chunk_length_in_kb': '4'}",
    "{'class': 'LZ4Compressor', 'chunk_length_in_kb': '1', 'min_compress_ratio': '1.5'}",
    "{'class': 'LZ4Compressor', 'lz4_compressor_type': 'high', 'lz4_high_compressor_level': '12'}",
    "{'class': 'SnappyCompressor', 'chunk_length_in_kb': '2'}",
    "{'class': 'DeflateCompressor', 'chunk_length_in_kb': '64', 'min_compress_ratio': '4'}",
    "{'class': 'ZstdCompressor', 'compression_level': '7', 'chunk_length_in_kb': '32'}",
    "{'class': 'NoopCompressor', 'chunk_length_in_kb': '8'}",
]
OPTIONS = {
    "compression": COMPRESSIONS,
    "gc_grace_seconds": ["0", "1", "864000"],
    "default_time_to_live": ["0", "0", "2", "100000", "300000000"],
    "bloom_filter_fp_chance": ["0.01", "0.1", "1.0"],
    "min_index_interval": ["1", "4", "128"],
}
OPTION_SHARE = 0.6
VIEW_OPTIONS = ("compression", "gc_grace_seconds", "bloom_filter_fp_chance")


@dataclass(frozen=True, slots=True)
class View:
    """A materialized view of all columns: only its key is its own."""

    partition_key: tuple[str, ...]
    clustering: tuple[str, ...]
    options: tuple[str, ...]

    def cql(self, keyspace: str) -> str:
        key = self.partition_key + self.clustering
        where = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in key)
        options = " AND ".join((*self.options, COMPACTION))
        return (
            f"CREATE MATERIALIZED VIEW {keyspace}.{VIEW} AS SELECT * FROM {keyspace}.{TABLE} WHERE {where} "
            f"PRIMARY KEY ({_key(self.partition_key, self.clustering)}) WITH {options}"
        )


@dataclass(frozen=True, slots=True)
class Schema:
    """A table as it is created."""

    user_types: tuple[CqlType, ...]
    """In an order in which they can be created."""
    columns: tuple[Column, ...]
    """Partition key, clustering, static and regular columns."""
    options: tuple[str, ...]
    view: View | None = None

    def of_kind(self, kind: str) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind == kind)

    def tables(self) -> tuple[str, ...]:
        return (TABLE, VIEW) if self.view else (TABLE,)

    def cql(self, keyspace: str) -> list[str]:
        """The statements that create it all in a keyspace that is there."""
        types = [f"CREATE TYPE {keyspace}.{type_.name} ({_fields(type_)})" for type_ in self.user_types]
        return [*types, self._table(keyspace), *([self.view.cql(keyspace)] if self.view else [])]

    def _table(self, keyspace: str) -> str:
        columns = [
            f"{quoted(column.name)} {column.type}{' static' if column.kind == 'static' else ''}"
            for column in self.columns
        ]
        partition_key, clustering = self.of_kind("partition_key"), self.of_kind("clustering")
        order = ", ".join(f"{quoted(column.name)} {'DESC' if column.reversed else 'ASC'}" for column in clustering)
        options = [*([f"CLUSTERING ORDER BY ({order})"] if order else []), *self.options, COMPACTION]
        key = _key([column.name for column in partition_key], [column.name for column in clustering])
        return (
            f"CREATE TABLE {keyspace}.{TABLE} ({', '.join(columns)}, PRIMARY KEY ({key})) WITH {' AND '.join(options)}"
        )


def _key(partition_key: Sequence[str], clustering: Sequence[str]) -> str:
    return ", ".join([f"({', '.join(map(quoted, partition_key))})", *map(quoted, clustering)])


def _fields(type_: CqlType) -> str:
    fields = zip(type_.field_names, type_.arguments, strict=True)
    return ", ".join(f"{quoted(name)} {argument}" for name, argument in fields)


def draw_schema(random: Random) -> Schema:
    user_types: list[CqlType] = []
    for i in range(random.choice([0, 1, 2])):
        arguments = tuple(draw_type(random, user_types, ordered=random.random() < 0.7, depth=1) for _ in range(3))
        user_types.append(CqlType("udt", arguments, tuple(_name(random, f"f{j}") for j in range(3)), name=f"u{i}"))
    columns = _key_columns(random, user_types)
    has_clustering = any(column.kind == "clustering" for column in columns)
    is_counter = random.random() < 0.12
    for kind, most in (("static", 3 * has_clustering), ("regular", 7)):
        for i in range(random.randint(1 if is_counter and kind == "regular" else 0, most)):
            type_ = CqlType("counter") if is_counter else draw_type(random, user_types, ordered=False)
            columns.append(Column(_name(random, f"{kind[0]}{i}"), type_, kind))
    options = draw_options(random)
    if is_counter:
        options = tuple(option for option in options if not option.startswith("default_time_to_live"))
    schema = Schema(tuple(user_types), tuple(columns), options)
    if is_counter or schema.of_kind("static") or random.random() < 0.6:
        return schema
    return replace(schema, options=_without_grace(options), view=_view(random, schema))


def _key_columns(random: Random, user_types: list[CqlType]) -> list[Column]:
    columns = []
    for kind, count in (("partition_key", random.choice([1, 1, 2, 3])), ("clustering", random.choice([0, 1, 1, 2, 3]))):
        for i in range(count):
            type_ = draw_type(random, user_types, ordered=True).freeze()
            name = _name(random, f"{'k' if kind == 'partition_key' else 'c'}{i}")
            is_reversed = kind == "clustering" and random.random() < 0.5
            columns.append(Column(name, type_, kind, i, is_reversed))  # type: ignore[arg-type]
    return columns


def _name(random: Random, name: str) -> str:
    return name.capitalize() if random.random() < 0.2 else name


def draw_options(random: Random, names: Sequence[str] = tuple(OPTIONS)) -> tuple[str, ...]:
    return tuple(f"{name} = {random.choice(OPTIONS[name])}" for name in names if random.random() < OPTION_SHARE)


def _without_grace(options: tuple[str, ...]) -> tuple[str, ...]:
    """Cassandra takes no table with a view that forgets tombstones at once."""
    return tuple(option for option in options if option != "gc_grace_seconds = 0")


def _view(random: Random, schema: Schema) -> View:
    """The base table's key in another order, with at most one column more."""
    key = [column.name for column in schema.columns if column.position >= 0]
    fit = [each.name for each in schema.of_kind("regular") if not each.type.is_multicell and has_order(each.type)]
    key += random.sample(fit, min(len(fit), random.choice([0, 1, 1])))
    random.shuffle(key)
    size = random.randint(1, len(key))
    return View(tuple(key[:size]), tuple(key[size:]), _without_grace(draw_options(random, VIEW_OPTIONS)))
