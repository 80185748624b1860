"""A plain reader of SSTables for tests: slow, obvious, and sharing no code with flightsrv but its error classes.

statistics_header, chunks, decoder   bytes of one SSTable to Partition objects (model, types, reader, counters)
ordering                             tokens, order of keys and clusterings
merge                                partitions of several SSTables to the rows a SELECT * shows at a second
values, render, arrow_form           rows in the JSON form of the fixtures' expected.json; Arrow batches likewise
fixtures, sstables                   the SSTables of real nodes that tests may use; read by the above
text, printing, schema, markers      tiny SSTables written as text
encoder                              Partition objects to the bytes that Cassandra writes
streams, cases                       runs drawn at random; runs that a person can check
"""
