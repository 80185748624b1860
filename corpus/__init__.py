"""Writes Cassandra SSTables fast: what the scans are measured with and tested on.

    corpus.keyvalue.write(folder, partitions, …)            one row a partition, text
    corpus.mixed.write(folder, sensors, rows_per_sensor, …) a time series of twelve columns; with other columns:
    corpus.wide, corpus.collections, corpus.sparse, corpus.sparse_80
    corpus.….expected_batches(…)                            the rows that a reader must give, made without reading
    corpus.rows_hash(batches)                               to compare the two

Everything follows from a seed: a value is a hash of what it belongs to (draw.py), so that any row can be made again.
"""

from corpus.expect import rows_hash

__all__ = ["rows_hash"]
