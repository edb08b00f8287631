"""The other client beside an attack: asks ApiVersions over one connection, again and again, and notes each round trip.

`python -m bench.hostile_probe PORT`: until its input ends; then the round trips in ms, as JSON.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

PAUSE_S = 0.003
FRAME = bytes.fromhex("0000000a0012000000000001ffff")


def ask(connection: socket.socket) -> None:
    """One request and its answer."""
    connection.sendall(FRAME)
    size = int.from_bytes(read(connection, 4), "big")
    read(connection, size)


def read(connection: socket.socket, count: int) -> bytes:
    """Exactly `count` bytes."""
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the server closed the connection")
        data += more
    return data


def main() -> None:
    """See the module."""
    taken_ms = []
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask(connection)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
            began = time.perf_counter()
            ask(connection)
            taken_ms.append((time.perf_counter() - began) * 1000)
    json.dump(taken_ms, sys.stdout)


if __name__ == "__main__":
    main()
