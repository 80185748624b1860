"""Tables drawn at random, written by a real node, and read by both: the node's SELECT is right.

    python -m tests.oracle.random_tables --format nb --seed 17 --count 200

values, schemas, statements, drawing   what a seed stands for: a schema and rounds of statements, a flush after each
node, answers                          the node plays scripts, and says what it reads at any second
scans, compare                         what a scan of the node's files gives, and where that differs
shrink, saving                         the least script that still differs; a set for tests/data
"""
