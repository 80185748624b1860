"""The schema of a tiny table written as text, and what follows from it: headers, merge tables, class strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tests.reference.merge import Table
from tests.reference.statistics_header import DELETION_TIME_EPOCH_S, TIMESTAMP_EPOCH_US, Header
from tests.reference.types import CLASS_NAMES, CqlType, of_cql

PACKAGE = "org.apache.cassandra.db.marshal."


@dataclass(frozen=True)
class Schema:
    """Columns by name; types as CQL, a clustering column's with ` desc` behind when it is reversed."""

    regular: Mapping[str, str]
    clustering: tuple[str, ...] = ()
    static: Mapping[str, str] = field(default_factory=dict)
    key: str = "text"

    @cached_property
    def key_type(self) -> CqlType:
        return of_cql(self.key)

    @cached_property
    def clustering_types(self) -> tuple[CqlType, ...]:
        return tuple(_clustering_type(text) for text in self.clustering)

    @cached_property
    def static_types(self) -> dict[str, CqlType]:
        return _in_storage_order(self.static)

    @cached_property
    def regular_types(self) -> dict[str, CqlType]:
        return _in_storage_order(self.regular)

    @cached_property
    def column_types(self) -> dict[str, CqlType]:
        return {**self.static_types, **self.regular_types}

    def header(
        self,
        version: str = "nb",
        min_timestamp_us: int = TIMESTAMP_EPOCH_US,
        min_local_s: int = DELETION_TIME_EPOCH_S,
        min_ttl_s: int = 0,
    ) -> Header:
        """A serialization header; the minima are those of an SSTable that has seen nothing."""
        return Header(
            version,
            "Murmur3Partitioner",
            min_timestamp_us,
            min_local_s,
            min_ttl_s,
            self.key_type,
            self.clustering_types,
            self.static_types,
            self.regular_types,
        )

    def table(self, **options: object) -> Table:
        """What the merge must know; `options` are Table's own (dropped_us, has_strict_liveness)."""
        made = {"key_type": self.key_type, "clustering": self.clustering_types, "types": self.column_types, **options}
        return Table(**made)  # type: ignore[arg-type]


def _clustering_type(text: str) -> CqlType:
    type_ = of_cql(text.removesuffix(" desc"))
    return CqlType(type_.name, type_.args, is_frozen=type_.is_frozen, is_reversed=text.endswith(" desc"))


def _in_storage_order(columns: Mapping[str, str]) -> dict[str, CqlType]:
    """Simple columns before complex ones, each by the bytes of their names."""
    types = {name: of_cql(text) for name, text in columns.items()}
    return dict(sorted(types.items(), key=lambda column: (column[1].is_multi_cell, column[0].encode())))


def class_of(type_: CqlType, is_inside: bool = False) -> str:
    """The class string of a type as a serialization header has it; not for UDTs."""
    if type_.is_reversed:
        bare = CqlType(type_.name, type_.args, dimension=type_.dimension, is_frozen=type_.is_frozen)
        return f"{PACKAGE}ReversedType({class_of(bare)})"
    if type_.name == "vector":
        return f"{PACKAGE}VectorType({class_of(type_.args[0], is_inside)} , {type_.dimension})"
    is_frozen = type_.is_frozen and type_.name != "tuple"
    name = PACKAGE + {name: class_ for class_, name in CLASS_NAMES.items()}[type_.name]
    if type_.name == "timeuuid":
        name = PACKAGE + "TimeUUIDType"
    args = ",".join(class_of(arg, is_inside or is_frozen or type_.name == "tuple") for arg in type_.args)
    text = f"{name}({args})" if args else name
    return f"{PACKAGE}FrozenType({text})" if is_frozen and not is_inside else text
