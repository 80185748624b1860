"""cqlite-py, the compiled peer's Python package, streaming the same files.

python -m flightsrv.lab.bench.peer DATA ks.tbl ROWS: reads the first ROWS rows.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path


def main(data: str, name: str, rows: str) -> None:
    import cqlite  # of the dev dependencies only

    keyspace, table = name.split(".")
    (folder,) = Path(data, keyspace).glob(f"{table}-*")
    with cqlite.open(data, schema=str(folder / "schema.cql")) as database:
        began = time.perf_counter()
        count = sum(1 for _ in islice(database.execute_streaming(f"SELECT * FROM {name}"), int(rows)))
        print(json.dumps({"rows": count, "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main(*sys.argv[1:])
