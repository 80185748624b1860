"""Merges that a person can check: runs, and the rows that Cassandra shows of them, each named by the rule it shows.

NOW_S is 100: `!99` and `!100` have expired, `!101` has not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.reference.schema import Schema


@dataclass(frozen=True)
class Case:
    rule: str
    runs: tuple[str, ...]
    rows: tuple[str, ...] = ()
    schema: Schema | None = None
    """None: what text.schema_of makes of the runs."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of merge.Table."""


INT = Schema({"a": "int"})
DESC = Schema({"a": "text"}, ("int desc",))
MIXED = Schema({"a": "text"}, ("int", "int desc"))
INTS = Schema({"a": "text"}, ("int",))
STRICT = {"has_strict_liveness": True}

CASES = [
    # Two cells of the same place
    Case("the later cell wins", ("k: a=1@10", "k: a=2@11"), ("k: a=2@11",)),
    Case("cells of one row come from where they are newest",
         ("k: a=1@10 b=1@9", "k: a=2@9 b=2@10"), ("k: a=1@10 b=2@10",)),
    Case("at a tie the greater bytes win", ("k: a=1@10 b=x@10", "k: a=2@10 b=w@10"), ("k: a=2@10 b=x@10",)),
    Case("bytes are unsigned: -1 beats 1", ("k: a=-1@10", "k: a=1@10"), ("k: a=-1@10",), INT),
    Case("at a tie the longer of two that begin alike wins", ("k: a=xx@10", "k: a=x@10"), ("k: a=xx@10",)),
    Case("at a tie anything beats empty", ("k: a=''@10", "k: a=x@10"), ("k: a=x@10",)),
    Case("at a tie a tombstone beats a value", ("k: @10 a=z@10", "k: a=del@10"), ("k:",)),
    Case("at a tie a cell that expires beats one that does not", ("k: a=z@10", "k: a=a@10!101"), ("k: a=a@10!101",)),
    Case("... also when it has expired", ("k: @1 a=z@10", "k: a=a@10!100"), ("k:",)),
    Case("at a tie a tombstone beats a cell that expires later", ("k: @1 a=z@10!150", "k: a=del@10!1"), ("k:",)),
    Case("at a tie the later expiry wins", ("k: a=z@10!101", "k: a=a@10!102"), ("k: a=a@10!102",)),
    Case("at a tie of expiries the greater bytes win", ("k: a=z@10!101", "k: a=a@10!101"), ("k: a=z@10!101",)),
    Case("an expired cell hides the older value", ("k: @1 a=old@10", "k: a=new@11!100"), ("k:",)),
    Case("an older expired cell hides nothing", ("k: a=old@10!100", "k: a=new@11"), ("k: a=new@11",)),
    Case("a cell lives until the second before it expires", ("k: a=1@1!101 b=1@1!100",), ("k: a=1@1!101",)),
    Case("timestamps may be negative", ("k: a=1@-5", "k: a=2@-6"), ("k: a=1@-5",)),
    # Rows
    Case("a row without cells is shown by its liveness", ("k: @10",), ("k:",), INT),
    Case("a row without liveness is shown by its cells", ("k: a=1@10",), ("k: a=1@10",)),
    Case("a row without liveness goes with its last cell", ("k: a=1@10", "k: a=del@11")),
    Case("a row with liveness stays without its last cell", ("k: @10 a=1@10", "k: a=del@11"), ("k:",)),
    Case("a row whose liveness expired stays by its cells", ("k: @10!100 a=1@10!100", "k: b=1@11"), ("k: b=1@11",)),
    Case("at a tie a liveness that expires beats one that does not", ("k: @10", "k: @10!100"), (), INT),
    Case("at a tie the liveness that expires later wins", ("k: @10!101", "k: @10!99"), ("k:",), INT),
    Case("a later liveness wins though it has expired", ("k: @10", "k: @11!100"), (), INT),
    Case("at a tie a liveness dead from the start wins", ("k: @10", "k: @10!1~2147483647"), (), INT),
    Case("a row deletion takes what is as old", ("k: @10 a=1@10 b=1@11", "k: del@10"), ("k: b=1@11",)),
    Case("a row deletion leaves what is newer", ("k: del@9", "k: @10 a=1@10"), ("k: a=1@10",)),
    Case("a row deletion counts within its own run", ("k: del@10 a=1@10 b=1@11",), ("k: b=1@11",)),
    Case("a deleted row does not hide an insert of the next", ("k/1: del@10", "k/2: @5"), ("k/2:",), INTS),
    Case("a shadowable deletion takes what is as old", ("k: @10 a=1@10", "k: shadow@10")),
    Case("a shadowable deletion ends with a newer liveness", ("k: a=1@10", "k: shadow@10", "k: @11"), ("k: a=1@10",)),
    Case("with strict liveness cells alone show no row", ("k: a=1@10",), (), None, STRICT),
    Case("with strict liveness cells are shown with it", ("k: @9 a=1@10",), ("k: a=1@10",), None, STRICT),
    Case("with strict liveness an expired one shows no row", ("k: @9!100 a=1@10",), (), None, STRICT),
    # Partitions
    Case("a partition deletion takes what is as old", ("k/1: a=1@10 ; k/2: a=1@11", "k del@10"), ("k/2: a=1@11",)),
    Case("a partition deletion shows nothing of itself", ("k del@10",), (), INT),
    Case("of two partition deletions the later counts", ("k del@10", "k del@5", "k: a=1@8")),
    Case("a deletion counts however old it is", ("k: a=1@10", "k del@10!1")),
    Case("a row deletion older than the partition's is as none", ("k/1: del@5 a=1@8", "k del@7"), ("k/1: a=1@8",)),
    # Static rows
    Case("static cells stand in every row", ("k/static: s=1@1 ; k/1: @1 ; k/2: @1",), ("k/1: s=1@1", "k/2: s=1@1")),
    Case("a static row alone is one row", ("k/static: s=1@1",), ("k/static: s=1@1",)),
    Case("a static row whose rows are gone is one row",
         ("k/static: s=1@1 ; k/1: a=1@1", "k/1: del@1"), ("k/static: s=1@1",)),
    Case("a static row alone that expired is none", ("k/static: s=1@1!100",)),
    Case("static cells go with the partition", ("k/static: s=1@1 t=1@3", "k del@2"), ("k/static: t=1@3",)),
    Case("a range deletion leaves static cells", ("k/static: s=1@1", "k/(..) del@9"), ("k/static: s=1@1",)),
    Case("a deleted static cell is null", ("k/static: s=1@1 ; k/1: @1", "k/static: s=del@1"), ("k/1:",)),
    # Range deletions
    Case("brackets are with the bound", ("k/1: @1 ; k/2: @1 ; k/3: @1", "k/[1..2] del@1"), ("k/3:",), INTS),
    Case("parentheses are without it", ("k/1: @1 ; k/2: @1 ; k/3: @1", "k/(1..3) del@1"), ("k/1:", "k/3:"), INTS),
    Case("a range may be open to a side", ("k/1: @1 ; k/2: @1 ; k/3: @1", "k/(..2) del@1"), ("k/2:", "k/3:"), INTS),
    Case("a range deletion takes what is as old", ("k/1: @1 a=1@1 b=2@2", "k/[1..1] del@1"), ("k/1: b=2@2",)),
    Case("of overlapping ranges the later counts",
         ("k/1: @2 ; k/2: @2", "k/[1..3] del@1", "k/[2..3] del@2"), ("k/1:",), INTS),
    Case("ranges of one run may meet", ("k/1: @1 ; k/2: @2", "k/[1..2) del@1 ; k/[2..3) del@2"), (), INTS),
    Case("ranges of two runs do not add up",
         ("k/1: @1 ; k/3: @3", "k/[1..3) del@1", "k/[3..5) del@2"), ("k/3:",), INTS),
    Case("a prefix bounds all rows that begin with it",
         ("k/1,1: @1 ; k/1,2: @1 ; k/2,1: @1", "k/[1..1] del@1"), ("k/2,1:",), MIXED),
    Case("a prefix excluded leaves them all",
         ("k/1,1: @1 ; k/1,2: @1 ; k/2,1: @1", "k/(1..2] del@1"), ("k/1,2:", "k/1,1:"), MIXED),
    Case("a DESC column turns the bounds round", ("k/1: @1 ; k/2: @1 ; k/3: @1", "k/[3..1) del@1"), ("k/1:",), DESC),
    Case("a DESC column turns the rows round", ("k/1: @1", "k/3: @1 ; k/2: @1"), ("k/3:", "k/2:", "k/1:"), DESC),
    Case("integers sort by value, negative ones first",
         ("k/1: @1 ; k/-1: @1 ; k/0: @1",), ("k/-1:", "k/0:", "k/1:"), INTS),
    Case("an empty clustering value sorts first", ("k/-1: @1 ; k/'': @1",), ("k/'':", "k/-1:"), INTS),
    Case("partitions go by token, not by key", ("k1: @1 ; k2: @1 ; k3: @1",), ("k1:", "k3:", "k2:"), INT),
    # Dropped columns
    Case("what was written before a column's drop is gone",
         ("k: @1 a=1@5 b=1@6",), ("k: b=1@6",), None, {"dropped_us": {"a": 5, "b": 5}}),
    Case("a row goes with its dropped column", ("k: a=1@5",), (), None, {"dropped_us": {"a": 5}}),
    # Non-frozen collections
    Case("elements are merged one by one", ("k: m[x]=1@1 m[y]=1@2", "k: m[x]=2@2 m[y]=2@1"), ("k: m[x]=2@2 m[y]=1@2",)),
    Case("a deletion of a collection takes its older elements",
         ("k: m[x]=1@1 m[y]=1@3", "k: m[]=del@2"), ("k: m[y]=1@3",)),
    Case("an overwrite takes the others", ("k: m[x]=1@1", "k: m[]=del@4 m[y]=1@5"), ("k: m[y]=1@5",)),
    Case("a collection without elements is null", ("k: @1 m[x]=1@1", "k: m[]=del@2"), ("k:",)),
    Case("an element may expire alone", ("k: m[x]=1@1!100 m[y]=1@1",), ("k: m[y]=1@1",)),
    Case("a row deletion takes elements", ("k: m[x]=1@1 m[y]=1@3", "k: del@1"), ("k: m[y]=1@3",)),
]  # fmt: skip
