"""A stock pyarrow client that reads a whole table: python -m flightsrv.lab.bench.client URL ks.tbl"""

from __future__ import annotations

import json
import sys
import time

import pyarrow.flight


def main(url: str, name: str) -> None:
    keyspace, table = name.split(".")
    client = pyarrow.flight.connect(url)
    ticket = pyarrow.flight.Ticket(json.dumps({"keyspace": keyspace, "table": table}).encode())
    began = time.perf_counter()
    rows = size = 0
    first_s = 0.0
    for chunk in client.do_get(ticket):
        first_s = first_s or time.perf_counter() - began
        rows += chunk.data.num_rows
        size += chunk.data.nbytes
    seconds = time.perf_counter() - began
    print(json.dumps({"rows": rows, "bytes": size, "seconds": seconds, "first_batch_s": first_s}))


if __name__ == "__main__":
    main(*sys.argv[1:])
