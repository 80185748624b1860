"""A plain reader of SSTables for tests: slow, obvious, and sharing no code with flightsrv but its error classes.

statistics_header, chunks, decoder   bytes of one SSTable to Partition objects
ordering                             tokens, order of keys and clusterings
merge                                partitions of several SSTables to the rows a SELECT * shows at a second
values, render                       rows in the JSON form of the fixtures' expected.json; Arrow batches likewise
text, encoder, streams               tiny SSTables written as text, encoded as Data.db, or drawn at random
fixtures                             the SSTables of real nodes that tests may use
"""
