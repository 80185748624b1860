"""bench.sparse_80: like bench.sparse, but of eighty columns, which is more than fit into a bitmap."""

from __future__ import annotations

from corpus.sparse import series_of

SERIES = series_of("sparse_80", 80)
TABLE, ARROW_SCHEMA = SERIES.table, SERIES.arrow_schema
write, expected_batches, expected_rows = SERIES.write, SERIES.expected_batches, SERIES.expected_rows
