"""A real Apache Cassandra 5.0 from its Maven artifacts: a node on loopback, and its offline tools.

    python -m tests.oracle.cassandra fetch        the jars, once
    python -m tests.oracle.cassandra --help       all else

See README.md here. The version is pinned in pom.xml.
"""
