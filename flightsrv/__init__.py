"""flightsrv: Cassandra SSTables, streamed as Arrow."""
