"""A small client: what the command line does with a server, over pyarrow's Flight alone.

    connection = connect("grpc://127.0.0.1:8815")
    connection.tables()
    for batch in connection.scan("ks", "tbl"):
        ...

Any other Flight client does as well. This one adds what the server says of a scan after its end: the stages' times.
"""

from flightsrv.client.connection import Connection, ServedTable, ServerError, connect
from flightsrv.client.stream import Stream

__all__ = ["Connection", "ServedTable", "ServerError", "Stream", "connect"]
